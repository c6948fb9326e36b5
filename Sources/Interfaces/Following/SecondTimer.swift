public import HTTPServer
import Locking
import Synchronization

/// The seconds, as the loop counts them, for what is looked after once in a while: heartbeats, holds, expiries.
///
/// Beats only while somebody needs it.
public final class SecondTimer: Sendable {
    /// Who counts the seconds.
    public enum Source: Sendable {
        case everySecond
        /// Whoever calls `beat()`: tests.
        case byHand
    }

    private struct State {
        var parts: [@Sendable (UInt64) -> Bool] = []
        var isBeating = false
    }

    private let loop: Loop
    private let source: Source
    private let count = Atomic<UInt64>(0)
    private let state = Lock(State())

    public init(loop: Loop, _ source: Source = .everySecond) {
        self.loop = loop
        self.source = source
    }

    /// The seconds that have gone by since the start.
    public var now: UInt64 { count.load(ordering: .relaxed) }

    /// - Parameter body: called on the loop with every beat; returns whether it has something to look after still.
    public func observe(_ body: @escaping @Sendable (UInt64) -> Bool) {
        state.withLock { $0.parts.append(body) }
    }

    /// There is something to look after from now on.
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
        if beat() { start() }
    }

    /// One second has gone by. On the loop.
    ///
    /// - Returns: whether anybody needs the next one.
    @discardableResult
    public func beat() -> Bool {
        let now = count.add(1, ordering: .relaxed).newValue
        let parts = state.withLock { $0.parts }
        return parts.map { $0(now) }.contains(true)
    }
}
