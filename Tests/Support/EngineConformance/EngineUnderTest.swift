public import ChatModel
public import TestSupport

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
    /// Removes at once what is too old.
    func removeOutlived() async throws
    /// Closes the nodes and takes away what they left.
    func end() async
}

/// Makes an engine under test, empty, with these limits, living by this clock.
public typealias EngineFactory = @Sendable (Limits, ManualClock) async throws -> any EngineUnderTest

extension ManualClock {
    /// The time of day.
    public var now: Timetoken { Timetoken(ticks) }
    public var wallClock: WallClock { WallClock { self.now } }
}
