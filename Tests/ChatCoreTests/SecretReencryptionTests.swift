import ChatCore
import ChatModel
import ChatSupport
import JSON
import Locking
import SQLiteEngine
import Signing
import TestSupport
import Testing

@Suite("Stored secrets") struct SecretReencryptionTests {
    private static let old = Secret([UInt8](repeating: 1, count: 32))
    private static let new = Secret([UInt8](repeating: 2, count: 32))
    private static let app = AppRecord(
        id: ChatFixture.app, name: "demo", publishKey: "pub", subscribeKey: "sub", secretKey: "sec-c-hush",
        created: .zero)

    private static func onEngine(_ body: (SQLiteEngine) async throws -> Void) async throws {
        let engine = try await SQLiteEngine(SQLiteEngineSettings(path: ":memory:", logger: ChatFixture.quiet))
        do { try await body(engine) } catch {
            await engine.close()
            throw error
        }
        await engine.close()
    }

    private static func service(_ engine: SQLiteEngine, _ keys: [Secret]) throws -> ChatService {
        ChatService(engine: engine, vault: try Vault(keys), executor: ThreadExecutor(name: "test-hub")!)
    }

    private static func appBody(_ engine: SQLiteEngine) async throws -> String {
        try #require(try await engine.directory.read(RecordKey(.app, "demo", in: .gateway))).body.description
    }

    /// The app's secret as a gateway reads it that starts with these keys.
    private static func secret(_ engine: SQLiteEngine, _ keys: [Secret]) async throws -> String? {
        let service = try service(engine, keys)
        let found = Observed<[String?]>()
        try await withThrowingTaskGroup { group in
            try await ChatFixture.start({ try await service.run(whenReady: $0) }, in: &group)
            found.append(service.keyring.app(ChatFixture.app)?.secretKey)
            group.cancelAll()
        }
        return found.value.first ?? nil
    }

    @Test("of an app are unreadable in the store, and readable with the key")
    func sealed() async throws {
        try await Self.onEngine { engine in
            _ = try await Self.service(engine, [Self.old]).keyring.establish(Self.app, keyText: nil)
            let body = try await Self.appBody(engine)
            #expect(body.contains("sealed:v1:") && !body.contains("hush"))
            #expect(try await Self.secret(engine, [Self.old]) == "sec-c-hush")
        }
    }

    @Test("from before there was a key are encrypted at the next start, in every record with secrets")
    func firstKey() async throws {
        try await Self.onEngine { engine in
            try await Self.writeClear(engine)
            let sealing = try Self.service(engine, [Self.old])
            #expect(try await sealing.resealSecrets() == 3)
            for (key, others) in Self.clear {
                let record = try #require(try await engine.directory.read(key))
                #expect(!record.body.description.contains("hush"), "\(record.body)")
                for other in others { #expect(record.body.description.contains(other), "\(record.body)") }
            }
            let source = try #require(
                try await engine.directory.read(RecordKey(.source, "shop", in: ChatFixture.app)))
            let sealed = try #require(try JSONDocument(source.body).root["secrets"]?.strings)
            let texts = try sealed.map { try sealing.vault.openText($0, context: source.key.vaultContext) }
            #expect(texts == ["hush-1", "hush-\"2\""])
            #expect(try await Self.secret(engine, [Self.old]) == "hush")
            #expect(try await sealing.resealSecrets() == 0)
        }
    }

    @Test("stay unencrypted without a key")
    func noKey() async throws {
        try await Self.onEngine { engine in
            try await Self.writeClear(engine)
            #expect(try await Self.service(engine, []).resealSecrets() == 0)
            #expect(try await Self.secret(engine, []) == "hush")
        }
    }

    @Test("move to a new key at a start with both keys, after which the old one is not needed")
    func rotation() async throws {
        try await Self.onEngine { engine in
            _ = try await Self.service(engine, [Self.old]).keyring.establish(Self.app, keyText: nil)
            #expect(try await Self.service(engine, [Self.new, Self.old]).resealSecrets() == 1)
            #expect(try await Self.service(engine, [Self.new]).resealSecrets() == 0)
            #expect(try await Self.secret(engine, [Self.new]) == "sec-c-hush")
        }
    }

