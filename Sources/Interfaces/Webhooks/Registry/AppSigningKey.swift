import ChatCore
public import ChatModel
import JSON
import Locking
import Logging
import Signing

/// The Ed25519 key that signs an app's deliveries where a webhook asks for it.
///
/// One for each app and not one for the gateway: with a shared key an app could have the gateway sign, for a receiver of
/// another app, whatever it likes. It is copied into the record of each webhook that uses it, so that all that is needed to
/// send stands in one place.
struct AppSigningKey: Sendable {
    let key: Ed25519PrivateKey

    init(_ key: Ed25519PrivateKey) { self.key = key }

    /// Reads `text`.
    init?(_ text: String) {
        // The only news of a failure is that it is no key of ours.
        guard case .ed25519(let key) = try? StandardSigningKey(text) else { return nil }
        self.key = key
    }

    /// `whsk_…`
    var text: String { StandardSigningKey.ed25519(key).text }
    /// Names it in the published set.
    var id: String { key.publicKey.thumbprint }
    /// `whpk_…`
    var publicText: String { StandardVerificationKey.ed25519(key.publicKey).text }
}

/// The public keys as they were last read.
struct PublishedKeys: Sendable {
    static let life: Duration = .seconds(10)

    struct Entry: Sendable {
        let space: SpaceID
        let etag: String
        /// Nil: its record is damaged.
        let jwk: String?
    }

    var entries: [Entry] = []
    var until = Timetoken.zero
}

extension WebhookRegistry {
    /// The app's key, made when it is first asked for.
    func signingKey(of space: SpaceID) async throws(ChatError) -> AppSigningKey {
        let recordKey = Self.signingKeyRecord(of: space)
        for _ in 0..<2 {
            if let record = try await directory.read(recordKey) { return try open(record) }
            let made = AppSigningKey(Ed25519PrivateKey.generate(from: options.random))
            let body = JSONText { writer in
                writer.beginObject()
                writer.member("key", service.vault.seal(made.text, context: recordKey.vaultContext))
                writer.endObject()
            }
            do {
                _ = try await directory.write([RecordChange(recordKey, body: body, demand: .absent)])
                published.withLock { $0.until = .zero }
                return made
            } catch {
                // Made by somebody else in between: theirs counts.
                guard error.code == .conflict else { throw error }
            }
        }
        throw ChatError(.unavailable, "the app's signing key cannot be had")
    }

    /// The public halves of the keys of all apps, or of one, as JSON Web Keys. Kept in memory: anybody may ask. One made on
    /// another node is there within ``PublishedKeys/life``.
    public func publishedKeys(of app: SpaceID? = nil) async throws(ChatError) -> [String] {
        let kept = published.withLock { [now = service.clock.now] in now < $0.until ? $0 : nil }
        let keys = if let kept { kept } else { try await readPublishedKeys() }
        return keys.entries.filter { app == nil || $0.space == app }
            .compactMap { service.keyring.app($0.space) == nil ? nil : $0.jwk }
    }

    private func readPublishedKeys() async throws(ChatError) -> PublishedKeys {
        let known = Dictionary(published.withLock(\.entries).map { ($0.etag, $0) }, uniquingKeysWith: { $1 })
        var keys = PublishedKeys(until: service.clock.now.adding(PublishedKeys.life))
        var query = RecordQuery(.setting, in: .gateway, limit: 500)
        query.idPrefix = Self.signingKeyPrefix
        repeat {
            let page = try await directory.list(query)
            for record in page.items {
                let space = SpaceID(String(record.key.id.dropFirst(Self.signingKeyPrefix.count)))
                let same = known[record.etag].flatMap { $0.space == space ? $0 : nil }
                keys.entries.append(same ?? PublishedKeys.Entry(space: space, etag: record.etag, jwk: jwk(record)))
            }
            query.cursor = page.cursor
        } while query.cursor != nil
        published.withLock { $0 = keys }
        return keys
    }

    /// Nil for a damaged one: the keys of other apps are there all the same.
    private func jwk(_ record: Record) -> String? {
        do {
            return try open(record).key.publicKey.jwk
        } catch {
            logger.error(
                "signing key not published", metadata: ["record": "\(record.key.id)", "error": "\(error.message)"])
            return nil
        }
    }

    private func open(_ record: Record) throws(ChatError) -> AppSigningKey {
        let stored = (try? JSONDocument(record.body))?.root["key"]?.string
        guard let stored, let text = try? service.vault.openText(stored, context: record.key.vaultContext),
            let key = AppSigningKey(text)
        else { throw ChatError(.unavailable, "the app's signing key cannot be read; is a key missing in secrets_key?") }
        return key
    }

    private static let signingKeyPrefix = "webhook-signing-key/"

    /// In the gateway's own space, where sealed settings are kept current.
    private static func signingKeyRecord(of space: SpaceID) -> RecordKey {
        RecordKey(.setting, signingKeyPrefix + space.name, in: .gateway)
    }
}
