import ChatKit
import ChatModel
import GatewayClient
import JSON
import Locking

/// Reads the events that a listener has missed. The events are read over a separate, short stream, up to the position
/// from which the listener's shared stream continues.
///
/// No message of the separate stream tells the client that all missed events have been sent. The client therefore
/// requests the position that the gateway has reached in the stream (`PATCH /v1/streams/{id}`). Once this position is
/// at or above the target position, the client ends the stream with `DELETE`. All events up to the position arrive
/// before the stream's last message.
actor MissedEvents {
    /// The maximum number of consecutive requests for the position. The count starts again when new data of the stream
    /// arrives.
    private static let tries = 8

    private let gateway: GatewayConnection
    private let path: RequestPath
    private let upTo: Timetoken
    /// The position in the event log up to which all missed events were delivered.
    private var position: Timetoken
    private var stream: EventStream?
    private var updates: [LiveUpdate] = []
    private var failures = 0
    private var isOver = false
    /// The state of the separate stream. `id` is nil until the gateway has sent the stream's id. `isAsking` is true
    /// while a request for the stream's position is in progress. `isEnding` is true after the request that ends the
    /// stream was sent.
    private let asked = Lock((id: String?.none, isAsking: false, isEnding: false))

    init(_ gateway: GatewayConnection, _ path: RequestPath, after: Timetoken, upTo: Timetoken) {
        self.gateway = gateway
        self.path = path
        position = after
        self.upTo = upTo
    }

    /// Returns the next update, or nil when all missed events were delivered.
    func next() async throws(ChatError) -> LiveUpdate? {
        while true {
            if !updates.isEmpty { return updates.removeFirst() }
            if isOver { return nil }
            do throws(ChatError) {
                try await read()
            } catch {
                try await prepare(after: error)
            }
        }
    }

    private func read() async throws(ChatError) {
        guard let stream else {
            guard
                let opened = try await gateway.events(
                    path.adding("cursor", position.description), silence: SharedStream.silence)
            else {
                isOver = true
                return
            }
            asked.withLock { $0 = (nil, false, false) }
            stream = opened
            return
        }
        guard let lines = try await gateway.lines(of: stream) else {
            throw ChatError(.unavailable, "the gateway ended the stream")
        }
        var batch: [LiveEvent] = []
        for line in lines {
            switch line {
            case .event(let document):
                guard let event = LiveEvent(document) else { continue }
                // The shared stream delivers this event. All events before it have arrived here.
                if event.timetoken > upTo { isOver = true } else { batch.append(event) }
            case .control(let name, let data): try handleControl(name, data)
            case .heartbeat, .unknown, .tooLong: break
            }
        }
        if let newest = batch.lazy.map(\.timetoken).max() {
            failures = 0
            position = max(position, newest)
            updates.append(.events(batch, cursor: position))
        }
        if isOver { self.stream = nil } else { fetchPosition() }
    }

    private func handleControl(_ name: String, _ data: JSONValue) throws(ChatError) {
        switch name {
        case "stream.ready":
            asked.withLock { $0.id = data["stream"]?.string }
            updates.append(.connected(at: data.position("cursor") ?? position, hasGap: false))
        case "stream.gap":
            position = max(position, data.position("resumed_from") ?? position)
            updates.append(.connected(at: position, hasGap: true))
        case "stream.closing":
            let closing = StreamClosing(data)
            guard closing.reason == "deleted", asked.withLock({ $0.isEnding }) else { throw closing.error }
            isOver = true
        default: break
        }
    }

    /// Requests the position that the gateway has reached in the stream, unless such a request is in progress.
    private func fetchPosition() {
        let id = asked.withLock { asked in
            guard let id = asked.id, !asked.isAsking else { return String?.none }
            asked.isAsking = true
            return id
        }
        guard let id else { return }
        Task { [gateway, asked, upTo] in
            defer { asked.withLock { $0.isAsking = false } }
            let path = RequestPath("streams", id)
            var call = Call("PATCH", path, body: .emptyObject)
            call.isHarmless = true
            for failures in 1...Self.tries {
                // After any error, the request is repeated when the next lines arrive. The stream has its own timeouts.
                guard let answer = try? await gateway.send(call) else { return }
                if answer["state"]?.string == "live", let cursor = answer.root?.position("cursor"), cursor >= upTo {
                    asked.withLock { $0.isEnding = true }
                    _ = try? await gateway.send(Call("DELETE", path))
                    return
                }
                guard await gateway.pause(Backoff.catchingUp.delay(after: failures)) else { return }
            }
        }
    }

    private func prepare(after error: ChatError) async throws(ChatError) {
        let wasEnding = asked.withLock { $0.isEnding }
        stream = nil
        guard error.isPassing || wasEnding else { throw error }
        failures += 1
        guard let pause = gateway.retry.delay(after: failures) else { throw error }
        if failures == 1 { updates.append(.interrupted(error)) }
        guard await gateway.pause(max(error.retryAfter ?? .zero, pause)) else {
            isOver = true
            return
        }
    }
}
