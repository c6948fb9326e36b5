import ChatKit
import ChatModel
import HTTPClient
import JSON
import Locking

/// One stream of a gateway, read until it ends. For one reader; letting go of it closes the connection.
///
/// Over NDJSON: the same cursor and order as server-sent events, and a line is a document.
final class EventStream: Sendable {
    /// The credential that it was opened with.
    let token: String
    private let gateway: GatewayConnection
    private let stream: OutboundStream
    private let splitter = Lock(LineSplitter())

    init(_ stream: OutboundStream, _ gateway: GatewayConnection, token: String) {
        self.stream = stream
        self.gateway = gateway
        self.token = token
    }

    /// The lines that came since the last call, perhaps none; nil at the end.
    func lines() async throws(ChatError) -> [StreamLine]? {
        var parts = stream.makeAsyncIterator()
        let part: [UInt8]?
        do { part = try await parts.next(isolation: nil) } catch {
            throw ChatError(error, url: gateway.url, mayBeDone: false)
        }
        guard let part else { return nil }
        return try splitter.withLock { splitter throws(ChatError) in try splitter.lines(in: part) }
            .map { StreamLine($0) }
    }

    func cancel() { stream.cancel() }
}

/// What the gateway says when it ends a stream (`stream.closing`).
struct StreamClosing: Sendable {
    var reason: String
    /// Whether coming back with the same credential is of no use.
    var isFinal: Bool
    var wait: Duration

    init(_ data: JSONValue) {
        reason = data["reason"]?.string ?? "it is closing"
        isFinal = data["final"]?.boolean ?? false
        wait = .milliseconds(max(0, min(data["retry_ms"]?.integer ?? 0, 300_000)))
    }

    var error: ChatError {
        ChatError(isFinal ? .gone : .unavailable, "the gateway ended the stream: \(reason)", retryAfter: wait)
    }
}

extension JSONValue {
    func position(_ name: String) -> Timetoken? { self[name]?.string.flatMap { Timetoken(text: $0) } }
}
