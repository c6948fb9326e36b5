public import JSON

/// The log of events, in the order of their timetokens. A timetoken is an event's time and its position in the log.
///
/// The *watermark* of an app is the position up to which the event log is complete: once a reader has seen watermark T,
/// no event at or below T appears later.
public protocol EventLog: Sendable {
    /// Appends drafts, all or none. The result has one entry per draft, in the same order.
    ///
    /// When the call returns, durable events survive a power failure, and the watermark is at or above the timetokens
    /// of all appended events.
    ///
    /// The event log does not check names and sizes. `ChatAccess` must have done so.
    /// - Parameter revision: the directory revision at which the drafts' users were authorized. In the same step, the
    ///   event log checks whether any record of ``EventDraft/rightsKeys`` has changed after this revision. When
    ///   `revision` is nil, nothing is checked.
    /// - Throws: `.overloaded` when too many requests wait, `.unavailable` when the store cannot be reached in time,
    ///   and `.stale` when a checked record has changed; then nothing was stored, and a retry may succeed.
    ///   `.outcomeUnknown` when the store failed during the commit. `.storageFull` when the disk is full. `.conflict`
    ///   when the claim's key was used with another fingerprint.
    nonisolated(nonsending) func append(
        _ drafts: [EventDraft], claim: Claim?, unlessChangedSince revision: Revision?
    ) async throws(ChatError) -> AppendOutcome

    /// Appends drafts like ``append(_:claim:unlessChangedSince:)`` without a claim, and passes the result to
    /// `completion`, on any thread. `completion` must be short. The caller needs no task.
    func append(
        _ drafts: [EventDraft], unlessChangedSince revision: Revision,
        completion: @escaping @Sendable (Result<AppendOutcome, ChatError>) -> Void)

    /// Appends ephemeral drafts without waiting, all or none. Returns one event per draft, in the same order, or nil
    /// when nothing was appended. Call ``append(_:claim:unlessChangedSince:)`` then. If the drafts were appended, they
    /// were moved into the events, and `drafts` is empty.
    ///
    /// The result is nil if a draft needs a commit, if records have changed after `revision`, or if the event log
    /// cannot assign timetokens at the moment. The call may return nil for any other reason.
    func appendAtOnce(_ drafts: inout [EventDraft], unlessChangedSince revision: Revision) -> [Event]?

    /// The result of an earlier append with this claim's key (an idempotency key), within the repeat window; nil when
    /// there was none. Use it for a repeated request that could not be appended now because rights or schemas have
    /// changed since.
    /// - Throws: `.conflict` when the key was used with another fingerprint.
    func earlier(_ claim: Claim) async throws(ChatError) -> RepeatedAppend?

    /// The position up to which all events of `app` are visible. Every later event gets a higher position. Only events
    /// of this app move the watermark, so it reveals nothing about other apps. For `.gateway`, this is the position of
    /// the whole log. The call is cheap enough for every request.
    nonisolated(nonsending) func watermark(of app: AppID) async throws(ChatError) -> Timetoken

    /// The watermark of `app`, if it is known without waiting and no event after `position` can be lost; nil otherwise.
    func watermarkAtOnce(of app: AppID, ifCompleteAfter position: Timetoken) -> Timetoken?

    /// The events after `position` that a reader of the given channels and types can no longer read; nil when nothing
    /// is lost. Lost events are durable events that retention has removed, and events stored after the backup from
    /// which the event log was restored. Deleted events, ephemeral events and events with an expiry set by the sender
    /// do not count as lost.
    ///
    /// Losses on other channels or of other types are not reported. If an exact result would take too long, a possible
    /// loss is reported.
    nonisolated(nonsending) func loss(
        in channels: ChannelSet, types: [NamePattern], after position: Timetoken
    ) async throws(ChatError) -> Loss?

    /// The durable and ephemeral events after `position`, oldest first, up to the watermark at most.
    ///
    /// To read the next page, pass `Page.position`: all events up to this position were examined, even when none
    /// matched.
    func events(in channels: ChannelSet, after position: Timetoken, limit: Int) async throws(ChatError) -> Page<Event>

