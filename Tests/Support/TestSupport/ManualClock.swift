import Glibc
import Locking

/// A clock that a test moves: the time of day, which may step either way, and the uptime, which only grows.
public final class ManualClock: Sendable {
    /// The movement of the clock by itself.
    public enum Pace: Sendable, Equatable {
        case still
        /// Each reading of the time of day advances it by this many ticks. A log gives every event a tick of its own,
        /// so a clock that stands still falls behind the log, and work planned relative to an event would never be due.
        case ticksPerReading(UInt64)
        /// Runs with the machine's clocks, ahead of them by the time that the test has added.
        case running
    }

    private struct State: Sendable {
        /// The time of day; for a running clock, its lead over the machine's.
        var ticks: Int64
        var uptime: UInt64
    }

    private let pace: Pace
    private let state: Lock<State>

    /// - Parameter start: the time of day in ticks of 100 ns since 1970, unless the clock runs. The default is in
    ///   November 2024.
    public init(ticks start: UInt64 = 17_324_123_456_789_012, _ pace: Pace = .still) {
        self.pace = pace
        state = Lock(
            pace == .running ? State(ticks: 0, uptime: 0) : State(ticks: Int64(start), uptime: 1_000_000_000_000))
    }

    /// The time of day in ticks of 100 ns since 1970.
    public var ticks: UInt64 {
        state.withLock { state in
            switch pace {
            case .still: break
            case .ticksPerReading(let count): state.ticks += Int64(count)
            case .running: return UInt64(Self.machineTicks + state.ticks)
            }
            return UInt64(state.ticks)
        }
    }

    /// The uptime in nanoseconds.
    public var uptime: UInt64 { state.withLock { $0.uptime + (pace == .running ? MonotonicTime.now.nanoseconds : 0) } }

    /// Moves the time of day and the uptime forward.
    public func advance(by duration: Duration) {
        let ticks = Self.ticks(of: duration)
        precondition(ticks >= 0, "uptime only grows")
        state.withLock { state in
            state.ticks += ticks
            state.uptime += UInt64(ticks) * 100
        }
    }

    /// Sets the time of day forward or back, as an operator or NTP does.
    public func step(by duration: Duration) { state.withLock { $0.ticks += Self.ticks(of: duration) } }

    private static func ticks(of duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return seconds * 10_000_000 + attoseconds / 100_000_000_000
    }

    private static var machineTicks: Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 10_000_000 + Int64(now.tv_nsec) / 100
    }
}

/// Blocks every caller until it is opened, for example to delay a response without a clock.
///
/// Passing has no time limit: a server passes, and the client that waits for its response has a limit.
public final class Latch: Sendable {
    private struct State {
        var isOpen: Bool
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// The number of callers that arrived so far, whether or not the latch was open.
    public let arrivals = Observed(0)
    private let state: Monitor<State>

    public init(isOpen: Bool = false) { state = Monitor(State(isOpen: isOpen)) }

    public func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        state.wakeAll()
        for continuation in waiting { continuation.resume() }
    }

    /// Waits for the latch. Does not end when the task is cancelled.
    public func pass() async {
        arrivals.increment()
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Blocks the calling thread, which must not belong to the cooperative pool.
    public func passBlocking() {
        arrivals.increment()
        state.wait { state in state.isOpen ? .done(()) : .sleep }
    }
}
