import ChatKit
import ChatModel
import HTTPClient
import JSON

/// Follows a stream for as long as it is wanted: connects again when it breaks, from where it broke.
///
/// Over NDJSON: the same cursor and order as server-sent events, and a line is a document.
actor StreamReader {
    private let gateway: GatewayConnection
    private let path: RequestPath
    /// The position after the last event that was handed out.
    private var cursor: Timetoken?
    private var stream: OutboundStream?
    private var parts: OutboundStream.Iterator?
    private var splitter = LineSplitter()
    private var arrived: [Event] = []
    private var news: [LiveNews] = []
    /// How often in a row the stream broke without a sign of life.
    private var failures = 0
    /// How long a silence means a dead connection: three heartbeats.
    private var silence = Duration.seconds(45)
    /// What to wait before connecting again.
    private var pause: Duration?
    private var farewell: Farewell?

    /// What the gateway said when it ended the stream.
    private struct Farewell {
        var reason: String
        /// Coming back is of no use: the key is gone, the stream was deleted.
        var isFinal: Bool
        var wait: Duration
    }

    init(_ gateway: GatewayConnection, _ selection: EventSelection, user: String, device: String) {
        self.gateway = gateway
        cursor = selection.since
        path = RequestPath("stream").adding("channel", each: selection.channels)
            .adding("group", each: selection.groups).adding("type", each: selection.types)
            .adding("filter", selection.filter).adding("user", selection.isDevice ? user : nil)
            .adding("device", selection.isDevice ? device : nil)
    }

    func next() async throws(ChatError) -> LiveNews? {
        while true {
            if !news.isEmpty { return news.removeFirst() }
            if let batch = takeArrived() { return batch }
            do throws(ChatError) {
                guard parts != nil else {
                    guard try await connect() else { return nil }
                    continue
                }
                try await read()
            } catch {
                guard try prepare(after: error) else { return nil }
            }
        }
    }

    private func takeArrived() -> LiveNews? {
        guard !arrived.isEmpty else { return nil }
        let batch = arrived
        arrived = []
        // The greatest: what the gateway holds back for a device comes with an older timetoken than what went before it.
        let newest = batch.lazy.map(\.timetoken).reduce(cursor ?? .zero, max)
        cursor = newest
        return .events(batch, cursor: newest)
    }

    /// Opens the stream; false when the gateway says that there will be none.
    private func connect() async throws(ChatError) -> Bool {
        if let time = pause {
            pause = nil
            guard await gateway.pause(time) else { return false }
        }
        let opened: OutboundStream
        do {
            opened = try await gateway.stream(path.adding("cursor", cursor?.description), idleTimeout: silence)
        } catch {
            throw ChatError(error, url: gateway.url, mayBeDone: false)
        }
        switch opened.status {
        case 200: break
        // Source: WHATWG HTML 9.2.3: the way to tell a client to stop reconnecting.
        case 204: return false
        default:
            throw ChatError(
                problem: await Self.body(of: opened), status: opened.status,
                retryAfter: gateway.retryAfter(opened.headers))
        }
        stream = opened
        parts = opened.makeAsyncIterator()
        splitter = LineSplitter()
        farewell = nil
        return true
    }

    /// As much of a refusal's body as a problem needs.
    private static func body(of stream: OutboundStream) async -> [UInt8] {
        var body: [UInt8] = []
        var parts = stream.makeAsyncIterator()
        // A broken body is told by its status.
        while body.count < 64 * 1024, let part = try? await parts.next(isolation: nil) { body += part }
        return body
    }

    private func read() async throws(ChatError) {
        guard var reading = parts else { return }
        let part: [UInt8]?
        do { part = try await reading.next(isolation: self) } catch {
            throw ChatError(error, url: gateway.url, mayBeDone: false)
        }
        parts = reading
        guard let part else { throw ended }
        for line in try splitter.lines(in: part) { take(StreamLine(line)) }
    }

    private var ended: ChatError {
        guard let farewell else { return ChatError(.unavailable, "the gateway ended the stream") }
        return ChatError(
            farewell.isFinal ? .gone : .unavailable, "the gateway ended the stream: \(farewell.reason)",
            retryAfter: farewell.wait)
    }

    private func take(_ line: StreamLine) {
        switch line {
        case .heartbeat: failures = 0
        case .unknown: break
        case .event(let event):
            failures = 0
            arrived.append(event)
        case .control(let name, let data): noted(name, data)
        }
    }

    private func noted(_ name: String, _ data: JSONValue) {
        func position(_ name: String) -> Timetoken? { data[name]?.string.flatMap { Timetoken(text: $0) } }
        switch name {
        case "stream.ready":
            failures = 0
            // Where this stream begins: no cursor at all means another place after every break.
            cursor = position("cursor") ?? cursor
            if let beat = data["heartbeat_seconds"]?.integer, (1...3600).contains(beat) {
                silence = max(.seconds(45), .seconds(beat) * 3)
            }
            news.append(.connected(at: cursor ?? .zero, hasGap: false))
        case "stream.gap":
            cursor = position("resumed_from") ?? cursor
            news.append(.connected(at: cursor ?? .zero, hasGap: true))
        case "stream.closing":
            farewell = Farewell(
                reason: data["reason"]?.string ?? "it is closing", isFinal: data["final"]?.boolean ?? false,
                wait: .milliseconds(max(0, min(data["retry_ms"]?.integer ?? 0, 300_000))))
        default: break
        }
    }

    /// Prepares the next try; false when the chat is closed.
    ///
    /// - Throws: what no further try will change.
    private func prepare(after error: ChatError) throws(ChatError) -> Bool {
        stream = nil
        parts = nil
        if error.code == .gone, farewell == nil { return false }
        guard error.isPassing else { throw error }
        failures += 1
        pause = max(error.retryAfter ?? .zero, Backoff.stream.delay(after: failures))
        // Said before the pause: whoever watches the connection wants to know at once.
        if failures == 1 { news.append(.interrupted(error)) }
        return true
    }
}