    /// The result of ``events(in:after:limit:)``, if it is known without waiting; nil otherwise.
    func eventsAtOnce(in channels: ChannelSet, after position: Timetoken, limit: Int) -> Page<Event>?

    /// The durable events of a set of channels, emitted or imported, strictly between two positions. Echoes are
    /// excluded: events of other channels that PubNub clients also receive on these channels.
    ///
    /// To read the next page, continue at `Page.position`. A page may be empty although more events follow.
    func kept(in channels: ChannelSet, _ stretch: LogRange, limit: Int) async throws(ChatError) -> Page<Event>

    /// The durable events of several channels, each with its own bounds and direction. Returns one page per request;
    /// the page of an unknown channel is empty.
    func history(_ requests: [HistoryRequest]) async throws(ChatError) -> [Page<Event>]

    /// The number of durable events per request that `history` would return without a limit, counted up to `countMost`.
    func counts(_ requests: [HistoryRequest]) async throws(ChatError) -> [Int]

    /// The event at a timetoken, durable or ephemeral; nil when `app` does not have it, or no longer has it.
    func event(at timetoken: Timetoken, in app: AppID) async throws(ChatError) -> Event?

    /// Deletes the durable events of a channel strictly between the bounds. The deleted events disappear from reads
    /// immediately and permanently. Returns the number of events.
    func delete(after: Timetoken, before: Timetoken, in channel: ChannelID) async throws(ChatError) -> Int

    /// Sets the time for which an app's durable events stay readable; nil: forever. Older events are hidden immediately
    /// and removed later.
    func setRetention(_ age: Duration?, of app: AppID) async throws(ChatError)

    /// The commits from now on, for this node's subscribers. Each event occurs once, in timetoken order per app.
    ///
    /// No commit is skipped: a consumer that falls behind reads from the store. The sequence ends only on `close()`.
    func committed() async -> CommitSequence
}

/// A loss of events that affects a resuming reader.
public struct Loss: Sendable, Equatable {
    /// The reason for a loss.
    public enum Cause: String, Sendable { case retention, restore }

    /// A position in the event log at or after the last lost event.
    public var upTo: Timetoken
    /// The reason for the loss.
    public var cause: Cause

    /// Creates the description of a loss of events up to a position.
    public init(upTo: Timetoken, cause: Cause) {
        self.upTo = upTo
        self.cause = cause
    }
}

extension EventLog {
    /// Appends the drafts in a task.
    public func append(
        _ drafts: [EventDraft], unlessChangedSince revision: Revision,
        completion: @escaping @Sendable (Result<AppendOutcome, ChatError>) -> Void
    ) {
        Task {
            do throws(ChatError) {
                completion(.success(try await append(drafts, claim: nil, unlessChangedSince: revision)))
            } catch {
                completion(.failure(error))
            }
        }
    }

    /// Appends nothing and returns nil. An event log that can append without waiting replaces this method.
    public func appendAtOnce(_: inout [EventDraft], unlessChangedSince _: Revision) -> [Event]? { nil }

    /// Returns nil. An event log that keeps recent events in memory replaces this method.
    public func eventsAtOnce(in _: ChannelSet, after _: Timetoken, limit _: Int) -> Page<Event>? { nil }

    /// Returns nil. An event log that knows its watermark without waiting replaces this method.
    public func watermarkAtOnce(of _: AppID, ifCompleteAfter _: Timetoken) -> Timetoken? { nil }

    /// Appends drafts without checking whether records have changed since the authorization.
    ///
    /// - Throws: the errors of ``EventLog/append(_:claim:unlessChangedSince:)``.
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

/// The result of one append.
public struct AppendOutcome: Sendable {
    /// One entry per draft, in the same order. For a repeated claim, the events of the first call.
    public var events: AppendedEvents
    /// The note of the first call (``Claim/note``), when this call repeats a claim and stored nothing; nil otherwise.
    public var repeatedNote: JSONText?
    /// The etag of the record stored with a message; nil for a message without a record, and for other events.
    public var messageETag: String?

