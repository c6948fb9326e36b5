import ChatKit
import ChatModel
import HTTPClient
import JSON
import Locking

/// One event stream of a gateway, read until it ends by one reader. Releasing it closes the connection.
///
/// The stream uses NDJSON, which has the same cursor and order as server-sent events; each line is a JSON document.
final class EventStream: Sendable {
    /// The credential with which the stream was opened.
    let token: String
    private let gateway: GatewayConnection
    private let stream: OutboundStream
    private let splitter = Lock(LineSplitter())

    init(_ stream: OutboundStream, _ gateway: GatewayConnection, token: String) {
        self.stream = stream
        self.gateway = gateway
        self.token = token
    }

    /// Returns the lines that arrived since the last call, which may be none, or nil at the end.
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

/// The gateway's message at the end of a stream (`stream.closing`).
struct StreamClosing: Sendable {
    var reason: String
    /// True when reconnecting with the same credential is useless.
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
