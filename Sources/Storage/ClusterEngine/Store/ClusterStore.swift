import ChatModel
import JSON
import StorageCore

/// The store that all nodes share. ``PostgresStore`` implements it. The simulation of a cluster can replace it.
///
/// Every commit moves the *head*, the end of the log. One transaction at a time holds the lock of the head, which is
/// the right to append to the log and to change records.
protocol ClusterStore: Sendable {
    /// Begins a transaction, and waits until it holds the lock of the head.
    func begin() async throws(StoreFailure) -> any StoreTransaction
    /// Returns true if the last transaction of this node was committed. Called when the connection was lost during the
    /// commit. Waits until the store has ended the transaction.
    func isCommitted(_ transaction: any StoreTransaction) async throws(StoreFailure) -> Bool
    /// Reads the head, and everything committed after `head`, from one snapshot. Calls `body` with each part in the
    /// order in which a follower must apply the parts.
    ///
    /// - Parameter body: not called if nothing was committed after `head`.
    /// - Returns: the head of the snapshot.
    func follow(
        after head: Head, _ body: @Sendable (Frame) async -> Void
    ) async throws(StoreFailure) -> Head
    /// The records with these keys, in the same order.
    func records(_ keys: [RecordKey]) async throws(StoreFailure) -> [Record?]
    /// A page of records.
    func list(_ query: RecordQuery) async throws(ListFailure) -> Page<Record>
    /// The last changes of records after a revision, joined from several commits; nil when there are none.
    func changes(after revision: Revision) async throws(StoreFailure) -> RecordChanges?
    /// The events that a query selects, in its order.
    func events(_ query: EventsQuery) async throws(StoreFailure) -> Page<Event>
    /// The events of all channels that followers receive, after a position and up to another.
    func everything(
        after position: Timetoken, upTo end: Timetoken, limit: Int
    ) async throws(StoreFailure) -> Page<Event>
    /// The event at a timetoken, of any app, even if it has expired.
    func event(at timetoken: Timetoken) async throws(StoreFailure) -> Event?
    /// The durable events of several channels, from one snapshot.
    func history(_ requests: [HistoryQuery]) async throws(StoreFailure) -> [Page<Event>]
    /// The numbers of events that ``history(_:)`` would return without a limit, from one snapshot.
    func counts(_ requests: [HistoryQuery]) async throws(StoreFailure) -> [Int]
    /// The stored result of a claim, with the events that still exist.
    func earlier(_ claim: Claim, now: Timetoken) async throws(StoreFailure) -> StoredClaim?
    /// The newest event that retention has removed, or whose type's retention has ended, of some channels and types.
    func newestLoss(_ query: LossQuery) async throws(StoreFailure) -> Timetoken?
    /// The retention of every app.
    func retentions() async throws(StoreFailure) -> [AppID: RetentionTable.Entry]
    /// The end of the last interval whose events were lost when a backup was restored; zero when there is none.
    func restored() async throws(StoreFailure) -> Timetoken
    /// The database, for the delivery queue and presence, which work on PostgreSQL directly.
    var database: ClusterDatabase { get }
    /// Closes the connections. Every later call fails.
    func close() async
}

/// The end of the log, of the records and of the commits.
struct Head: Sendable, Equatable {
    /// The number of commits. Each commit has the number of the commit before plus one.
    var commit: UInt64 = 0
    /// The timetoken up to which the log is complete.
    var timetoken: Timetoken = .zero
    /// The revision of the newest change of records.
    var revision: Revision = 0
    /// The time of the store's clock when the head was read.
    var time: Timetoken = .zero

    static func == (left: Head, right: Head) -> Bool {
        left.commit == right.commit && left.timetoken == right.timetoken && left.revision == right.revision
    }
}

/// The data of one commit or of several consecutive commits, as a node receives it.
struct Frame: Sendable {
    /// The number of the commit before the frame.
    var after: UInt64
    /// The head after the frame. In a part of a longer read, `commit` is the number of the commit before the read.
    var head: Head
    /// For a part of a longer read: the last commit that the read covers. A node that has applied that commit needs no
    /// part of the read.
    var covered: UInt64?
    /// The changes of records, in order.
    var changes: [RecordChanges] = []
    /// The events in timetoken order, without imported events.
    var events: [Event] = []
    /// Changes that concern what nodes keep in memory.
    var notices: [Notice] = []

