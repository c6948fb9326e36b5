public import HTTPServer
import Locking
import Synchronization

/// A counter of seconds on the loop, for periodic work such as heartbeats, long polls and expiries. Each step of the
/// counter is called a tick.
///
/// The timer runs only while an observer needs it.
public final class SecondTimer: Sendable {
    /// The source of the ticks.
    public enum Source: Sendable {
        case everySecond
        /// Calls of `tick()`, for tests.
        case manual
    }

    private struct State {
        var parts: [@Sendable (UInt64) -> Bool] = []
        var isBeating = false
    }

    private let loop: Loop
    private let source: Source
    private let count = Atomic<UInt64>(0)
    private let state = Lock(State())

    /// Creates a stopped timer that counts on `loop`.
    public init(loop: Loop, _ source: Source = .everySecond) {
        self.loop = loop
        self.source = source
    }

    /// The number of ticks since the start.
    public var now: UInt64 { count.load(ordering: .relaxed) }

    /// Adds an observer.
    ///
    /// - Parameter body: called on the loop at every tick, with the number of ticks since the start. Returns true while
    ///   it needs further ticks.
    public func observe(_ body: @escaping @Sendable (UInt64) -> Bool) {
        state.withLock { $0.parts.append(body) }
    }

    /// Starts the timer if it is stopped. Call this when there is periodic work.
    public func start() {
        guard source == .everySecond else { return }
        let wasBeating = state.withLock { state in
            defer { state.isBeating = true }
            return state.isBeating
        }
        guard !wasBeating else { return }
        loop.schedule(after: .seconds(1)) { [weak self] in self?.fire() }
    }

    private func fire() {
        state.withLock { $0.isBeating = false }
        if tick() { start() }
    }

    /// Advances the counter by one second. Call on the loop.
    ///
    /// - Returns: true while an observer needs the next tick.
    @discardableResult
    func tick() -> Bool {
        let now = count.add(1, ordering: .relaxed).newValue
        let parts = state.withLock { $0.parts }
        return parts.map { $0(now) }.contains(true)
    }
}
