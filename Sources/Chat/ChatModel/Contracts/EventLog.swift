public import JSON

/// One totally ordered log per lane. Taking a timetoken and making the event visible is a single step: once a reader has
/// seen watermark T, nothing at or below T appears later.
public protocol EventLog: Sendable {
    /// Appends drafts, all those of one lane as a unit; results in the order of the drafts.
    ///
    /// When it returns, kept events survive loss of power, and the watermark covers all of them.
    /// - Parameter revision: the directory's when the drafts' users were found entitled. The log looks in the same step
    ///   whether any of ``EventDraft/standingKeys`` has changed since. Nil: nothing depends on records.
    /// - Throws: `.overloaded` (nothing stored, ask again), `.unavailable` (nothing stored), `.outcomeUnknown`,
    ///   `.storageFull`; `.conflict` when the claim's key was used with another fingerprint; `.stale` when a record has
    ///   changed (nothing stored).
    nonisolated(nonsending) func append(
        _ drafts: [EventDraft], claim: Claim?, unlessChangedSince revision: Revision?
    ) async throws(ChatError) -> AppendOutcome

    /// What an append with this claim's key stored within the window; nil when there was none. For a repeat that could
    /// not be appended now, because rights or schemas have changed since.
    /// - Throws: `.conflict` when the key was used with another fingerprint.
    func earlier(_ claim: Claim) async throws(ChatError) -> RepeatedAppend?

    /// A position up to which everything in `app` is visible, and above which nothing of it is yet. It says nothing of what
    /// others do: it moves with events of the space alone. Of `.gateway`: that of the whole log. Cheap: callers ask per
    /// request.
    func watermark(of app: AppID) async throws(ChatError) -> Timetoken

    /// The loss of a reader of these channels and types who has everything up to `position`; nil when there is none. Lost are
    /// kept events that retention has ended, and those that were stored after the backup that the log was restored from. No
    /// loss is an event that its sender gave an end, that somebody deleted, or that is never kept.
    ///
    /// It tells nobody of a loss on other channels or of other types. Where that cannot be found out within bounds, it tells of
    /// one that there may have been.
    func loss(
        in channels: ChannelSet, types: [NamePattern], after position: Timetoken
    ) async throws(ChatError) -> Loss?

    /// Kept and passing events after `position`, oldest first, never above the watermark.
    ///
    /// `Page.position` is where to continue: everything up to it has been looked at, also when no event matched.
    func events(in channels: ChannelSet, after position: Timetoken, limit: Int) async throws(ChatError) -> Page<Event>

    /// Kept events of a set of channels, moved here or emitted, strictly between two places. An event of another channel
    /// that echoes on one of these is not among them.
    ///
    /// `Page.position` is where to continue, as in `history`: a page may be empty though more are to come.
    func kept(in channels: ChannelSet, _ stretch: LogRange, limit: Int) async throws(ChatError) -> Page<Event>

    /// Kept events of several channels, each newest first or oldest first within its own bounds. One page per request;
    /// an unknown channel gives an empty one.
    func history(_ requests: [HistoryRequest]) async throws(ChatError) -> [Page<Event>]

    /// How many kept events `history` would give per request, bounds and filters as there, up to `countMost`; order and
    /// limit are ignored.
    func counts(_ requests: [HistoryRequest]) async throws(ChatError) -> [Int]

    /// One event by its place, kept or passing; nil when there is none (any more) in `app`.
    func event(at timetoken: Timetoken, in app: AppID) async throws(ChatError) -> Event?

    /// Hides the kept events strictly between the bounds at once, for good. Returns how many it hid.
    func delete(after: Timetoken, before: Timetoken, in channel: ChannelID) async throws(ChatError) -> Int

    /// How long kept events of a space stay readable; nil is for ever. What is older is hidden at once and removed later.
    func setRetention(_ age: Duration?, of app: AppID) async throws(ChatError)

    /// What this node must offer its subscribers: each event once, in timetoken order per space, from the call on.
    ///
    /// Complete: a consumer that falls behind is fed from the store. Ends only on `close()`.
    func committed() async -> CommitSequence
}

/// A loss that a resuming reader may have.
public struct Loss: Sendable, Equatable {
    public enum Cause: String, Sendable { case retention, restore }

