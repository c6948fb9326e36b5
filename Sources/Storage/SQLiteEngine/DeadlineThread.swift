import ChatModel
import Locking

/// A thread that checks the deadlines of requests that wait for the writer, and other work that becomes due at a
/// certain time. It sleeps while no check is scheduled.
final class DeadlineThread: Sendable {
    fileprivate struct State: Sendable {
        /// The uptime of the next check; `.max` while none is scheduled.
        var wakeAt: UInt64 = .max
        var isStopped = false
        var stopper: CheckedContinuation<Void, Never>?
        var isRunning = false
    }

    /// The interval between checks while requests wait (0.5 s). A caller receives the error for a missed deadline at
    /// most this time after the deadline.
    private static let tick: UInt64 = 500_000_000

    private let monitor = Monitor(State())

    /// Starts the thread.
    ///
    /// - Parameter check: does the work that is due. Returns the time of the next check on the machine's uptime clock,
    ///   or nil to sleep until ``call(at:)`` is called.
    /// - Returns: false when the system cannot create the thread.
    func start(_ check: @escaping @Sendable () -> UInt64?) -> Bool {
        monitor.withLock { $0.isRunning = true }
        return startThread(name: "parley-deadline") { [monitor] in
            while monitor.wait(for: { $0.checkIfDue() }) {
                if let next = check() { monitor.withLock { $0.wakeAt = min($0.wakeAt, next) } }
            }
            let stopper = monitor.withLock { state in
                state.isRunning = false
                return state.stopper
            }
            stopper?.resume()
        }
    }

    /// Schedules the first check of the deadline of a request that waits for the writer.
    func watch() { call(at: MonotonicTime.now.nanoseconds + Self.tick) }

    /// Schedules a check at `moment` on the machine's uptime clock, unless an earlier check is scheduled.
    func call(at moment: UInt64) {
        let isEarlier = monitor.withLock { state in
            guard moment < state.wakeAt else { return false }
            state.wakeAt = moment
            return true
        }
        if isEarlier { monitor.wakeOne() }
    }

    /// Ends the thread. Returns when the thread has ended.
    func stop() async {
        await withCheckedContinuation { continuation in
            let isDone = monitor.withLock { state in
                state.isStopped = true
                if state.isRunning { state.stopper = continuation }
                return !state.isRunning
            }
            monitor.wakeOne()
            if isDone { continuation.resume() }
        }
    }

    /// The time of the next check of the writer's deadlines.
    static var nextTick: UInt64 { MonotonicTime.now.nanoseconds + tick }
}

extension DeadlineThread.State {
    /// Waits until a check is due or the thread is stopped. Returns true when a check is due, false when the thread is
    /// stopped.
    fileprivate mutating func checkIfDue() -> WaitResult<Bool> {
        if isStopped { return .done(false) }
        if wakeAt == .max { return .sleep }
        guard MonotonicTime.now.nanoseconds >= wakeAt else { return .sleepUntil(wakeAt) }
        wakeAt = .max
        return .done(true)
    }
}