    /// Creates the outcome of an append. With a note, it is the outcome of a repeated append.
    public init(events: AppendedEvents, repeatedNote: JSONText? = nil) {
        self.events = events
        self.repeatedNote = repeatedNote
    }
}

/// The result of an earlier append with a claim.
public struct RepeatedAppend: Sendable {
    /// The positions of the events, in the order of the drafts.
    public var timetokens: [Timetoken]
    /// The events in the order of `timetokens`. Nil for an event that no longer exists (deleted, expired or ephemeral).
    public var events: [Event?]
    /// The note that the first append stored (``Claim/note``).
    public var note: JSONText

    /// Creates the stored result of a claim.
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
    /// True when an earlier event on the channel has the same deduplication key. `event` is then the earlier event,
    /// even if its payload differs.
    public var isDuplicate: Bool

    /// Creates the result for one draft.
    @inlinable public init(event: Event, isDuplicate: Bool) {
        self.event = event
        self.isDuplicate = isDuplicate
    }
}

/// The results of appending several drafts, in the order of the drafts.
///
/// Contains the events in one array, so that new events need no array besides the one that the log passes to readers.
public struct AppendedEvents: RandomAccessCollection, ExpressibleByArrayLiteral, Sendable {
    @usableFromInline let events: [Event]
    /// The indices of the events for which `isDuplicate` is true.
    @usableFromInline let duplicates: Set<Int>

    /// Creates the results for new events.
    @inlinable public init(new events: [Event]) { (self.events, duplicates) = (events, []) }

    /// Creates a list of results.
    public init(_ results: [Appended]) {
        events = results.map(\.event)
        duplicates = Set(results.indices.filter { results[$0].isDuplicate })
    }

    public init(arrayLiteral results: Appended...) { self.init(results) }

    @inlinable public var startIndex: Int { 0 }
    @inlinable public var endIndex: Int { events.count }
    /// The result for the draft at this index.
    @inlinable public subscript(index: Int) -> Appended {
        Appended(event: events[index], isDuplicate: !duplicates.isEmpty && duplicates.contains(index))
    }

    /// The number of events that are not duplicates.
    @inlinable public var newCount: Int { events.count - duplicates.count }
}

/// One commit of the log: its events, and the position up to which the log is now complete.
public struct Commit: Sendable {
    /// The committed events, in timetoken order.
    public var events: [Event]
    /// The position up to which the event log is complete after the commit.
    public var watermark: Timetoken

    /// Creates a commit with its events.
    public init(events: [Event], watermark: Timetoken) {
        self.events = events
        self.watermark = watermark
    }
}

/// The next commits of a ``CommitSequence``, if they are in memory. A consumer that must not wait uses them instead of
/// iterating over the sequence. It iterates for a commit that is no longer in memory. Both ways share one position.
public protocol CommitsInMemory: Sendable {
    /// Returns the next commit if it is in memory, and nil otherwise. Small commits may be joined into one.
    func nextInMemory() -> Commit?

    /// Calls `callback` once, when there is another commit or the log is closed. Returns false, and never calls
    /// `callback`, if there is already another commit or the log is already closed. The callback runs on the thread that
    /// appends the commit or closes the log. That thread holds no lock of the log. The callback must be short.
    func notify(_ callback: @escaping @Sendable () -> Void) -> Bool
}

/// A sequence of commits, type-erased. Each `next` returns a whole commit, so the type erasure has no cost per event.
///
/// Iteration stays on the caller's executor.
public struct CommitSequence: AsyncSequence, Sendable {
    /// One commit.
    public typealias Element = Commit
    /// The sequence ends without an error.
    public typealias Failure = Never

    /// Waits for the next commit; nil at the end.
    public typealias Next = nonisolated(nonsending) @Sendable () async -> Commit?

    private let make: @Sendable () -> AsyncIterator

    /// The next commits, if they are in memory; nil if the log cannot return commits without waiting.
    public let inMemory: (any CommitsInMemory)?

