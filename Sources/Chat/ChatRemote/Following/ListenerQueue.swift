import ChatKit
import ChatModel
import Locking

/// The queue of updates for one listener of a shared stream.
///
/// The queue is bounded. When the queue of a slow listener is full, further events are dropped, and the listener reads
/// them from the gateway later.
final class ListenerQueue: Sendable {
    private static let mostEvents = 1000
    private static let mostBytes = 8 * 1024 * 1024
    /// The maximum number of queued connection states.
    private static let mostStates = 32

    enum Item: Sendable {
        case update(LiveUpdate)
        /// The events after `after`, up to and including `upTo`, must be read from the gateway before the items that
        /// follow.
        case behind(after: Timetoken, upTo: Timetoken)
        /// The end of the listener, with the error that ended it; nil when the chat was closed.
        case end(ChatError?)
    }

    private struct State {
        /// The queued items, in order.
        var items: [Item] = []
        var events = 0
        var bytes = 0
        /// Events that arrived before the listener was admitted to the stream (``admit(at:since:)``).
        var early: [LiveEvent] = []
        /// The position in the event log up to which events are skipped; nil while the listener is not admitted to a
        /// stream.
        var floor: Timetoken?
        /// The position in the event log up to which all events were queued or delivered.
        var position = Timetoken.zero
        /// The greatest timetoken of the dropped events; nil when none was dropped.
        var lost: Timetoken?
        var ending: ChatError??
        var reader: CheckedContinuation<Item, Never>?

        mutating func queue(_ new: [LiveEvent]) {
            guard !new.isEmpty else { return }
            let newest = new.lazy.map(\.timetoken).reduce(.zero, max)
            let weight = new.reduce(0) { $0 + $1.weight }
            let fits =
                events == 0
                || events + new.count <= ListenerQueue.mostEvents && bytes + weight <= ListenerQueue.mostBytes
            guard lost == nil, fits else {
                lost = max(lost ?? .zero, newest)
                return
            }
            events += new.count
            bytes += weight
            position = max(position, newest)
            if case .update(.events(let before, let cursor)) = items.last {
                items[items.count - 1] = .update(.events(before + new, cursor: max(cursor, newest)))
            } else {
                items.append(.update(.events(new, cursor: newest)))
            }
        }

        /// Adds a connection state to the queue. When the queue has too many items, the oldest state that reports no
        /// lost events is dropped: the listener needs only the current state and every report of lost events.
        mutating func record(_ state: LiveUpdate) {
            if items.count > ListenerQueue.mostStates, let old = items.firstIndex(where: \.isPlainState) {
                items.remove(at: old)
            }
            items.append(.update(state))
        }

        mutating func next() -> Item? {
            if let first = items.first {
                items.removeFirst()
                if case .update(.events(let taken, _)) = first {
                    events -= taken.count
                    bytes -= taken.reduce(0) { $0 + $1.weight }
                }
                return first
            }
            if floor != nil, let lost {
                defer {
                    self.lost = nil
                    floor = max(floor ?? .zero, lost)
                    position = lost
                }
                return .behind(after: position, upTo: lost)
            }
            return ending.map { .end($0) }
        }
    }

    private let state = Lock(State())

    /// Adds events for the listener that have arrived on the shared stream. Events at or below the position of the
    /// listener's admission (``admit(at:since:)``) are skipped.
    func offer(_ events: [LiveEvent]) {
        change { state in
            guard let floor = state.floor else {
                if state.early.count + events.count <= Self.mostEvents {
                    state.early += events
                } else {
                    state.lost = events.lazy.map(\.timetoken).reduce(state.lost ?? .zero, max)
                }
                return
            }
            state.queue(events.filter { $0.timetoken > floor })
        }
    }

    /// Admits the listener to the stream. All selected events after `floor` are added to this queue from now on.
    ///
    /// - Parameter since: the position in the event log after which the listener wants events. The events between this
    ///   position and `floor` are read separately, before the queued events. When nil, the listener starts at `floor`.
    func admit(at floor: Timetoken, since: Timetoken?) {
        change { state in
            guard state.floor == nil else { return }
            if let since, since < floor {
                state.items.append(.behind(after: since, upTo: floor))
                state.position = floor
            } else {
                state.position = max(floor, since ?? floor)
                state.record(.connected(at: state.position, hasGap: false))
            }
            state.floor = state.position
            let early = state.early.filter { $0.timetoken > state.position }
            state.early = []
            if let lost = state.lost, lost <= state.position { state.lost = nil }
            state.queue(early)
        }
    }

    /// Ends the admission of the listener to its current stream. The listener will be admitted again, possibly to
    /// another stream.
    ///
    /// - Returns: the position in the event log from which the listener continues; nil when the listener was not
    ///   admitted.
    func suspend() -> Timetoken? {
        state.withLock { state in
            guard state.floor != nil else { return nil }
            state.floor = nil
            state.lost = nil
            // If the queue has an item for events to be read separately (`behind`), drops this item and all later
            // items. The listener reads all of these events again from the position before them.
            let missed = state.items.firstIndex { if case .behind = $0 { true } else { false } }
            guard let missed, case .behind(let after, _) = state.items[missed] else { return state.position }
            for case .update(.events(let dropped, _)) in state.items[missed...] {
                state.events -= dropped.count
                state.bytes -= dropped.reduce(0) { $0 + $1.weight }
            }
            state.items.removeSubrange(missed...)
            return after
        }
    }

    /// Adds a connection state.
    func report(_ news: LiveUpdate) { change { $0.record(news) } }

    func end(_ error: ChatError?) {
        change { state in if state.ending == nil { state.ending = .some(error) } }
    }

    private func change(_ body: (inout State) -> Void) {
        let (reader, item) = state.withLock { state -> (CheckedContinuation<Item, Never>?, Item?) in
            body(&state)
            guard let reader = state.reader, let item = state.next() else { return (nil, nil) }
            state.reader = nil
            return (reader, item)
        }
        if let reader, let item { reader.resume(returning: item) }
    }

    /// Returns the next item, or the end when the task is cancelled.
    func next() async -> Item {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let item: Item? = state.withLock { state in
                    if let item = state.next() { return item }
                    if Task.isCancelled { return .end(nil) }
                    precondition(state.reader == nil, "only one task may read from a listener")
                    state.reader = continuation
                    return nil
                }
                if let item { continuation.resume(returning: item) }
            }
        } onCancel: {
            let reader = state.withLock { state in
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume(returning: .end(nil))
        }
    }
}

extension ListenerQueue.Item {
    /// True for a connection state that reports no lost events.
    fileprivate var isPlainState: Bool {
        switch self {
        case .update(.connected(_, let hasGap)): !hasGap
        case .update(.interrupted): true
        case .update(.channelsChanged), .update(.events), .behind, .end: false
        }
    }
}
