import ChatModel
import Locking

/// A thread that watches the clock for everybody: deadlines of what waits for the writer, and whatever else is due later.
/// It sleeps while there is nothing to watch.
final class DeadlineThread: Sendable {
    fileprivate struct State: Sendable {
        /// Uptime at which to look next.
        var wakeAt: UInt64 = .max
        var isStopped = false
        var stopper: CheckedContinuation<Void, Never>?
        var isRunning = false
    }

    /// How often deadlines are looked at while something waits: callers learn of one at most this much late.
    private static let tick: UInt64 = 500_000_000

    private let monitor = Monitor(State())

    /// Starts the thread. `look` does what is due and says when to come again, on the machine's uptime clock; nil: when called.
    func start(_ look: @escaping @Sendable () -> UInt64?) -> Bool {
        monitor.withLock { $0.isRunning = true }
        return startThread(name: "parley-clerk") { [monitor] in
            while monitor.wait(for: { $0.rouse() }) {
                if let next = look() { monitor.withLock { $0.wakeAt = min($0.wakeAt, next) } }
            }
            let stopper = monitor.withLock { state in
                state.isRunning = false
                return state.stopper
            }
            stopper?.resume()
        }
    }

    /// Something has begun to wait for the writer.
    func watch() { call(at: uptimeNanoseconds() + Self.tick) }

    /// Asks for a look at that moment, or earlier.
    func call(at moment: UInt64) {
        let isEarlier = monitor.withLock { state in
            guard moment < state.wakeAt else { return false }
            state.wakeAt = moment
            return true
        }
        if isEarlier { monitor.wakeOne() }
    }

    /// Ends the thread; returns when it has ended.
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

    /// The next look at the writer's deadlines.
    static var nextTick: UInt64 { uptimeNanoseconds() + tick }
}

extension DeadlineThread.State {
    /// True when it is time to look, false when there is no more to do.
    fileprivate mutating func rouse() -> WaitResult<Bool> {
        if isStopped { return .done(false) }
        if wakeAt == .max { return .sleep }
        guard uptimeNanoseconds() >= wakeAt else { return .sleepUntil(wakeAt) }
        wakeAt = .max
        return .done(true)
    }
}
