public import ChatModel
import Locking

/// An engine as the behaviours see it: its nodes, and the means to shake it.
public protocol EngineUnderTest: Sendable {
    /// One node or several over the same store. "Another node" is the last one.
    var nodes: [any Engine] { get async }
    /// Whether ``restart()`` keeps what was stored; in memory it would not.
    var survivesRestart: Bool { get }
    /// Closes every node in order and opens the store again.
    func restart() async throws
    /// Makes the store unable to commit until ``unblock()``; false where that cannot be arranged.
    func block() async throws -> Bool
    func unblock() async throws
    /// Closes the nodes and takes away what they left.
    func end() async
}

/// Makes an engine under test, empty, with these limits, living by this clock.
public typealias EngineFactory = @Sendable (Limits, ManualClock) async throws -> any EngineUnderTest

/// Time that stands still until a test moves it: the wall clock, which may go either way, and the uptime, which only grows.
public final class ManualClock: Sendable {
    private struct State: Sendable {
        var now: Timetoken
        var uptime: UInt64 = 1_000_000_000_000
    }

    private let state: Lock<State>

    public init(_ start: Timetoken = 17_324_123_456_789_012) { state = Lock(State(now: start)) }

    public var now: Timetoken { state.withLock { $0.now } }
    /// In nanoseconds.
    public var uptime: UInt64 { state.withLock { $0.uptime } }
    public var wallClock: WallClock { WallClock { self.now } }

    /// Lets time pass for both.
    public func advance(by duration: Duration) {
        state.withLock { state in
            state.now = state.now.adding(duration)
            state.uptime += UInt64(duration / .nanoseconds(1))
        }
    }

    /// Sets the wall clock forward or back, as an operator or NTP does.
    public func step(by duration: Duration) { state.withLock { $0.now = $0.now.adding(duration) } }
}