    /// The approximate memory that the frame uses, in bytes.
    var weight: Int { events.reduce(256) { $0 + $1.weight } + changes.reduce(0) { $0 + $1.keys.count * 128 } }
}

/// A change of the log that nodes must learn, besides new events and records.
enum Notice: Sendable, Equatable {
    /// Durable events were deleted.
    case deleted([Timetoken])
    /// The retention of an app was set. `age` is in ticks; nil is no limit.
    case retention(app: String, ticks: Int64?)
    /// Retention has examined an app's events up to `swept`, and the newest lost event is at `newestLoss`.
    case swept(app: String, swept: Timetoken, newestLoss: Timetoken)
}

/// A transaction that holds the lock of the head. It ends with ``commit(_:)`` or ``rollback()``.
protocol StoreTransaction: Sendable {
    /// The head before the transaction.
    var head: Head { get }
    /// Reads stored state.
    func read(_ lookup: Lookup) async throws(StoreFailure) -> Found
    /// Deletes at most `limit` durable events of a channel between two bounds, both exclusive.
    func delete(
        after: Timetoken, before: Timetoken, in channel: ChannelID, limit: Int
    ) async throws(StoreFailure) -> [(timetoken: Timetoken, expires: Timetoken?)]
    /// Removes at most `limit` rows of data that has outlived its time.
    ///
    /// - Parameter cutoff: takes an app and its retention, and returns the position up to which its events are removed.
    func remove(
        _ removal: Removal, _ edges: HousekeepingEdges, limit: Int,
        cutoff: @Sendable (AppID, Duration) -> Timetoken
    ) async throws(StoreFailure) -> HousekeepingResult
    /// Writes the changes and commits.
    func commit(_ changes: StoreChanges) async throws(StoreFailure)
    /// Ends the transaction without effect. Never fails: a connection that does not answer is closed.
    func rollback() async
}

/// The stored state that a batch of requests needs.
struct Lookup: Sendable {
    var records: Set<RecordKey> = []
    /// The records whose last change is needed (``Found/changed``).
    var changed: Set<RecordKey> = []
    var repeats: Set<RepeatKey> = []
    var claims: Set<ClaimKey> = []
    var events: Set<Timetoken> = []

    var isEmpty: Bool {
        records.isEmpty && changed.isEmpty && repeats.isEmpty && claims.isEmpty && events.isEmpty
    }

    mutating func formUnion(_ other: Lookup) {
        records.formUnion(other.records)
        changed.formUnion(other.changed)
        repeats.formUnion(other.repeats)
        claims.formUnion(other.claims)
        events.formUnion(other.events)
    }
}

/// The answers to a ``Lookup``. Every requested key has an entry.
struct Found: Sendable {
    var records: [RecordKey: Record?] = [:]
    /// The revision of the last change of a record; zero if it has never changed.
    var changed: [RecordKey: Revision] = [:]
    var repeats: [RepeatKey: StoredRepeat?] = [:]
    var claims: [ClaimKey: StoredClaim?] = [:]
    /// Durable and ephemeral events of any app, also expired ones.
    var events: [Timetoken: Event?] = [:]

    mutating func merge(_ other: Found) {
        records.merge(other.records) { $1 }
        changed.merge(other.changed) { $1 }
        repeats.merge(other.repeats) { $1 }
        claims.merge(other.claims) { $1 }
        events.merge(other.events) { $1 }
    }
}

/// A deduplication key of a channel.
struct RepeatKey: Hashable, Sendable {
    let channel: ChannelID
    @ExactText var key: String

    init(_ channel: ChannelID, _ key: String) {
        self.channel = channel
        self.key = key
    }
}

/// The first event with a deduplication key, and the end of the window in which repeats return it.
struct StoredRepeat: Sendable {
    var timetoken: Timetoken
    var until: Timetoken
}

/// The key of a claim.
struct ClaimKey: Hashable, Sendable {
    let app: AppID
    let key: [UInt8]

