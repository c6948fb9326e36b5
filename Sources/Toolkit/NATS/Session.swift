internal import Locking

/// The state that a ``Connection`` and its subscriptions share. ``SessionThread`` runs, in order, the operations of the client
/// library, any of which may block: the library holds one lock per connection, also while it connects to a server.
final class Session: Sendable {
    /// The sessions that callbacks of the library belong to.
    static let table = CallbackTable<Session>()

    enum Job: Sendable {
        case publish([UInt8], subject: String)
        case subscribe(UInt)
        case unsubscribe(UInt)
        case flush(Reply<Void>, deadline: MonotonicTime)

        /// The number of bytes that count against ``ConnectionSettings/bufferedBytes``.
        var size: Int {
            if case .publish(let payload, let subject) = self { payload.count + subject.utf8.count } else { 0 }
        }
    }

    /// The connection to a server.
    enum Link {
        /// The thread connects, and subscribes again.
        case opening
        case up
        /// The library connects again.
        case down
        /// The library has given up. The thread starts again.
        case ended
    }

    struct State {
        var jobs: [Job] = []
        /// The size of the published messages that are not sent yet, in bytes.
        var bufferedBytes = 0
        var link = Link.opening
        /// In bytes, as the server has stated it.
        var maxPayload = 0
        /// The subscriptions that exist, or will exist when there is a connection, by their number.
        var receivers: [UInt: Receiver] = [:]
        /// The number of flushes that use the client at this moment.
        var flushes = 0
        var isClosing = false
        /// True when the thread has ended.
        var isOver = false
        var closings: [Reply<Void>] = []
    }

    let settings: ConnectionSettings
    let events: CallbackGate<ConnectionEvent>
    let state = Monitor(State())

    init(_ settings: ConnectionSettings) {
        self.settings = settings
        events = CallbackGate(settings.onEvent)
    }

    var isConnected: Bool { state.withLock { $0.link == .up && !$0.isClosing } }

    func publish(_ payload: [UInt8], to subject: String) throws(NATSFailure) {
        try Subject.check(subject, wildcards: false)
        let job = Job.publish(payload, subject: subject)
        try state.withLock { (state) throws(NATSFailure) in
            if state.isClosing { throw .closed }
            guard state.link == .up else { throw .notConnected }
            guard payload.count <= state.maxPayload else {
                throw NATSFailure(
                    .payloadTooLarge,
                    "the payload has \(payload.count) bytes; the NATS server accepts at most \(state.maxPayload)")
            }
            guard state.bufferedBytes + job.size <= settings.bufferedBytes else {
                throw NATSFailure(
                    .bufferFull, "\(state.bufferedBytes) bytes wait to be sent to the NATS server; send less")
            }
            state.bufferedBytes += job.size
            state.jobs.append(job)
        }
        state.wakeAll()
    }

    /// - Returns: the number of the receiver.
    func subscribe(_ receiver: Receiver) throws(NATSFailure) -> UInt {
        try Subject.check(receiver.subject, wildcards: true)
        guard receiver.pendingBytes > 0 else {
            throw NATSFailure(.invalid, "a subscription must hold at least 1 byte; got \(receiver.pendingBytes)")
        }
        let number = Receiver.table.add(receiver)
        let isOpen = state.withLock { state in
            guard !state.isClosing else { return false }
            state.receivers[number] = receiver
            state.jobs.append(.subscribe(number))
            return true
        }
        guard isOpen else {
            Receiver.table.remove(number)
            throw .closed
        }
        state.wakeAll()
        return number
    }

    func unsubscribe(_ number: UInt) async {
        Receiver.table.remove(number)
        let receiver = state.withLock { state in
            let receiver = state.receivers.removeValue(forKey: number)
            if receiver != nil { state.jobs.append(.unsubscribe(number)) }
            return receiver
        }
        state.wakeAll()
        await receiver?.gate.end()
    }

    func flush() async throws(NATSFailure) {
        let reply = Reply<Void>()
        try state.withLock { (state) throws(NATSFailure) in
            if state.isClosing { throw .closed }
            guard state.link == .up else { throw .notConnected }
            state.jobs.append(.flush(reply, deadline: .now + settings.deadline))
        }
        state.wakeAll()
        try await reply.wait(within: settings.deadline, for: "flushing the connection to NATS")
    }

    /// Shuts the closures and starts to close the connection. Messages that were published before are still sent.
    ///
    /// - Parameter reply: set when the thread has ended.
    func startClosing(_ reply: Reply<Void>? = nil) {
        events.shut()
        let (receivers, isOver) = state.withLock { state in
            state.isClosing = true
            if let reply, !state.isOver { state.closings.append(reply) }
            return (state.receivers, state.isOver)
        }
        state.wakeAll()
        for (number, receiver) in receivers {
            Receiver.table.remove(number)
            receiver.gate.shut()
        }
        if isOver { reply?.finish(.success(())) }
    }

    func close() async {
        let reply = Reply<Void>()
        let receivers = state.withLock { $0.receivers.values.map(\.gate) }
        startClosing(reply)
        await events.end()
        for gate in receivers { await gate.end() }
        // If the deadline passes before, the thread ends later.
        try? await reply.wait(within: settings.deadline, for: "closing the connection to NATS")
    }

    // The events, on threads of the library.

    func linkIsThere(maxPayload: Int) {
        state.withLock { state in
            state.link = .up
            state.maxPayload = maxPayload
        }
        events.call(.reconnected)
    }

    func linkIsLost() {
        state.withLock { $0.link = .down }
        events.call(.disconnected)
    }

    func linkHasEnded(_ failure: NATSFailure) {
        state.withLock { $0.link = .ended }
        state.wakeAll()
        events.call(.refused(failure))
    }

    func isDenied(_ text: String) { events.call(.denied(text)) }

    func messagesAreDropped() { events.call(.slowConsumer) }
}
