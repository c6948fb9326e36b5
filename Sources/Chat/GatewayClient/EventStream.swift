package import HTTPClient
package import JSON
import Locking

/// One event stream of a gateway, read until it ends by one reader. Releasing it closes the connection.
///
/// The stream uses NDJSON, which has the same cursor and order as server-sent events; each line is a JSON document.
package final class EventStream: Sendable {
    /// The maximum line length: the largest event, with room. A gateway sends no longer line.
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

    /// Returns as much of a failed response's body as a problem document needs.
    package func problemBody() async -> [UInt8] { await stream.problemBody() }

    /// Returns the lines that arrived since the last call, which may be none, or nil at the end.
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
    /// Returns as much of a failed response's body as a problem document needs: at least 64 KiB, if there is so much.
    package func problemBody() async -> [UInt8] {
        var body: [UInt8] = []
        var parts = makeAsyncIterator()
        // When the body breaks off, the status alone is used.
        while body.count < 64 * 1024, let part = try? await parts.next(isolation: nil) { body += part }
        return body
    }
}

/// The gateway's message at the end of a stream (`stream.closing`).
package struct StreamClosing: Sendable {
    package var reason: String?
    /// True when reconnecting with the same credential is useless.
    package var isFinal: Bool
    /// The time to wait before reconnecting: at most 5 minutes.
    package var wait: Duration

    package init(_ data: JSONValue) {
        reason = data["reason"]?.string
        isFinal = data["final"]?.boolean ?? false
        wait = .milliseconds(max(0, min(data["retry_ms"]?.integer ?? 0, 300_000)))
    }
}