    /// Nothing above this place is lost.
    public var upTo: Timetoken
    public var cause: Cause

    public init(upTo: Timetoken, cause: Cause) {
        self.upTo = upTo
        self.cause = cause
    }
}

extension EventLog {
    /// Appends what depends on no record.
    public nonisolated(nonsending) func append(
        _ drafts: [EventDraft], claim: Claim?
    ) async throws(ChatError) -> AppendOutcome {
        try await append(drafts, claim: claim, unlessChangedSince: nil)
    }
}

extension EventDraft {
    /// The records that say whether its user may write on its channel, and for whom the channel is.
    public var standingKeys: [RecordKey] {
        let place = ChannelRecord.key(channel.name, in: channel.app)
        guard let user else { return [place] }
        return [
            place, RestrictionRecord.key(user, channel.name, in: channel.app),
            MembershipRecord.key(user, channel.name, in: channel.app),
        ]
    }
}

/// The result of one `append`.
public struct AppendOutcome: Sendable {
    /// One per draft, in their order; for a repeated claim, the first call's events.
    public var events: [Appended]
    /// The first call's note when the claim had been made before; then nothing was stored now.
    public var repeatedNote: JSONText?

    public init(events: [Appended], repeatedNote: JSONText? = nil) {
        self.events = events
        self.repeatedNote = repeatedNote
    }
}

/// What an append with a claim stored.
public struct RepeatedAppend: Sendable {
    public var timetokens: [Timetoken]
    /// In the same order; nil for one that is gone (deleted, expired, passing).
    public var events: [Event?]
    /// The claim's note of that time.
    public var note: JSONText

    public init(timetokens: [Timetoken], events: [Event?], note: JSONText) {
        self.timetokens = timetokens
        self.events = events
        self.note = note
    }
}

public struct Appended: Sendable {
    public var event: Event
    /// The channel had seen the deduplication key: `event` is the first one, even if the payload differs.
    public var isDuplicate: Bool

    public init(event: Event, isDuplicate: Bool) {
        self.event = event
        self.isDuplicate = isDuplicate
    }
}

/// One commit as readers see it: its events in timetoken order, and the position that is now complete.
public struct Commit: Sendable {
    public var events: [Event]
    public var watermark: Timetoken

    public init(events: [Event], watermark: Timetoken) {
        self.events = events
        self.watermark = watermark
    }
}

/// The sequence of commits, type-erased: one `next` per batch, so the erasure costs nothing per event.
///
/// Whoever iterates it stays on its own executor: a commit costs the hub no visit to the pool of the process.
public struct CommitSequence: AsyncSequence, Sendable {
    public typealias Element = Commit
    public typealias Failure = Never

    public typealias Next = nonisolated(nonsending) @Sendable () async -> Commit?

    private let make: @Sendable () -> AsyncIterator

    public init(_ next: @escaping Next) {
        make = { AsyncIterator(nextCommit: next) }
    }

    public func makeAsyncIterator() -> AsyncIterator { make() }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let nextCommit: Next
        public nonisolated(nonsending) mutating func next() async -> Commit? { await nextCommit() }
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Commit? { await nextCommit() }
    }
}

/// A request's promise to be answered alike when repeated (`conventions.md` 6). Commits with its events.
public struct Claim: Sendable {
    public var app: AppID
    /// Hash of the scope: app, credential, method, route, and the sender's key. 32 bytes.
    public var key: [UInt8]
    /// Hash of the request: a repeat with another one is a `.conflict`.
    public var fingerprint: [UInt8]
    /// What is needed beside the timetokens to print the same answer.
    public var note: JSONText
    public var until: Timetoken

    public init(app: AppID, key: [UInt8], fingerprint: [UInt8], note: JSONText, until: Timetoken) {
        self.app = app
        self.key = key
        self.fingerprint = fingerprint
        self.note = note
        self.until = until
    }
}

/// Channels of one space: exact names and everything below prefixes.
public struct ChannelSet: Sendable, Hashable {
    public var app: AppID
    public var names: Set<ExactText>
    /// The text before `*`, last dot included.
    public var prefixes: Set<ExactText>
    /// Every channel but `$system`.
    public var isAll: Bool
    /// Whether events are found by their echoes as well.
    public var hearsEchoes = false