    init(app: AppID, key: [UInt8]) {
        self.app = app
        self.key = key
    }

    init(_ claim: Claim) { self.init(app: claim.app, key: claim.key) }
}

/// A claim with the result of its first request.
struct StoredClaim: Sendable {
    var fingerprint: [UInt8]
    var timetokens: [Timetoken]
    var note: JSONText
    var until: Timetoken
    /// The events that still exist, in the order of `timetokens`. Only ``ClusterStore/earlier(_:now:)`` sets it.
    var events: [Event?] = []
}

/// The changes that a transaction writes.
struct StoreChanges: Sendable {
    /// The head after the commit.
    var head: Head
    /// New events in timetoken order, durable and ephemeral, and imported events.
    var events: [Event] = []
    var imported: [Event] = []
    var repeats: [RepeatKey: StoredRepeat] = [:]
    var claims: [(Claim, [Timetoken])] = []
    /// The last change of each changed record.
    var records: [RecordKey: RecordWrite] = [:]
    /// Durable events to delete.
    var deletions: Set<Timetoken> = []
    /// The events whose deliveries lose their stored bodies.
    var removedBodies: Set<Timetoken> = []
    var retention: [AppID: Int64?] = [:]
    var notices: [Notice] = []
    /// The time of the transaction, for rows that are removed later.
    var now: Timetoken
}

/// The change of one record.
enum RecordWrite: Sendable {
    case put(Record, tag: Int64, revision: Revision)
    case remove(revision: Revision)
}

/// A failure of the store, as the caller of an operation must know it. The text is for the log.
enum StoreFailure: Error, Sendable, CustomStringConvertible {
    /// Nothing was stored. The store cannot be reached, or is too slow.
    case unavailable(String)
    /// The connection was lost after the commit was sent.
    case outcomeUnknown(String)
    /// The store has no space. Nothing was stored.
    case full(String)
    /// The store refused a value of a request, for instance because it is too large. Nothing was stored.
    case rejected(String)

    var description: String {
        switch self {
        case .unavailable(let text), .outcomeUnknown(let text), .full(let text), .rejected(let text): text
        }
    }

    /// The error that the caller of an operation receives.
    var answer: ChatError {
        switch self {
        case .unavailable: .storeUnavailable
        case .outcomeUnknown: .outcomeUnknown
        case .full: .storageFull
        case .rejected:
            ChatError(
                .invalid,
                "the store cannot keep a value of the request, for instance the character U+0000 in a name; change it")
        }
    }

    /// The error that the caller of a read receives. It does not say that something was not stored.
    var answerToRead: ChatError {
        if case .unavailable = self { return .storeUnreadable }
        return answer
    }
}

/// A failure of a listing: an invalid query, or a failure of the store.
enum ListFailure: Error {
    case query(ChatError)
    case store(StoreFailure)

    var answer: ChatError {
        switch self {
        case .query(let error): error
        case .store(let failure): failure.answerToRead
        }
    }
}

/// A query for the events of a set of channels within a range of timetokens.
struct EventsQuery: Sendable {
    var channels: ChannelSet
    /// The lower bound, exclusive.
    var after: Timetoken
    /// The upper bound, inclusive.
    var upTo: Timetoken
    var order = HistoryRequest.Order.oldestFirst
    var limit: Int
    /// Events whose expiry is at or before this time are left out.
    var now: Timetoken
    /// True to select durable events only, emitted and imported. False to select what followers receive: durable and
    /// ephemeral events, without imported ones.
    var isOfHistory = false
}

/// A query for the durable events of one channel.
struct HistoryQuery: Sendable {
    var request: HistoryRequest
    /// Events at or before this position are hidden by retention.
    var cutoff: Timetoken
    /// Events whose expiry is at or before this time are left out.
    var now: Timetoken
}

/// A query for the newest event that a resuming reader has lost.
struct LossQuery: Sendable {
    var channels: ChannelSet
    var types: [NamePattern]
    var after: Timetoken
    /// The position up to which the events hidden by retention have been removed from the store.
    var swept: Timetoken
    /// The position up to which all events are hidden by retention.
    var hidden: Timetoken
    var now: Timetoken
}
