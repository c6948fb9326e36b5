public import JSON

/// The log of events, totally ordered. Assigning a timetoken and making the event visible is a single step: once a
/// reader has seen watermark T, no event at or below T appears later.
public protocol EventLog: Sendable {
    /// Appends drafts, all or none. The results are in the order of the drafts.
    ///
    /// When it returns, kept events survive a power failure, and the watermark covers all of them.
    ///
    /// The log does not check names and sizes: the caller has (`ChatAccess.prepare`).
    /// - Parameter revision: the directory revision at which the drafts' users were authorized. In the same step, the
    ///   log checks whether any of ``EventDraft/rightsKeys`` has changed since. Nil: the append depends on no
    ///   records.
    /// - Throws: `.overloaded` when too many requests wait, and `.unavailable` when the store cannot be reached in
    ///   time: nothing was stored, and a retry may succeed. `.outcomeUnknown` when the store failed during the commit;
    ///   `.storageFull` when the disk is full; `.conflict` when the claim's key was used with another fingerprint;
    ///   `.stale` when a record has changed, and nothing was stored.
    nonisolated(nonsending) func append(
        _ drafts: [EventDraft], claim: Claim?, unlessChangedSince revision: Revision?
    ) async throws(ChatError) -> AppendOutcome

    /// The result of an earlier append with this claim's key, within the repeat window; nil when there was none. For a
    /// repeat that could not be appended now because rights or schemas have changed since.
    /// - Throws: `.conflict` when the key was used with another fingerprint.
    func earlier(_ claim: Claim) async throws(ChatError) -> RepeatedAppend?

    /// The position up to which all events of `app` are visible, and above which none is yet. It reveals nothing about
    /// other apps, because it moves only with events of this app. For `.gateway`, the position of the whole log. Cheap
    /// enough to call for every request.
    func watermark(of app: AppID) async throws(ChatError) -> Timetoken

    /// The loss of a reader of these channels and types that has everything up to `position`; nil when there is none.
    /// Lost events are kept events that retention has removed, and events stored after the backup from which the log
    /// was restored. An event with its sender's expiry, a deleted event and an event that is never kept do not count as
    /// lost.
    ///
    /// Losses on other channels or of other types are not reported. If the exact answer would take too long, a possible
    /// loss is reported.
    func loss(
        in channels: ChannelSet, types: [NamePattern], after position: Timetoken
    ) async throws(ChatError) -> Loss?

    /// Kept and passing events after `position`, oldest first, never above the watermark.
    ///
    /// `Page.position` is where to continue: everything up to it was examined, even when no event matched.
    func events(in channels: ChannelSet, after position: Timetoken, limit: Int) async throws(ChatError) -> Page<Event>

    /// Kept events of a set of channels, imported or emitted, strictly between two positions. Excludes events of other
    /// channels that echo on one of these.
    ///
    /// `Page.position` is where to continue, as in `history`: a page may be empty although more follow.
    func kept(in channels: ChannelSet, _ stretch: LogRange, limit: Int) async throws(ChatError) -> Page<Event>

    /// Kept events of several channels, each newest first or oldest first within its own bounds. Returns one page per
    /// request; an unknown channel has an empty page.
    func history(_ requests: [HistoryRequest]) async throws(ChatError) -> [Page<Event>]

    /// The number of kept events that `history` would return per request, with the same bounds and filters, up to
    /// `countMost`. Order and limit are ignored.
    func counts(_ requests: [HistoryRequest]) async throws(ChatError) -> [Int]

    /// One event by its timetoken, kept or passing; nil when `app` has no such event, or no longer has it.
    func event(at timetoken: Timetoken, in app: AppID) async throws(ChatError) -> Event?

    /// Removes the kept events strictly between the bounds from view, at once and permanently. Returns the number of
    /// events.
    func delete(after: Timetoken, before: Timetoken, in channel: ChannelID) async throws(ChatError) -> Int

    /// Sets how long kept events of an app stay readable; nil: forever. Older events are hidden at once and removed
    /// later.
    func setRetention(_ age: Duration?, of app: AppID) async throws(ChatError)

    /// The commits to hand to this node's subscribers: each event once, in timetoken order per app, from the call on.
    ///
    /// Complete: a consumer that falls behind is fed from the store. Ends only on `close()`.
    func committed() async -> CommitSequence
}

