package import HTTPClient
package import JSON
import Locking

/// An event stream of a gateway, read by one reader. Releasing it closes the connection.
///
/// The stream uses NDJSON, in which each line is a JSON document. The order and the cursors are the same as for
/// server-sent events.
package final class EventStream: Sendable {
    /// The maximum line length in bytes. The largest event is shorter.
    private static let lineLimit = 32 * 1024 * 1024

    /// The credential with which the stream was opened.
    package let token: String
    private let stream: OutboundStream
    private let splitter = Lock(LineSplitter(limit: lineLimit))

    package init(_ stream: OutboundStream, token: String) {
        self.stream = stream
        self.token = token
    }

    /// The status of the response. The stream has lines only when it is 200.
    package var status: Int { stream.status }

    /// Returns the beginning of a failed response's body, enough for a problem document.
    package func problemBody() async -> [UInt8] { await stream.problemBody() }

    /// Returns the lines that arrived since the last call, possibly none, or nil at the end of the stream.
    ///
    /// - Throws: the reason why the connection broke.
    package func lines() async throws(OutboundFailure) -> [StreamLine]? {
        var parts = stream.makeAsyncIterator()
        guard let part = try await parts.next(isolation: nil) else { return nil }
        return splitter.withLock { $0.lines(in: part) }.map { StreamLine($0) }
    }

    package func cancel() { stream.cancel() }
}

extension OutboundStream {
    /// Returns the beginning of a failed response's body, enough for a problem document: at least 64 KiB, or the whole
    /// body if shorter.
    package func problemBody() async -> [UInt8] {
        var body: [UInt8] = []
        var parts = makeAsyncIterator()
        // If the connection breaks, the status alone is used.
        while body.count < 64 * 1024, let part = try? await parts.next(isolation: nil) { body += part }
        return body
    }
}

/// The gateway's message at the end of a stream (`stream.closing`).
package struct StreamClosing: Sendable {
    package var reason: String?
    /// True when reconnecting with the same credential would fail.
    package var isFinal: Bool
    /// The time to wait before reconnecting: at most 5 minutes.
    package var wait: Duration

    package init(_ data: JSONValue) {
        reason = data["reason"]?.string
        isFinal = data["final"]?.boolean ?? false
        wait = .milliseconds(max(0, min(data["retry_ms"]?.integer ?? 0, 300_000)))
    }
}
