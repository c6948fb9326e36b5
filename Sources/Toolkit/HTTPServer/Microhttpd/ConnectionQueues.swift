import Locking

/// All connections by phase, with one queue for each phase that has a deadline.
final class ConnectionQueues {
    private let header, idle, body, reply: DeadlineQueue

    init(_ deadlines: ServerOptions.Deadlines) {
        header = DeadlineQueue(allowance: deadlines.header)
        idle = DeadlineQueue(allowance: deadlines.keepAliveIdle)
        body = DeadlineQueue(allowance: deadlines.bodyIdle)
        reply = DeadlineQueue(allowance: deadlines.replyIdle)
    }

    private func queue(of phase: HTTPConnection.Phase) -> DeadlineQueue? {
        switch phase {
        case .header: header
        case .idle: idle
        case .body: body
        case .reply: reply
        case .working: nil
        }
    }

    /// Moves a connection to the end of a phase's queue, also when the connection already is in that phase. This
    /// restarts the deadline.
    func move(_ peer: HTTPConnection, to phase: HTTPConnection.Phase, now: MonotonicTime) {
        queue(of: peer.phase)?.remove(peer)
        peer.phase = phase
        queue(of: phase)?.append(peer, now: now)
    }

    func leave(_ peer: HTTPConnection) {
        queue(of: peer.phase)?.remove(peer)
        peer.phase = .working
    }

    /// Returns the connection that has been in this phase the longest; `nil` when there is none.
    func longest(in phase: HTTPConnection.Phase) -> HTTPConnection? {
        queue(of: phase)?.first?.takeUnretainedValue()
    }

    /// Returns a connection whose deadline has passed; `nil` when there is none.
    func expired(at now: MonotonicTime) -> HTTPConnection? {
        for queue in [header, idle, body, reply] {
            if let next = queue.next, next <= now { return queue.first?.takeUnretainedValue() }
        }
        return nil
    }

    /// The earliest deadline of all connections; `nil` when no connection has a deadline.
    var nextDeadline: MonotonicTime? { [header, idle, body, reply].compactMap(\.next).min() }
}

/// A queue of connections that have the same time limit, in the order of their deadlines.
///
/// All connections have the same time limit, so the connection that was added last also expires last. The queue is a
/// linked list, so adding or removing a connection allocates no memory and changes only a few pointers. The queue does
/// not retain its connections. A connection must be removed before it is released.
final class DeadlineQueue {
    private let allowance: UInt64
    private(set) var first: Unmanaged<HTTPConnection>?
    private var last: Unmanaged<HTTPConnection>?

    init(allowance: Duration) {
        self.allowance = allowance.nanoseconds
    }

    /// The deadline of the first connection; `nil` when the queue is empty.
    var next: MonotonicTime? { first?._withUnsafeGuaranteedRef { $0.deadline } }

    func append(_ peer: HTTPConnection, now: MonotonicTime) {
        peer.deadline = MonotonicTime(nanoseconds: now.nanoseconds &+ allowance)
        peer.previous = last
        peer.next = nil
        let new = Unmanaged.passUnretained(peer)
        if let last {
            last._withUnsafeGuaranteedRef { $0.next = new }
        } else {
            first = new
        }
        last = new
    }

    func remove(_ peer: HTTPConnection) {
        if let previous = peer.previous {
            previous._withUnsafeGuaranteedRef { $0.next = peer.next }
        } else {
            first = peer.next
        }
        if let next = peer.next {
            next._withUnsafeGuaranteedRef { $0.previous = peer.previous }
        } else {
            last = peer.previous
        }
        peer.previous = nil
        peer.next = nil
    }
}
