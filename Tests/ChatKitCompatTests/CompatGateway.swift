import ChatKitCompat
import Gateway
import HTTPClient
import JSON
import Locking
import TestSupport
import Testing

/// A gateway on its own port. The key of its app `demo` is `dev`.
struct CompatGateway: Sendable {
    let url: String

    /// Runs `body` with a gateway and the client of the user `ana`.
    static func run(_ body: @escaping @Sendable (PubNub, CompatGateway) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.listenPort = 0
        configuration.isDevelopment = true
        configuration.dataDirectory = folder.path
        let address = Observed<String?>(nil)
        let failure = Lock<(any Error)?>(nil)
        try await GatewayServer(configuration).run(
            whenListening: { url in address.update { $0 = url } },
            until: {
                let gateway = CompatGateway(url: await address.wait { $0 != nil } ?? "")
                do { try await body(gateway.client("ana"), gateway) } catch { failure.withLock { $0 = error } }
            })
        if let error = failure.withLock({ $0 }) { throw error }
    }

    func client(_ user: String, key: String = "dev") -> PubNub {
        PubNub(configuration: PubNubConfiguration(url: url, key: key, userId: user))
    }

    /// Returns the initialized chat of a user.
    func chat(
        _ user: String, key: String = "dev", _ settings: ChatConfiguration = ChatConfiguration()
    ) async throws -> ChatImpl {
        try await ChatImpl(
            chatConfiguration: settings,
            pubNubConfiguration: PubNubConfiguration(url: url, key: key, userId: user)
        ).initialize()
    }

    /// Requests a token of a user.
    func token(of user: String) async throws -> String {
        let body = #"{"user":"\#(user)","scopes":["read","emit"],"channels":["room.*"]}"#
        return try #require(try await call("POST", "/v1/tokens", body)["token"]?.string)
    }

    /// Sends a request of another client.
    @discardableResult
    func call(_ method: String, _ path: String, _ body: String = "") async throws -> JSONValue {
        let client = try Client(options: ClientOptions(addressGuard: .disabled))
        let answer = await client.send(
            OutboundRequest(
                method: method, url: url + path,
                headers: [("Authorization", "Bearer dev"), ("Content-Type", "application/json")],
                body: Array(body.utf8)))
        await client.shutdown()
        try #require((200..<300).contains(answer.status ?? 0), "\(String(decoding: answer.body, as: UTF8.self))")
        return try JSONDocument(answer.body).root
    }
}

/// The calls of closures, in order.
typealias Calls = Observed<[String]>

extension Observed where Value == [String] {
    func add(_ call: String) { update { $0.append(call) } }

    /// Waits until there are as many calls as expected, and compares them.
    func expect(_ expected: [String], sourceLocation: SourceLocation = #_sourceLocation) async {
        let calls = await wait(sourceLocation: sourceLocation) { $0.count >= expected.count }
        #expect(calls == expected, sourceLocation: sourceLocation)
        update { $0 = [] }
    }
}

/// Returns the result that a call passes to its completion closure.
func outcome<Value>(
    _ call: (@escaping (Result<Value, any Error>) -> Void) -> Void
) async throws -> sending Value {
    try await withCheckedThrowingContinuation { continuation in
        call { result in
            // The closure is called once, and the call keeps no reference.
            nonisolated(unsafe) let result = result
            continuation.resume(with: result)
        }
    }
}

extension PubNub {
    /// Waits until the subscriptions have a connection.
    func connected(_ body: (PubNub) -> Void) async {
        let states = Observed(0)
        let listener = StatusListener { if $0.isConnected { states.update { $0 += 1 } } }
        addStatusListener(listener)
        body(self)
        await states.wait { $0 > 0 }
        removeStatusListener(listener)
    }
}