    @Test("move to a new key wherever they are in a record, and nothing similar does")
    func places() async throws {
        try await Self.onEngine { engine in
            _ = try await Self.service(engine, [Self.old]).keyring.establish(Self.app, keyText: nil)
            let old = try Vault([Self.old])
            let new = try Vault([Self.new])
            let keys = [
                RecordKey(.webhook, "wh_1", in: ChatFixture.app), RecordKey(.source, "shop", in: ChatFixture.app),
                RecordKey(.setting, "webhook-signing-key/demo", in: .gateway),
            ]
            func body(_ key: RecordKey, _ vault: Vault) throws -> JSONText {
                let template = try #require(Self.bodies[key.kind])
                let sealed = vault.seal("hush", context: key.vaultContext)
                return JSONText(trusted: Array(template.replacing("HUSH", with: sealed).utf8))
            }
            _ = try await engine.directory.write(keys.map { RecordChange($0, body: try body($0, old)) })
            #expect(try await Self.service(engine, [Self.new, Self.old]).resealSecrets() == 4)
            for key in keys { #expect(try await engine.directory.read(key)?.body == body(key, new)) }
        }
    }

    private static let bodies: [RecordKind: String] = [
        .webhook: """
        {"description":"sealed:v1:0:A","secrets":[{"key":"HUSH","until":"17"}],"headers":{"x":"HUSH"},\
        "auth":{"client_id":"sealed:v1:0:A","client_secret":"HUSH","password":"HUSH","token":"HUSH"},\
        "tls":{"ca":"sealed:v1:0:A","private_key":"HUSH"},"app_key":"HUSH","previous_app_key":"HUSH"}
        """,
        .source: #"{"secrets":["HUSH","HUSH"],"verify_token":"HUSH","mapping":"sealed:v1:0:A"}"#,
        .setting: #"{"key":"HUSH"}"#,
    ]

    @Test(
        "keep the gateway from starting without their key, instead of being lost silently",
        arguments: [[], [new]])
    func missingKey(_ keys: [Secret]) async throws {
        try await Self.onEngine { engine in
            _ = try await Self.service(engine, [Self.old]).keyring.establish(Self.app, keyText: nil)
            let before = try await Self.appBody(engine)
            let service = try Self.service(engine, keys)
            do throws(ChatError) {
                _ = try await service.resealSecrets()
                Issue.record("the key was not missed")
            } catch {
                #expect(error.code == .unavailable)
                #expect(error.message.contains("app/demo") && error.message.contains("secrets_key"))
            }
            #expect(try await Self.appBody(engine) == before)
        }
    }

    /// Records in the form from before the vault, and their members that are not secret.
    private static let clear: [(key: RecordKey, others: [String])] = [
        (RecordKey(.app, "demo", in: .gateway), [#""name":"Demo""#, #""publish_key":"pub""#]),
        (
            RecordKey(.webhook, "wh_1", in: ChatFixture.app),
            [#""until":"17""#, #""description":"sealed:v1:no:secret""#]
        ),
        (RecordKey(.source, "shop", in: ChatFixture.app), [#""mapping":{"type":"plain:v1:x","n":1.50}"#]),
    ]

    private static func writeClear(_ engine: SQLiteEngine) async throws {
        let bodies = [
            #"{"name":"Demo","publish_key":"pub","subscribe_key":"sub","secret_key":"hush","created":"1"}"#,
            #"{"description":"sealed:v1:no:secret","secrets":[{"key":"whsec_hush"},{"key":"whsec_hush2","until":"17"}]}"#,
            #"{"secrets":["hush-1","hush-\"2\""],"mapping":{"type":"plain:v1:x","n":1.50}}"#,
        ]
        let changes = zip(clear, bodies).map { place, body in
            RecordChange(place.key, body: JSONText(trusted: Array(body.utf8)))
        }
        _ = try await engine.directory.write(changes)
    }
}