/// A loss of events that affects a resuming reader.
public struct Loss: Sendable, Equatable {
    /// The reason for a loss.
    public enum Cause: String, Sendable { case retention, restore }

    /// The last position that the loss affects.
    public var upTo: Timetoken
    /// The reason.
    public var cause: Cause

    /// A loss of events up to a position.
    public init(upTo: Timetoken, cause: Cause) {
        self.upTo = upTo
        self.cause = cause
    }
}

extension EventLog {
    /// Appends drafts that depend on no records.
    ///
    /// - Throws: as ``EventLog/append(_:claim:unlessChangedSince:)``.
    public nonisolated(nonsending) func append(
        _ drafts: [EventDraft], claim: Claim?
    ) async throws(ChatError) -> AppendOutcome {
        try await append(drafts, claim: claim, unlessChangedSince: nil)
    }
}

extension EventDraft {
    /// The records that decide whether the draft's user may write on its channel and who may receive the event.
    public var rightsKeys: [RecordKey] {
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
    /// One entry per draft, in their order; for a repeated claim, the first call's events.
    public var events: [Appended]
    /// The first call's note, when the claim was made before; nothing was stored by this call. Nil otherwise.
    public var repeatedNote: JSONText?
    /// The etag of the record that was stored with a sent message; nil for a message without a record, and for other
    /// events.
    public var messageETag: String?

    /// The outcome of an append or, with a note, of its repeat.
    public init(events: [Appended], repeatedNote: JSONText? = nil) {
        self.events = events
        self.repeatedNote = repeatedNote
    }
}

/// The result of an earlier append with a claim.
public struct RepeatedAppend: Sendable {
    /// The positions of the events, in the order of the drafts.
    public var timetokens: [Timetoken]
    /// The events in the order of `timetokens`; nil for one that is gone (deleted, expired or passing).
    public var events: [Event?]
    /// The note of the claim at that time.
    public var note: JSONText

    /// The result that the log has stored for a claim.
    public init(timetokens: [Timetoken], events: [Event?], note: JSONText) {
        self.timetokens = timetokens
        self.events = events
        self.note = note
    }
}

/// The result of appending one draft.
public struct Appended: Sendable {
    /// The event with its timetoken.
    public var event: Event
    /// True when the channel has already seen the deduplication key. `event` is then the first event, even if its
    /// payload differs.
    public var isDuplicate: Bool

    /// The result for one draft.
    public init(event: Event, isDuplicate: Bool) {
        self.event = event
        self.isDuplicate = isDuplicate
    }
}

/// One commit as readers see it: its events in timetoken order, and the position up to which the log is now complete.
public struct Commit: Sendable {
    /// The committed events, in timetoken order.
    public var events: [Event]
    /// The position up to which the log is complete.
    public var watermark: Timetoken

    /// A commit with its events.
    public init(events: [Event], watermark: Timetoken) {
        self.events = events
        self.watermark = watermark
    }
}

/// A sequence of commits, type-erased. It has one `next` per batch, so the erasure has no cost per event.
///
/// Iteration stays on the caller's executor, so a commit does not move the hub to the global thread pool.
public struct CommitSequence: AsyncSequence, Sendable {
    /// One commit.
    public typealias Element = Commit
    /// The sequence ends without an error.
    public typealias Failure = Never

    /// Waits for the next commit; nil at the end.
    public typealias Next = nonisolated(nonsending) @Sendable () async -> Commit?

    private let make: @Sendable () -> AsyncIterator

    /// A sequence of the commits that a function returns.
    public init(_ next: @escaping Next) {
        make = { AsyncIterator(nextCommit: next) }
    }

    public func makeAsyncIterator() -> AsyncIterator { make() }

    /// Iterates over the commits.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let nextCommit: Next
        public nonisolated(nonsending) mutating func next() async -> Commit? { await nextCommit() }
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Commit? { await nextCommit() }
    }
}

/// The idempotency claim of a request: a repeat gets the same answer. It commits with the request's events.
public struct Claim: Sendable {
    /// The app of the request.
    public var app: AppID
    /// The hash of the scope: app, credential, method, route and the sender's key. 32 bytes.
    public var key: [UInt8]
    /// The hash of the request. A repeat with another fingerprint fails with `.conflict`.
    public var fingerprint: [UInt8]
    /// The data needed beside the timetokens to print the same answer.
    public var note: JSONText
    /// The time until which a repeat is recognized.
    public var until: Timetoken

