import Glibc
import Synchronization

/// A point on the machine's monotonic clock, in nanoseconds.
struct MonotonicTime: Comparable {
    var nanoseconds: Int64

    static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }

    static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    static func + (time: MonotonicTime, delay: Duration) -> MonotonicTime {
        MonotonicTime(nanoseconds: time.nanoseconds &+ delay.wholeNanoseconds)
    }
}

extension Duration {
    /// In nanoseconds, at most a century and never negative, so that adding it to a time of the clock never overflows.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let century: Int64 = 100 * 365 * 86_400
        guard seconds < century else { return century * 1_000_000_000 }
        return max(0, seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}

/// One job that waits for its time on a ``Loop``.
public final class LoopTimer: Sendable {
    let deadline: MonotonicTime
    private let job: @Sendable () -> Void
    private let isOver = Atomic(false)

    init(deadline: MonotonicTime, job: @escaping @Sendable () -> Void) {
        self.deadline = deadline
        self.job = job
    }

    /// Calls the job off, from any thread; without effect when it has begun.
    public func cancel() {
        isOver.store(true, ordering: .relaxed)
    }

    var isCancelled: Bool { isOver.load(ordering: .relaxed) }

    func fire() {
        guard !isOver.exchange(true, ordering: .relaxed) else { return }
        job()
    }
}

/// Timers in a binary heap, the next one at its root.
struct TimerHeap {
    private var heap: [LoopTimer] = []
    private var insertedSinceSweep = 0

    var count: Int { heap.count }

    mutating func insert(_ timer: LoopTimer) {
        sweepIfDue()
        heap.append(timer)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].deadline < heap[parent].deadline else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes out a timer that is due at `now`, or was called off.
    mutating func takeDue(at now: MonotonicTime) -> LoopTimer? {
        guard let next = heap.first, next.deadline <= now || next.isCancelled else { return nil }
        removeFirst()
        return next
    }

    /// -1 when there is none; rounded up, or the loop would spin through the last millisecond.
    func millisecondsToNext() -> Int32 {
        guard let next = heap.first else { return -1 }
        let nanoseconds = next.deadline.nanoseconds - MonotonicTime.now.nanoseconds
        return Int32(clamping: max(0, (nanoseconds + 999_999) / 1_000_000))
    }

    /// Cancelled timers stay until they reach the root; when many have gone by, all of them are dropped at once.
    private mutating func sweepIfDue() {
        insertedSinceSweep += 1
        guard insertedSinceSweep > max(64, heap.count) else { return }
        insertedSinceSweep = 0
        let kept = heap.filter { !$0.isCancelled }
        guard kept.count < heap.count else { return }
        heap = kept.sorted { $0.deadline < $1.deadline }
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < heap.count else { return }
            if child + 1 < heap.count, heap[child + 1].deadline < heap[child].deadline { child += 1 }
            guard heap[child].deadline < heap[parent].deadline else { return }
            heap.swapAt(child, parent)
            parent = child
        }
    }
}
