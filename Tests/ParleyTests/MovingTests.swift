import Glibc
import JSON
import Locking
import TestSupport
import Testing

@testable import ClientCommands
@testable import ParleyCommands

/// A keyset with one channel of `messages` messages, and a gateway that accepts imports, at one address.
private final class Move: Sendable {
    let server: ScriptedServer
    private let taken: Lock<[String]>

    /// - Parameter refuses: Returns true if the keyset refuses a request, given its target and the number of earlier
    /// ones.
    init(messages: Int, refuses: @escaping @Sendable (String, Int) -> Bool = { _, _ in false }) throws {
        let taken = Lock<[String]>([])
        self.taken = taken
        server = try ScriptedServer { request in
            if request.target == "/v1/import" {
                let records = (try? JSONDocument(request.body).root["records"]?.elements) ?? []
                taken.withLock { $0 += records.compactMap { $0["timetoken"]?.string } }
                return .answer(
                    200, #"{"results":[\#(records.map { _ in #"{"status":201}"# }.joined(separator: ","))]}"#)
            }
            if refuses(request.target, request.number) { return .answer(403, #"{"message":"Forbidden","error":true}"#) }
            return .answer(200, Self.answer(request.target, messages))
        }
    }

    /// The timetokens that arrived, in order.
    var arrived: [String] { taken.withLock { $0 } }

    private static func answer(_ target: String, _ messages: Int) -> String {
        guard target.hasPrefix("/v3/history") else {
            return #"{"status":200,"data":[],"payload":{"groups":[]}}"#
        }
        guard target.contains("with-actions") else { return #"{"channels":{"room":[{"message":1,"timetoken":"1"}]}}"# }
        func parameter(_ name: String) -> Int? {
            target.split(whereSeparator: { "?&".contains($0) }).first { $0.hasPrefix(name + "=") }
                .flatMap { Int($0.dropFirst(name.count + 1)) }
        }
        let newest = min(parameter("start") ?? .max, messages + 1)
        let oldest = max(parameter("end") ?? 1, newest - 25, 1)
        let items = oldest < newest ? (oldest..<newest).map { #"{"message":\#($0),"timetoken":"\#($0)"}"# } : []
        return #"{"channels":{"room":[\#(items.joined(separator: ","))]}}"#
    }

    func run(_ more: String...) async throws -> ProgramRun {
        try await parley(
            ["import", "pubnub", "--origin", server.baseURL, "--subscribe-key", "sub", "--channel", "room"] + more,
            at: server)
    }
}

@Suite("Moving a keyset") struct MovingTests {
    private static func temporaryPath() -> String { "/tmp/parley-move-\(UInt64.random(in: 0 ... .max))" }

    @Test("brings every message of a long channel, each once")
    func whole() async throws {
        let move = try Move(messages: 110)
        let run = try await move.run()
        #expect(run.code == 0, "\(run.errors)")
        #expect(Set(move.arrived) == Set((1...110).map(String.init)) && move.arrived.count == 110)
        #expect(run.output == "110 messages, 0 already present, 0 rejected\n")
    }

    @Test("continues where it was interrupted, and then where it ended")
    func resumed() async throws {
        let state = Self.temporaryPath()
        defer { unlink(state) }
        let isBroken = Lock(true)
        let move = try Move(messages: 110) { target, _ in target.contains("start=61") && isBroken.withLock { $0 } }
        let broken = try await move.run("--state", state)
        #expect(broken.code == 1 && broken.errors.contains("Forbidden") && broken.errors.contains("--without messages"))
        #expect(Set(move.arrived) == Set((61...110).map(String.init)))
        isBroken.withLock { $0 = false }
        #expect(try await move.run("--state", state).code == 0)
        #expect(Set(move.arrived) == Set((1...110).map(String.init)))
        #expect(move.arrived.count == 110, "nothing is read twice")
        #expect(try await move.run("--state", state).output == "nothing new, 0 already present, 0 rejected\n")
        let other = try await parley(
            "export", "pubnub", "--origin", move.server.baseURL, "--subscribe-key", "other", "--state", state,
            at: move.server)
        #expect(other.code == 1 && other.errors.contains("another keyset"))
    }

    @Test("spreads what is attached to one message over as many lines as the gateway wants")
    func manyActions() throws {
        let actors = (0..<1200).map { #"{"uuid":"u\#($0)","actionTimetoken":"\#($0 + 2)"}"# }.joined(separator: ",")
        let text = #"{"message":1,"timetoken":"1","uuid":"ana","actions":{"reactions":{"+1":[\#(actors)]}}}"#
        let document = try JSONDocument(Array(text.utf8))
        let lines = KeysetRecords.message("room", document.root, document.text)
        let counts = try lines.map { try JSONDocument($0.bytes).root["actions"]?.count }
        #expect(counts == [500, 500, 200])
    }

    @Test("keeps to its rate and waits where the service asks for it")
    func pace() async throws {
        let move = try Move(messages: 1)
        let run = try await move.run("--rate", "4", "--without", "users", "--without", "groups")
        #expect(run.code == 0)
        #expect(!run.waits.isEmpty && run.waits.allSatisfy { $0 == .milliseconds(250) })
        let server = try ScriptedServer { request in
            request.number == 0
                ? .answer(429, "{}", headers: [("Retry-After", "7")]) : .answer(200, #"{"status":200,"data":[]}"#)
        }
        let busy = try await parley(
            "export", "pubnub", "--origin", server.baseURL, "--subscribe-key", "sub", "--without", "messages",
            at: server)
        #expect(busy.code == 0 && busy.waits.contains(.seconds(7)))
    }

    @Test("takes secrets from files and the environment only, and says what a signature needs")
    func secrets() async throws {
        let move = try Move(messages: 1)
        let clear = try await move.run("--secret-key", "sec-c-1")
        #expect(clear.code == 2 && clear.errors.contains("@FILE"))
        let file = Self.temporaryPath()
        try #require(fopen(file, "w").map { fputs("sec-c-1\n", $0) >= 0 && fclose($0) == 0 } ?? false)
        defer { unlink(file) }
        let nameless = try await move.run("--secret-key", "@" + file)
        #expect(nameless.code == 2 && nameless.errors.contains("--publish-key"))
        #expect(try await move.run("--secret-key", "@" + file, "--publish-key", "pub").code == 0)
        let signed = move.server.requests.value.filter { $0.method == "GET" }
        #expect(
            !signed.isEmpty
                && signed.allSatisfy { $0.target.contains("&signature=v2.") && !$0.target.contains("sec-c") })
    }

    @Test("says which lines of a file were refused, and takes the others in")
    func file() async throws {
        let gateway = try ScriptedServer { request in
            let records = (try? JSONDocument(request.body).root["records"]?.elements) ?? []
            let results = records.map { record in
                record["id"]?.string == "bad"
                    ? #"{"status":400,"problem":{"title":"Refused","code":"bad_member"}}"# : #"{"status":201}"#
            }
            return .answer(200, #"{"results":[\#(results.joined(separator: ","))]}"#)
        }
        let lines = [#"{"record":"user","id":"a"}"#, "no JSON", "", #"{"record":"user","id":"bad"}"#]
        let run = try await parley(
            "import", "file", "-", "--replace", at: gateway, input: lines.joined(separator: "\n"))
        #expect(run.code == 1)
        #expect(run.output == "1 user, 0 already present, 2 rejected\n")
        #expect(run.errors.contains("line 2: not JSON") && run.errors.contains("line 4: Refused"))
        #expect(gateway.requests.value.allSatisfy { $0.text.hasPrefix(#"{"replace":true,"#) })
    }
}
