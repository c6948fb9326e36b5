import ChatModel
import Locking

/// A connection that receives live events. It connects when it is created, and ends when it is released.
final class Listener: Sendable {
    /// The result of connecting: success, or the error that prevents the connection.
    private let connection = Pending<Void>()
    private let next: LiveEvents.Next
    private let chat: Chat
    private let state: ListenerState
    private let report: @Sendable (ListenerReport) -> Void
    /// Events that arrived before the connection was reported.
    private let early = Lock<[LiveEvent]>([])
    private let connecting: Task<Void, Never>

    /// Creates a listener, which starts to connect.
    ///
    /// - Parameter report: called when the listener connects, is interrupted or fails, and when its channels change.
    init(
        _ chat: Chat, _ selection: EventSelection, report: @escaping @Sendable (ListenerReport) -> Void = { _ in }
    ) {
        let next = chat.backend.events(selection).makeAsyncIterator().nextUpdate
        let state = chat.states.enter(selection)
        self.chat = chat
        self.next = next
        self.state = state
        self.report = report
        connecting = Task { [connection, early] in
            do throws(ChatError) {
                while let update = try await next() {
                    switch update {
                    case .connected(let position, let hasGap):
                        state.connected(hasGap: hasGap)
                        report(.connected(at: position, hasGap: hasGap))
                    case .events(let events, _): early.withLock { $0 = events }
                    case .interrupted(let error):
                        state.interrupted(error)
                        report(.interrupted(error.of(selection)))
                        continue
                    case .channelsChanged(let channels):
                        report(.change(.channelsChanged(channels)))
                        continue
                    }
                    return connection.decide(.success(()))
                }
                connection.decide(.failure(.closed))
            } catch {
                state.failed(error)
                report(.failed(error.of(selection)))
                connection.decide(.failure(error.of(selection)))
            }
        }
    }

    deinit { connecting.cancel() }

    /// Waits for the connection. After this call has returned, every new event is delivered.
    ///
    /// - Throws: the error that prevents the connection; `.unavailable` when `limit` has passed, although the listener
    ///   continues; `.gone` when the chat is closed or the task is cancelled.
    func connected(within limit: Duration) async throws(ChatError) {
        try await connection.value(within: limit) { [state] in state.timeoutError(limit) }
    }

    /// Ends all waits for the connection.
    func close() { connection.decide(.failure(.closed)) }

    /// Returns the next events, or nil when the listener has ended.
    func events() async -> [LiveEvent]? {
        do throws(ChatError) {
            try await connection.value(within: nil)
        } catch {
            return nil
        }
        let events = early.withLock { early in
            defer { early = [] }
            return early
        }
        if !events.isEmpty { return ours(events) }
        do throws(ChatError) {
            while let update = try await next() {
                switch update {
                case .connected(let position, let hasGap):
                    state.connected(hasGap: hasGap)
                    report(.connected(at: position, hasGap: hasGap))
                case .events(let events, _): return ours(events)
                case .interrupted(let error):
                    state.interrupted(error)
                    report(.interrupted(state.named(error)))
                case .channelsChanged(let channels): report(.change(.channelsChanged(channels)))
                }
            }
        } catch {
            state.failed(error)
            report(.failed(state.named(error)))
        }
        return nil
    }

    /// Returns the events with their property `chat` set to this chat.
    private func ours(_ events: [LiveEvent]) -> [LiveEvent] {
        events.map { event in
            var event = event
            event.chat = chat
            return event
        }
    }
}

extension ChatError {
    static var closed: ChatError { ChatError(.gone, "the chat or the listener has been closed") }

    private static let listenerName = "listener"

    /// The selection of the listener that failed: its channels, groups, types and filter. Nil for an error that is not
    /// about a listener.
    public var listener: String? { text(Self.listenerName) }

    /// Returns the error with the listener's selection added to it and to its message.
    func of(_ selection: EventSelection) -> ChatError {
        guard listener == nil else { return self }
        var error = self
        error.message = "the listener for \(selection) failed: " + message
        error.members.append((Self.listenerName, AnyJSON.string(selection.description).text))
        return error
    }
}

extension EventSelection: CustomStringConvertible {
    /// The selection as text for error messages, such as `channels a, b.*; types message.created`.
    public var description: String {
        var parts: [String] = []
        func add(_ what: String, _ names: [String]) {
            let shown =
                names.prefix(5).joined(separator: ", ") + (names.count > 5 ? " and \(names.count - 5) more" : "")
            if !names.isEmpty { parts.append("\(what) \(shown)") }
        }
        add("channels", channels)
        add("groups", groups)
        if channels.isEmpty, groups.isEmpty { parts.append(isDevice ? "the user's channels" : "all channels") }
        add("types", types)
        if let filter { parts.append("filter \(filter)") }
        return parts.joined(separator: "; ")
    }
}
