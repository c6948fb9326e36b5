import Locking
import Synchronization

/// A handle of one job that is scheduled on a ``Loop``. It can cancel the job.
public final class LoopTimer: Sendable {
    let deadline: MonotonicTime
    private let job: @Sendable () -> Void
    private let isOver = Atomic(false)

    init(deadline: MonotonicTime, job: @escaping @Sendable () -> Void) {
        self.deadline = deadline
        self.job = job
    }

    /// Cancels the job. Has no effect when the job has begun. May be called from any thread.
    public func cancel() {
        isOver.store(true, ordering: .relaxed)
    }

    var isCancelled: Bool { isOver.load(ordering: .relaxed) }

    func fire() {
        guard !isOver.exchange(true, ordering: .relaxed) else { return }
        job()
    }
}

/// Timers in a binary heap, with the earliest at the root.
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

    /// Removes and returns a timer that is due at `now` or was cancelled; nil when there is none.
    mutating func removeDue(at now: MonotonicTime) -> LoopTimer? {
        guard let next = heap.first, next.deadline <= now || next.isCancelled else { return nil }
        removeFirst()
        return next
    }

    /// Returns the time in milliseconds until the next timer is due; -1 when there is no timer. The time is rounded up,
    /// because the loop would otherwise wake repeatedly in the last millisecond.
    func millisecondsToNext() -> Int32 {
        guard let next = heap.first else { return -1 }
        let now = MonotonicTime.now
        guard next.deadline > now else { return 0 }
        return Int32(clamping: (next.deadline.nanoseconds - now.nanoseconds + 999_999) / 1_000_000)
    }

    /// Removes all cancelled timers after a certain number of insertions. Without this step, a cancelled timer would
    /// stay in the heap until it reaches the root.
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