    /// A claim of one request.
    public init(app: AppID, key: [UInt8], fingerprint: [UInt8], note: JSONText, until: Timetoken) {
        self.app = app
        self.key = key
        self.fingerprint = fingerprint
        self.note = note
        self.until = until
    }
}

/// A set of channels of one app: exact names and prefixes.
public struct ChannelSet: Sendable, Hashable {
    /// The app of the channels.
    public var app: AppID
    /// The exact names.
    public var names: Set<ExactText>
    /// The text before `*`, including the last dot.
    public var prefixes: Set<ExactText>
    /// True for every channel except `$system`.
    public var isAll: Bool
    /// True when events also match by their echoes.
    public var receivesEchoes = false

    /// A set of names and prefixes.
    public init(app: AppID, names: [String] = [], prefixes: [String] = [], isAll: Bool = false) {
        self.app = app
        self.names = Set(names.map { ExactText($0) })
        self.prefixes = Set(prefixes.map { ExactText($0) })
        self.isAll = isAll
    }

    /// The channels that any of the patterns matches.
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

    /// True when the channel is in the set.
    public func contains(_ channel: ChannelID) -> Bool {
        guard channel.app == app else { return false }
        if names.contains(ExactText(channel.name)) { return true }
        if isAll, !channel.isSystem { return true }
        return prefixes.contains { NamePattern.below($0.text).matches(channel.name) }
    }

    /// True when the event is on one of the channels, or echoes on one of them and ``receivesEchoes`` is set.
    public func find(_ event: Event) -> Bool {
        if contains(event.channel) { return true }
        guard receivesEchoes else { return false }
        return event.draft.echoes.contains { contains(ChannelID($0, in: event.channel.app)) }
    }
}

/// A range of the log, and the direction in which it is read.
public struct LogRange: Sendable, Equatable {
    /// The lower bound, exclusive.
    public var after: Timetoken
    /// The upper bound, exclusive.
    public var before: Timetoken
    /// The direction of reading.
    public var order: HistoryRequest.Order

    /// A range between two positions; without bounds, the whole log.
    public init(after: Timetoken = .zero, before: Timetoken = .distantFuture, order: HistoryRequest.Order) {
        self.after = after
        self.before = before
        self.order = order
    }

    /// The rest of the range after a position up to which everything was read.
    public func rest(behind position: Timetoken) -> LogRange {
        var rest = self
        switch order {
        case .newestFirst: rest.before = min(before, position)
        case .oldestFirst: rest.after = max(after, position)
        }
        return rest
    }
}

/// A query for one channel's kept events.
public struct HistoryRequest: Sendable {
    /// The direction of reading, by timetoken.
    public enum Order: Sendable { case oldestFirst, newestFirst }
    /// A condition on the thread of an event.
    public enum Thread: Sendable, Equatable {
        case any
        /// Events that belong to no thread.
        case none
        /// Events that belong to the thread of this message.
        case of(Timetoken)
    }

    /// The channel to read.
    public var channel: ChannelID
    /// The lower bound, exclusive.
    public var after: Timetoken
    /// The upper bound, exclusive.
    public var before: Timetoken
    /// The direction of reading.
    public var order: Order
    /// The maximum number of events in a page.
    public var limit: Int
    /// The kinds to include; empty: all.
    public var kinds: Set<EventKind> = []
    /// The types to include; empty: all.
    public var types: [NamePattern] = []
    /// The user who caused the events; nil: any.
    public var user: String?
    /// The condition on the thread.
    public var thread = Thread.any
    /// The maximum for counting. Counting stops there and reads no further.
    public var countMost = Int.max

    /// A request for the kept events of a channel between two positions, without further conditions.
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
    /// The request for the events after a page of this request; nil at the end. A page may be empty although more
    /// follow, because it ends after a fixed number of rows whether or not they match.
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
    /// The items, in the order of the list.
    public var items: [Item]
    /// True when further items may follow.
    public var hasMore: Bool
    /// For pages of events: the position up to which everything was examined. Zero where it has no meaning.
    public var position: Timetoken
    /// For pages of records and deliveries: an opaque cursor; nil on the last page.
    public var cursor: String?
    /// For pages of records and deliveries whose query sets `wantsCursors`: the cursor after each item.
    public var cursors: [String] = []
    /// The number of all matches; nil unless the query asks for it.
    public var total: Int?

    /// A page of a list; by default the last one.
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
