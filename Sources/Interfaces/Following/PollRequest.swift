public import ChatCore
public import ChatModel
public import HTTPServer
import Locking

/// What a client waits for.
public struct PollRequest: Sendable {
    public var caller: Caller
    public var selection: Selection
    /// The channel groups it follows, if any.
    public var groups: GroupSelection?
    /// How many events one answer has at most.
    public var limit: Int
    /// What its client knows already.
    public var after: Timetoken
    /// How long it is held while there is nothing to say; whole seconds.
    public var hold: Duration
    public var voice: any PollFormatter
    /// How many changes of who may hear there had been before its user was asked for (``LongPollTable/audienceChanges()``); nil
    /// where nobody was asked for.
    public var audienceChanges: UInt64?

    public init(
        caller: Caller, selection: Selection, limit: Int, after: Timetoken, hold: Duration, voice: any PollFormatter
    ) {
        self.caller = caller
        self.selection = selection
        self.limit = limit
        self.after = after
        self.hold = hold
        self.voice = voice
    }
}

/// How a wire language speaks to those who wait. Every call comes on the loop and must not wait.
public protocol PollFormatter: Sendable {
    /// Whether its readers see the event at all; nobody is woken for one they do not.
    func shows(_ event: Event) -> Bool
    /// Whether that may be long work, so that not all who wait are asked in one turn of the loop.
    var asksFilters: Bool { get }
    /// Whether what the poll was begun with still holds.
    func isInForce(_ order: PollRequest) -> Bool
    /// Whether the next poll of the same client may be refused where this one was let in: it is answered with nothing.
    var isToBeAskedAgain: Bool { get }
    func answer(_ batch: PollBatch, to reply: DeferredResponse)
    func refuse(_ error: ChatError, to reply: DeferredResponse)
    /// The poll is over, whether it was answered, refused or given up by its client.
    func ended()
}

extension PollFormatter {
    public func ended() {}
    public var asksFilters: Bool { false }
    public var isToBeAskedAgain: Bool { false }
}

extension PollBatch {
    /// Bytes of events that are printed where the poll is handled; more takes a millisecond for each few of them.
    private static let printedAtOnce = 64 * 1024

    /// The batch as a wire prints it. A long batch is printed on the threads of long work: everybody waits for the loop.
    public func printed<Answer: Sendable>(_ print: @Sendable (PollBatch) -> Answer) async -> Answer {
        var weight = 0
        for event in events { weight += event.draft.weight }
        guard weight > Self.printedAtOnce else { return print(self) }
        return await asLongWork { print(self) }
    }
}

/// What comes of a poll.
public enum PollOutcome: Sendable {
    /// There is something to say, or nothing to wait for.
    case now(PollBatch)
    /// It is answered by its voice.
    case later(DeferredStart)
}
