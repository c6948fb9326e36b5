/// A first-in, first-out queue of the broadcasts that have bytes to send.
///
/// Used only on the loop's thread.
final class Delivery {
    /// The number of streams that are sent bytes before the loop checks the HTTP daemons again.
    static let slice = 512

    /// The maximum number of streams that ``runIfSmall()`` sends bytes to.
    private static let few = 128

    /// The totals of stream traffic since the start, for metrics. Other code reads them through ``Loop``.
    var statistics = StreamStatistics()

    private var queue: [Broadcast] = []
    private var next = 0

    var isIdle: Bool { next == queue.count }

    func add(_ broadcast: Broadcast) {
        queue.append(broadcast)
    }

    /// Sends the bytes that wait if they are for few streams. Otherwise sends nothing. The loop calls this function
    /// before it sends responses, because each response wakes a client, which competes with the streams for the
    /// processors.
    func runIfSmall() {
        guard !isIdle, queue.count - next <= Self.few else { return }
        if queue[next...].reduce(0, { $0 + $1.connectionCount }) <= Self.few { run() }
    }

    func run() {
        var budget = Self.slice
        while budget > 0, next < queue.count {
            let broadcast = queue[next]
            guard broadcast.flush(&budget) else { return }
            next += 1
            // If frames were appended during the pass, the broadcast goes to the end of the queue. Otherwise it leaves
            // the queue.
            if broadcast.needsAnotherPass() { queue.append(broadcast) }
            budget -= 1
        }
        if next == queue.count {
            queue.removeAll(keepingCapacity: queue.count <= 1024)
            next = 0
        } else if next >= 1024 {
            queue.removeFirst(next)
            next = 0
        }
    }
}

/// Totals of stream traffic since the start.
public struct StreamStatistics: Sendable, Equatable {
    /// The number of system calls that sent stream bytes.
    public var sendCalls: UInt64 = 0
    /// Stream bytes that the kernel has accepted.
    public var bytesSent: UInt64 = 0
    /// Streams closed because their reader was too slow.
    public var slowCloses: UInt64 = 0
    /// Streams opened.
    public var opened: UInt64 = 0
    /// Streams closed, for any reason.
    public var closed: UInt64 = 0

    /// Creates totals with the value zero.
    public init() {}
}
