public import JSON

/// The store of records, such as users, channels and webhooks. Every record has a key, a JSON body and an etag (an
/// opaque version).
public protocol Directory: Sendable {
    /// Reads the records with the given keys. The result has one element per key, in the same order; nil for a key
    /// without a record.
    func read(_ keys: [RecordKey]) async throws(ChatError) -> [Record?]

    /// Writes all changes or none, in one commit with the events. Reads on this node include the changes as soon as the
    /// call returns. A change that alters nothing keeps the etag and is not reported to observers.
    ///
    /// - Returns: the new records in the order of the changes; for a removed record, its last version.
    /// - Throws: `.conflict` if a record must be absent but exists; `.notFound` if a record must exist but does not;
    ///   `.stale` if a record has another etag than the required one. The stored record is the error's `current`.
    func write(_ changes: [RecordChange], events: [EventDraft]) async throws(ChatError) -> [Record]

    /// Reads records, calls `decide` with them, and commits the changes and events that `decide` returns, in one step.
    /// No other write changes the records in between. Use this method for every change that depends on the stored
    /// state, such as counters, joins and bans.
    ///
    /// A record that changes gets the timetoken of the decision's first event as `updated`, or the time of the step
    /// when there is no event.
    /// - Parameters:
    ///   - keys: the keys of all records that `decide` may read.
    ///   - decide: runs in the store, possibly more than once. The closure must be quick and have no side effects.
    /// - Throws: the errors of `decide` and of `write`; then nothing is changed.
    func decide<Value: Sendable>(
        _ keys: [RecordKey],
        _ decide: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) async throws(ChatError) -> Decided<Value>

    /// One page of the records that a query selects.
    ///
    /// - Throws: `.malformed` for a cursor that is not from this listing.
    func list(_ query: RecordQuery) async throws(ChatError) -> Page<Record>

    /// The changes of all commits after `revision`. Never skips a commit, but may repeat one. An element may have no
    /// keys; then it only reports its revision. Ends on `close()`.
    func changes(after revision: Revision) async -> RecordChangeSequence

    /// The revision of the newest commit of any node. When the call returns, the observers have been called for all
    /// commits up to this revision. To follow a listing, read the revision before the listing and pass it to
    /// `changes(after:)`.
    func revision() async throws(ChatError) -> Revision

    /// True if other nodes write to the same store. Copies of records in the memory of this node may then be older than
    /// the store, until this node has seen the changes.
    var isShared: Bool { get }

    /// Calls `body` for every later commit of any node, in order. The call happens before the write on this node
    /// returns, and before `EventLog.committed` returns the commit's events. Caches of records are therefore up to date
    /// before a caller can act on an event of the commit.
    /// - Parameter body: called on any thread. It must be quick and must not call the directory.
    func observe(_ body: @escaping @Sendable (RecordChanges) -> Void)
}

extension Directory {
    /// False, for a directory that only this process uses.
    public var isShared: Bool { false }

    /// Passes the records of a listing to `body`, page by page in the order of the listing.
    ///
    /// Pages are read one after the other. A record that changes in the meantime may be missing, or have its old body.
    ///
    /// - Parameter query: the listing; its `limit` is the length of a page.
    /// - Throws: the errors of ``list(_:)``, and the error of `body`, which ends the listing.
    public func forEachPage(
        _ query: RecordQuery, isolation: isolated (any Actor)? = #isolation,
        _ body: ([Record]) async throws(ChatError) -> Void
    ) async throws(ChatError) {
        var query = query
        repeat {
            let page = try await list(query)
            try await body(page.items)
            query.cursor = page.cursor
        } while query.cursor != nil
    }

    /// Reads one record; nil when no record has the key.
    ///
    /// - Throws: the errors of ``read(_:)`` for a list of keys.
    public func read(_ key: RecordKey) async throws(ChatError) -> Record? { try await read([key])[0] }

    /// Writes records without events.
    ///
    /// - Throws: the errors of ``write(_:events:)``.
    public func write(_ changes: [RecordChange]) async throws(ChatError) -> [Record] {
        try await write(changes, events: [])
    }
}

/// The number of a directory commit. Each commit has a higher number than the one before.
public typealias Revision = UInt64

