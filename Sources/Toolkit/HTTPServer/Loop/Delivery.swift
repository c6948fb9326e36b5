/// The broadcasts that have something to send, first come first served.
///
/// Touched only by the loop's thread.
final class Delivery {
    /// How many subscribers are served between two looks at the daemons.
    static let slice = 512

    /// What the process sent on streams, for metrics; read through ``Loop``.
    var statistics = StreamStatistics()

    private var queue: [Broadcast] = []
    private var next = 0

    var isIdle: Bool { next == queue.count }

    func add(_ broadcast: Broadcast) {
        queue.append(broadcast)
    }

    func run() {
        var budget = Self.slice
        while budget > 0, next < queue.count {
            let broadcast = queue[next]
            guard broadcast.flush(&budget) else { return }
            next += 1
            // Goes to the back when more was appended meanwhile; it takes itself out of the queue otherwise.
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
    /// System calls that sent stream bytes.
    public var sendCalls: UInt64 = 0
    /// Bytes of streams handed to the kernel.
    public var bytesSent: UInt64 = 0
    /// Streams closed because their reader was too slow.
    public var slowCloses: UInt64 = 0
    /// Streams opened.
    public var opened: UInt64 = 0
    /// Streams closed, for whatever reason.
    public var closed: UInt64 = 0

    public init() {}
}