    /// Creates a sequence of the commits that `next` returns. The sequence ends when `next` returns nil.
    public init(inMemory: (any CommitsInMemory)? = nil, _ next: @escaping Next) {
        self.inMemory = inMemory
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

/// The idempotency key of a request, committed with the request's events. A repeat of the request gets the same
/// response.
public struct Claim: Sendable {
    /// The app of the request.
    public var app: AppID
    /// The SHA-256 hash of the app, the credential, the method, the route and the client's key. 32 bytes.
    public var key: [UInt8]
    /// The hash of the request's content. If a repeat of the request has the same key but another fingerprint, it fails
    /// with `.conflict`.
    public var fingerprint: [UInt8]
    /// The data for printing the same response to a repeated request, in addition to the timetokens of the events.
    public var note: JSONText
    /// The time until which a repeat is recognized.
    public var until: Timetoken

    /// Creates the claim of one request.
    public init(app: AppID, key: [UInt8], fingerprint: [UInt8], note: JSONText, until: Timetoken) {
        self.app = app
        self.key = key
        self.fingerprint = fingerprint
        self.note = note
        self.until = until
    }
}

/// A set of channels of one app, given by exact names and prefixes.
public struct ChannelSet: Sendable, Hashable {
    /// The app of the channels.
    public var app: AppID
    /// The exact names.
    public var names: Set<ExactText>
    /// The prefixes of channel names. The prefix of a pattern `a.b.*` is the text before the `*`, including the last
    /// dot: `a.b.`.
    public var prefixes: Set<ExactText>
    /// True when the set contains every channel except `$system`.
    public var isAll: Bool
    /// True when the set also contains events of other channels that PubNub clients receive on one of its channels
    /// (``EventDraft/echoes``).
    public var receivesEchoes = false

    /// Creates a set of names and prefixes.
    public init(app: AppID, names: [String] = [], prefixes: [String] = [], isAll: Bool = false) {
        self.app = app
        self.names = Set(names.map { ExactText($0) })
        self.prefixes = Set(prefixes.map { ExactText($0) })
        self.isAll = isAll
    }

    /// Creates the set of the channels that any of the patterns matches.
    public init(app: AppID, patterns: [NamePattern]) {
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

    /// True when the set contains the event: the event's channel is in the set, or ``receivesEchoes`` is true and one
    /// of the event's ``EventDraft/echoes`` is in the set.
    public func find(_ event: Event) -> Bool {
        if contains(event.channel) { return true }
        guard receivesEchoes else { return false }
        return event.draft.echoes.contains { contains(ChannelID($0, in: event.channel.app)) }
    }
}

/// A range of the event log, and the direction in which it is read.
public struct LogRange: Sendable, Equatable {
    /// The lower bound, exclusive.
    public var after: Timetoken
    /// The upper bound, exclusive.
    public var before: Timetoken
    /// The direction of reading.
    public var order: HistoryRequest.Order

    /// Creates a range between two positions; without bounds, the whole log.
    public init(after: Timetoken = .zero, before: Timetoken = .distantFuture, order: HistoryRequest.Order) {
        self.after = after
        self.before = before
        self.order = order
    }

    /// The part of the range that is still to be read after `position`.
    public func rest(behind position: Timetoken) -> LogRange {
        var rest = self
        switch order {
        case .newestFirst: rest.before = min(before, position)
        case .oldestFirst: rest.after = max(after, position)
        }
        return rest
    }
}

/// A query for the durable events of one channel.
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
    /// The kinds of events to include; empty: all.
    public var kinds: Set<EventKind> = []
    /// Event types that are included even if `kinds` does not contain their kind.
    public var typesOfAnyKind: Set<String> = []
    /// The event types to include; empty: all.
    public var types: [NamePattern] = []
    /// The user who caused the events; nil: any user or none.
    public var user: String?
    /// The condition on the thread.
    public var thread = Thread.any
    /// The maximum result of ``EventLog/counts(_:)`` for this request. Counting stops at this number.
    public var countMost = Int.max

    /// Creates a request for all durable events of a channel between two positions.
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
    /// The request for the next page; nil after the last page. A page may be empty although more follow, because a page
    /// ends after a fixed number of examined rows.
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
    /// For pages of events: the position up to which all events were examined. Zero for other pages.
    public var position: Timetoken
    /// For pages of records and deliveries: an opaque cursor for the next page; nil on the last page.
    public var cursor: String?
    /// For pages of records and deliveries whose query sets `wantsCursors`: the cursor after each item.
    public var cursors: [String] = []
    /// The number of matches on all pages; nil unless the query asks for it.
    public var total: Int?

    /// Creates a page of a list. With the default arguments, it is the last page.
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