/// The kinds of records. Engines store the raw value, so it must not change.
public enum RecordKind: Int, Sendable, CaseIterable {
    case app = 1, key = 2, webhook = 3, source = 4, subscription = 6, job = 7
    case sourceMapping = 8
    /// A request to an inbound source that passed verification but was rejected.
    case inboundRequest = 9
    case user = 10, channel = 11, membership = 12, group = 13, messageAction = 14, restriction = 15
    /// In the order of the cases: the member counts, metadata and counters of a channel; the changes of a message after
    /// it was sent; the block of one user by another.
    case memberCounts = 16, channelMetadata = 17, channelCounters = 18, message = 19, block = 23
    /// A deleted channel whose members are still to be removed.
    case sweep = 24
    /// A record that assigns one channel to a set of users.
    case distinctChannel = 25
    case eventType = 20, schemaVersion = 21
    /// Settings, revoked tokens, and the audit log of administrative changes.
    case setting = 30, revokedToken = 31, audit = 32
    /// The response to a request with an `Idempotency-Key`.
    case answer = 33
    /// The use of a stream ticket.
    case streamTicket = 40
    /// A call from one node to another, and its answer.
    case nodeCall = 41, nodeAnswer = 42
    /// A device's session that the device can resume on any node.
    case deviceSession = 43
}

/// The key of a record: its app, its kind and its id.
public struct RecordKey: Hashable, Sendable {
    /// The app of the record.
    public var app: AppID
    /// The kind of the record.
    public var kind: RecordKind
    /// The record's id. The parts of a compound id are joined by `/` (membership: `user/channel`).
    @ExactText public var id: String

    /// Creates the key of a record of an app.
    public init(_ kind: RecordKind, _ id: String, in app: AppID) {
        self.app = app
        self.kind = kind
        self.id = id
    }

    /// Creates a key whose id has several parts. In every part except the last, each `/` is escaped, so that different
    /// lists of parts never produce the same id.
    public init(_ kind: RecordKind, parts: [String], in app: AppID) {
        self.init(kind, Self.id(parts), in: app)
    }

    /// The id made of these parts, as keys contain it and the API shows it.
    static func id(_ parts: [String]) -> String { prefix(parts.dropLast()) + (parts.last ?? "") }

    /// The common prefix of all ids that begin with these parts; each part ends with a `/`.
    public static func prefix(_ parts: some Sequence<String>) -> String {
        parts.reduce(into: "") { prefix, part in
            for scalar in part.unicodeScalars {
                switch scalar {
                case "%": prefix += "%25"
                case "/": prefix += "%2F"
                default: prefix.unicodeScalars.append(scalar)
                }
            }
            prefix += "/"
        }
    }

    /// The user and the channel of a key whose id is `user/channel`, such as a membership's or a restriction's; nil for
    /// an id without a `/`.
    public var userAndChannel: (user: UserID, channel: ChannelID)? {
        // Searches bytes, not characters: a name may begin with a mark that combines with the character before it.
        guard let slash = id.utf8.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let channel = String(id[id.utf8.index(after: slash)...])
        return (UserID(Self.part(id[..<slash]), in: app), ChannelID(channel, in: app))
    }

    /// Removes the escapes of one part of an id.
    static func part(_ escaped: some StringProtocol) -> String {
        var part: [UInt8] = []
        var rest = Array(escaped.utf8)[...]
        while let sign = rest.firstIndex(of: UInt8(ascii: "%")) {
            part += rest[..<sign]
            let code = rest[sign...].prefix(3)
            switch String(decoding: code, as: UTF8.self) {
            case "%2F": part.append(UInt8(ascii: "/"))
            case "%25": part.append(UInt8(ascii: "%"))
            default: part += code
            }
            rest = rest[sign...].dropFirst(3)
        }
        return String(decoding: part + rest, as: UTF8.self)
    }
}

/// The input of a decision (`Directory.decide`): the requested records and the time.
public struct RecordSnapshot: Sendable {
    /// The time of the decision, not later than any timetoken of its events.
    public let now: Timetoken
    /// The timetoken of the decision's first new event. Event data and records may contain it.
    public let next: Timetoken
    /// The timetoken of the decision's event with this index, counted from 0. The events of a decision have consecutive
    /// timetokens. The exception is an event that repeats an earlier event: it has the timetoken of the earlier event.
    public func place(of event: Int) -> Timetoken { Timetoken(next.rawValue + UInt64(event)) }
    /// The new etag of every record that the decision creates or changes.
    public let etag: String
    private let records: [RecordKey: Record]

