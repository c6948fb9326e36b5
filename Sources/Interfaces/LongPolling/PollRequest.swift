public import ChatCore
public import ChatModel
public import HTTPServer
import Locking

/// The selection, position and limits of a poll.
public struct PollRequest: Sendable {
    /// The caller, which is checked again while the poll waits.
    public var caller: Caller
    /// The channels, types and filter of the events that it waits for.
    public var selection: Selection
    /// The channel groups that it follows, if any.
    public var groups: GroupSelection?
    /// The maximum number of events in a response.
    public var limit: Int
    /// The position up to which its client has received events.
    public var after: Timetoken
    /// The maximum time for which it is held without events, in whole seconds.
    public var hold: Duration
    /// Formats the response for the interface that received the request.
    public var formatter: any PollFormatter
    /// The number of audience changes before its user's channels were looked up
    /// (``LongPollTable/audienceChanges(in:)``); nil where the poll has no user.
    public var audienceChanges: UInt64?

    /// A poll that follows no groups.
    public init(
        caller: Caller, selection: Selection, limit: Int, after: Timetoken, hold: Duration, formatter: any PollFormatter
    ) {
        self.caller = caller
        self.selection = selection
        self.limit = limit
        self.after = after
        self.hold = hold
        self.formatter = formatter
    }
}

/// Formats poll responses for one interface. All calls are made on the loop and must not block.
public protocol PollFormatter: Sendable {
    /// True when its readers see the event; a poll does not end for an event that they do not see.
    func shows(_ event: Event) -> Bool
    /// True when `shows` may be expensive, so that not all waiting polls are asked in one turn of the loop.
    var hasFilter: Bool { get }
    /// True when the conditions under which the poll began still hold.
    func isInForce(_ order: PollRequest) -> Bool
    /// True when the next poll of the same client may be refused although this one was accepted. This poll then gets an
    /// empty response.
    var needsRecheck: Bool { get }
    /// Sends the events of a batch, which may be empty, as the response.
    func answer(_ batch: PollBatch, to reply: DeferredResponse)
    /// Sends an error as the response.
    func refuse(_ error: ChatError, to reply: DeferredResponse)
    /// Called when the poll has ended: it was answered or refused, or its client disconnected.
    func ended()
}

extension PollFormatter {
    /// Does nothing.
    public func ended() {}
    /// False by default.
    public var hasFilter: Bool { false }
    /// False by default.
    public var needsRecheck: Bool { false }
}

extension PollBatch {
    /// The maximum size in bytes of events that are printed on the loop. Printing a few times as much takes a
    /// millisecond.
    private static let printedAtOnce = 64 * 1024

    /// The batch as an interface prints it. A long batch is printed on the worker threads, because all connections wait
    /// for the loop.
    public func printed<Answer: Sendable>(_ print: @Sendable (PollBatch) -> Answer) async -> Answer {
        var weight = 0
        for event in events { weight += event.draft.weight }
        guard weight > Self.printedAtOnce else { return print(self) }
        return await asLongWork { print(self) }
    }
}

/// The result of starting a poll.
public enum PollOutcome: Sendable {
    /// The response is available: there are events, or the poll does not wait.
    case now(PollBatch)
    /// The poll waits. The response is sent later, as the request's formatter prints it.
    case deferred(DeferredStart)
}
