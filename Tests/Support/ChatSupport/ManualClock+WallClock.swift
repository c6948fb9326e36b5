public import ChatModel
public import TestSupport

extension ManualClock {
    /// The current time of day.
    public var now: Timetoken { Timetoken(ticks) }
    public var wallClock: WallClock { WallClock { self.now } }
}