    public init(app: AppID, names: [String] = [], prefixes: [String] = [], isAll: Bool = false) {
        self.app = app
        self.names = Set(names.map { ExactText($0) })
        self.prefixes = Set(prefixes.map { ExactText($0) })
        self.isAll = isAll
    }

    public init(app: AppID, patterns: some Sequence<NamePattern>) {
        self.init(app: app)
        for pattern in patterns {
            switch pattern {
            case .exact(let name): names.insert(ExactText(name))
            case .below(let prefix): prefixes.insert(ExactText(prefix))
            case .all: isAll = true
            }
        }
    }

    public func contains(_ channel: ChannelID) -> Bool {
        guard channel.app == app else { return false }
        if names.contains(ExactText(channel.name)) { return true }
        if isAll, !channel.isSystem { return true }
        return prefixes.contains { NamePattern.below($0.text).matches(channel.name) }
    }

    /// Whether the event is on one of the channels, by an echo where these hear echoes.
    public func find(_ event: Event) -> Bool {
        if contains(event.channel) { return true }
        guard hearsEchoes else { return false }
        return event.draft.echoes.contains { contains(ChannelID($0, in: event.channel.app)) }
    }
}

/// A stretch of the log, and the direction in which it is read.
public struct LogRange: Sendable, Equatable {
    /// Exclusive.
    public var after: Timetoken
    /// Exclusive.
    public var before: Timetoken
    public var order: HistoryRequest.Order

    public init(after: Timetoken = .zero, before: Timetoken = .distantFuture, order: HistoryRequest.Order) {
        self.after = after
        self.before = before
        self.order = order
    }

    /// The rest of the stretch, behind a place up to which everything has been read.
    public func rest(behind position: Timetoken) -> LogRange {
        var rest = self
        switch order {
        case .newestFirst: rest.before = min(before, position)
        case .oldestFirst: rest.after = max(after, position)
        }
        return rest
    }
}

/// What to read of one channel's kept events.
public struct HistoryRequest: Sendable {
    public enum Order: Sendable { case oldestFirst, newestFirst }
    /// Which events by the threads they belong to.
    public enum Thread: Sendable, Equatable {
        case any
        /// What belongs to no thread.
        case none
        /// What belongs to the thread of this message.
        case of(Timetoken)
    }

    public var channel: ChannelID
    /// Exclusive.
    public var after: Timetoken
    /// Exclusive.
    public var before: Timetoken
    public var order: Order
    public var limit: Int
    /// Empty: every kind.
    public var kinds: Set<EventKind> = []
    /// Empty: every type. Patterns as in `NamePattern`.
    public var types: [NamePattern] = []
    public var user: String?
    public var thread = Thread.any
    /// More than these are not counted, and not looked at for it.
    public var countMost = Int.max

    public init(
        channel: ChannelID, after: Timetoken = .zero, before: Timetoken = .distantFuture,
        order: Order = .oldestFirst, limit: Int
    ) {
        self.channel = channel
        self.after = after
        self.before = before
        self.order = order
        self.limit = limit
    }
}

extension HistoryRequest {
    /// The rest behind a page that this request gave, which may hold nothing though there is more: a page ends after so
    /// many rows, whether or not they pass its conditions. Nil at the end.
    public func rest(behind page: Page<Event>) -> HistoryRequest? {
        guard page.hasMore else { return nil }
        var rest = self
        switch order {
        case .newestFirst: rest.before = page.position
        case .oldestFirst: rest.after = page.position
        }
        return rest
    }
}

/// A bounded part of a longer list.
public struct Page<Item: Sendable>: Sendable {
    public var items: [Item]
    public var hasMore: Bool
    /// For pages of events: everything up to here has been looked at. Zero where it has no meaning.
    public var position: Timetoken
    /// For pages of records and deliveries: opaque; nil on the last page.
    public var cursor: String?
    /// For pages of records and deliveries, where the query asks for them (`wantsCursors`): the cursor behind each item.
    public var cursors: [String] = []
    /// Counted only when asked for.
    public var total: Int?

    public init(
        items: [Item], hasMore: Bool = false, position: Timetoken = .zero, cursor: String? = nil, total: Int? = nil
    ) {
        self.items = items
        self.hasMore = hasMore
        self.position = position
        self.cursor = cursor
        self.total = total
    }
}