    /// Creates the input of one decision.
    public init(now: Timetoken, next: Timetoken, etag: String, records: [RecordKey: Record]) {
        self.now = now
        self.next = next
        self.etag = etag
        self.records = records
    }

    /// The stored record; nil when there is none.
    public subscript(key: RecordKey) -> Record? { records[key] }
}

/// The result of the closure that a caller passes to the directory. The changes, events and removals in the result are
/// committed together or not at all.
public struct Decision<Value: Sendable>: Sendable {
    /// The changes of records.
    public var changes: [RecordChange]
    /// The events that commit with the changes.
    public var events: [EventDraft]
    /// The durable events to remove from the event log, each with its channel. The request bodies stored for their
    /// deliveries are removed too. Events that no longer exist are ignored.
    public var removals: [(channel: ChannelID, timetoken: Timetoken)] = []
    /// The durable events that must exist. If one of them does not exist, the decision fails with `.notFound`. So no
    /// data is stored about a message that is deleted at the same moment.
    public var requires: [(channel: ChannelID, timetoken: Timetoken)] = []
    /// The idempotency key of the request, committed with the events. A repeat of the request finds these events with
    /// `EventLog.earlier`. If the key was used before, the decision fails with `.conflict`.
    public var claim: Claim?
    /// The value that the caller receives.
    public var value: Value

    /// Creates a decision with its value, record changes and events.
    public init(_ value: Value, changes: [RecordChange] = [], events: [EventDraft] = []) {
        self.value = value
        self.changes = changes
        self.events = events
    }
}

/// The outcome of a committed decision.
public struct Decided<Value: Sendable>: Sendable {
    /// The value that the decision returned.
    public var value: Value
    /// The written records in the order of the changes, as `Directory.write` returns them.
    public var records: [Record]
    /// The committed events, in the order of the drafts.
    public var events: [Event]
    /// The record changes that the decision requested.
    public var changes: [RecordChange]

    /// Creates the outcome of one decision.
    public init(value: Value, records: [Record], events: [Event], changes: [RecordChange]) {
        self.value = value
        self.records = records
        self.events = events
        self.changes = changes
    }
}

/// A stored record.
public struct Record: Sendable {
    /// The key of the record.
    public var key: RecordKey
    /// A value that groups records for listing, e.g. the channel of a membership.
    public var parent: String?
    /// The stored object.
    public var body: JSONText
    /// An opaque version, which never repeats for a key. Each write that changes the record also changes the etag. The
    /// etag does not reveal the number or order of other writes. It is safe in an HTTP header and contains no full
    /// stop.
    public var etag: String
    /// The time of the last change.
    public var updated: Timetoken

    /// Creates a record with its stored values.
    public init(key: RecordKey, parent: String? = nil, body: JSONText, etag: String, updated: Timetoken) {
        self.key = key
        self.parent = parent
        self.body = body
        self.etag = etag
        self.updated = updated
    }
}

/// A change of one record, with a precondition.
public struct RecordChange: Sendable {
    /// The required state of a record before a change.
    public enum Precondition: Sendable { case none, absent, present, etag(String) }

    /// The key of the record to change.
    public var key: RecordKey
    /// The new body; nil removes the record.
    public var body: JSONText?
    /// The record's new parent, a value by which listings select records that belong together; nil for none.
    public var parent: String?
    /// The required state of the record before the change. If the record is in another state, the change fails.
    public var precondition: Precondition

    /// Creates a change of one record.
    public init(_ key: RecordKey, body: JSONText?, parent: String? = nil, precondition: Precondition = .none) {
        self.key = key
        self.body = body
        self.parent = parent
        self.precondition = precondition
    }
}

