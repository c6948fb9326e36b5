public import ChatCore
public import ChatModel
public import HTTPServer
import Locking

/// The selection, position and limits of a poll. A class, because a request is passed on several times.
public final class PollRequest: Sendable {
    /// The caller, which is checked again while the poll waits.
    public let caller: Caller
    /// The channels, types and filter of the events for which the poll waits.
    public let selection: Selection
    /// The channel groups that the poll follows; nil for none.
    public let groups: GroupSelection?
    /// The maximum number of events in a response.
    public let limit: Int
    /// The position in the event log up to which the client has received events.
    public let after: Timetoken
    /// The maximum time for which the poll waits for events, in whole seconds.
    public let hold: Duration
    /// Formats the response for the interface that received the request.
    public let formatter: any PollFormatter
    /// The hub's count of audience changes (events that change who may read a channel), read before the user's channels
    /// were looked up (``LongPollTable/audienceChanges(in:)``); nil for a poll without a user.
    public let audienceChanges: UInt64?

    /// Creates a poll. The parameters are the properties with the same names.
    public init(
        caller: Caller, selection: Selection, groups: GroupSelection? = nil, limit: Int, after: Timetoken,
        hold: Duration, formatter: any PollFormatter, audienceChanges: UInt64? = nil
    ) {
        self.caller = caller
        self.selection = selection
        self.groups = groups
        self.limit = limit
        self.after = after
        self.hold = hold
        self.formatter = formatter
        self.audienceChanges = audienceChanges
    }
}

/// Formats poll responses for one interface. All methods are called on the loop, so they must not block.
public protocol PollFormatter: Sendable {
    /// Returns true when the event ends the poll: the client receives the event, or must send another request because
    /// of it.
    func shows(_ event: Event) -> Bool
    /// True when `shows` may take long. The events of many polls are then examined in several iterations of the loop.
    var hasFilter: Bool { get }
    /// Returns true while the credential of the poll is valid and covers the poll's selection.
    func isInForce(_ order: PollRequest) -> Bool
    /// True when the rights of the client must be checked again although its credential is valid. The poll then gets an
    /// empty response, and the client's next request is checked.
    var needsRecheck: Bool { get }
    /// Sends the events of a batch as the response. The batch may be empty.
    func answer(_ batch: PollBatch, to reply: DeferredResponse)
    /// Sends an error as the response.
    func refuse(_ error: ChatError, to reply: DeferredResponse)
    /// Called when the poll has ended: a response or an error was sent, or the client disconnected.
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
    /// The maximum total size, in bytes, of the events of a batch that is printed on the loop. Printing a batch of
    /// several times this size takes a millisecond.
    private static let printedAtOnce = 64 * 1024

    /// Returns the batch as an interface prints it. A large batch is printed on the worker threads, because all
    /// connections wait for the loop.
    public nonisolated(nonsending) func printed<Answer: Sendable>(
        _ print: @Sendable (PollBatch) -> Answer
    ) async -> Answer {
        var weight = 0
        for event in events { weight += event.weight }
        guard weight > Self.printedAtOnce else { return print(self) }
        return await asLongWork { print(self) }
    }
}

/// The result of starting a poll.
public enum PollOutcome: Sendable {
    /// The response is available, because there are events or the poll does not wait.
    case now(PollBatch)
    /// The poll waits. The request's formatter sends the response later.
    case deferred(DeferredStart)
}