extension RecordChange.Precondition {
    /// Checks the precondition against a record. Used by decisions that change nothing, because a write checks only the
    /// preconditions of its changes.
    ///
    /// - Parameters:
    ///   - etag: the record's etag; nil when there is no record.
    ///   - current: the record, for the error.
    /// - Throws: `.conflict` with `current` when the record must not exist; `.stale` with `current` when the record
    ///   does not exist or has another version.
    public func check(_ etag: String?, current: Record? = nil) throws(ChatError) {
        var refusal: ChatError
        switch self {
        case .none: return
        case .absent where etag == nil: return
        case .absent: refusal = ChatError(.conflict, "the record already exists")
        case .present where etag != nil: return
        case .etag(let wanted) where wanted == etag: return
        case .present, .etag:
            refusal = ChatError(
                .stale,
                etag == nil
                    ? "there is no record, and If-Match requires one; leave out If-Match"
                    : "the record has changed since it was read; read it again")
        }
        refusal.current = current
        throw refusal
    }
}

/// A query for a page of records of one kind, with an order and a filter.
public struct RecordQuery: Sendable {
    /// A value to sort records by.
    public enum SortKey: Sendable, Hashable { case id, updated, field(String) }

    /// The app of the records.
    public var app: AppID
    /// The kind of the records.
    public var kind: RecordKind
    /// The prefix of the ids to list; nil: all ids.
    public var idPrefix: String?
    /// The parent of the records to list (``Record/parent``); nil: any parent.
    public var parent: String?
    /// The condition on the records' bodies; nil: no condition.
    public var filter: RecordFilter?
    /// The sort keys. Each further key orders the records that are equal by the keys before it.
    public var sort: [(key: SortKey, ascending: Bool)] = [(.id, true)]
    /// The maximum number of records in a page.
    public var limit: Int
    /// `Page.cursor` of the previous page; nil for the first page. An invalid cursor is rejected with `.malformed`.
    public var cursor: String?
    /// The number of records to skip, instead of a cursor. With an offset, records without a value for the sort key
    /// come last.
    public var offset: Int?
    /// True when the page needs `total`, the number of all matching records.
    public var wantsTotal = false
    /// True when the page needs a cursor after each record. A caller that leaves out some records needs these cursors.
    public var wantsCursors = false

    /// Creates a query for all records of a kind, ordered by id.
    public init(_ kind: RecordKind, in app: AppID, limit: Int) {
        self.kind = kind
        self.app = app
        self.limit = limit
    }
}

/// A condition on a record's body. The language of conditions is small, so that every storage engine can translate a
/// condition into its own query language. A field is a path of member names joined by dots.
///
/// The fields `@id` and `@updated` are the record's id and the time of its last change. A field that begins with
/// `user:` or `channel:` is read from the record of the user or channel that the body's member `user` or `channel`
/// names.
public indirect enum RecordFilter: Sendable {
    /// A comparison of a field with a value.
    public enum Comparison: Sendable { case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual, like }
    /// A value to compare a field with.
    public enum Value: Sendable { case string(String), number(Double), boolean(Bool), null }

    case compare(field: String, Comparison, Value)
    case and([RecordFilter])
    case or([RecordFilter])
    case not(RecordFilter)
    /// True when the app has a record of the given kind whose id is the prefix followed by the id of the tested record.
    case beside(RecordKind, idPrefix: String)
}

/// The keys that one directory commit changed, and its revision.
public struct RecordChanges: Sendable {
    /// The keys of the created, changed and removed records.
    public var keys: [RecordKey]
    /// The number of the commit.
    public var revision: Revision

    /// Creates the changes of one commit.
    public init(keys: [RecordKey], revision: Revision) {
        self.keys = keys
        self.revision = revision
    }
}

/// A sequence of directory commits, type-erased.
public struct RecordChangeSequence: AsyncSequence, Sendable {
    /// The changes of one commit.
    public typealias Element = RecordChanges
    /// The sequence ends without an error.
    public typealias Failure = Never

    private let nextChange: @Sendable () async -> RecordChanges?

    /// Creates a sequence of the changes that `next` returns. The sequence ends when `next` returns nil.
    public init(_ next: @escaping @Sendable () async -> RecordChanges?) { nextChange = next }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(nextChange: nextChange) }

    /// Iterates over the changes.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let nextChange: @Sendable () async -> RecordChanges?
        public mutating func next() async -> RecordChanges? { await nextChange() }
        public mutating func next(isolation actor: isolated (any Actor)?) async -> RecordChanges? {
            await nextChange()
        }
    }
}
