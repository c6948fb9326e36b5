public import JSON

/// The store of records. Records of every kind have one shape: a key, a JSON body and an etag.
public protocol Directory: Sendable {
    /// Reads records, in the order of the keys; nil for a key without a record.
    func read(_ keys: [RecordKey]) async throws(ChatError) -> [Record?]

    /// Writes all changes or none; records and events commit together. The caller's node reads the changes as soon as
    /// this returns. A change that alters nothing keeps the etag and is not reported to observers.
    ///
    /// - Returns: the new records in the order of the changes; for a removed record, its last version.
    /// - Throws: `.conflict` with `current` when a change required absence, `.stale` with `current` when it required
    ///   another etag, `.notFound` when it required presence.
    func write(_ changes: [RecordChange], events: [EventDraft]) async throws(ChatError) -> [Record]

    /// Reads records, calls `decide` with them and carries out its decision, in one step. No other write changes those
    /// records in between, and the decision's events commit with its changes. For everything that depends on the stored
    /// state, such as counters, joins and bans.
    ///
    /// Records that change, and records with events, get the first event's timetoken as `updated`; no other record has
    /// it. Without an event, `updated` is the time of the step.
    /// - Parameters:
    ///   - keys: every record that `decide` may read.
    ///   - decide: runs in the store, possibly more than once. It must be quick and have no side effects.
    /// - Throws: the errors of `decide` and of `write`; then nothing was changed.
    func decide<Value: Sendable>(
        _ keys: [RecordKey],
        _ decide: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) async throws(ChatError) -> Decided<Value>

    /// One page of the records that a query selects.
    ///
    /// - Throws: `.malformed` for a cursor that is not from this listing.
    func list(_ query: RecordQuery) async throws(ChatError) -> Page<Record>

    /// The records that changed after `revision`. Never skips a committed change, but may repeat one. Ends on
    /// `close()`.
    func changes(after revision: Revision) async -> RecordChangeSequence

    /// The newest committed revision. `changes(after:)` with it continues a listing that is made now.
    func revision() async throws(ChatError) -> Revision

    /// Calls `body` for every later commit of any node, in order. The call happens before the write on this node
    /// returns, and before `EventLog.committed` gives the commit's events. Caches of records are therefore corrected
    /// before a caller can act on an event of the change.
    /// - Parameter body: called on any thread; must be quick and must not call the directory.
    func observe(_ body: @escaping @Sendable (RecordChanges) -> Void)
}

extension Directory {
    /// Passes the records of a listing to `body`, page by page in the order of the listing.
    ///
    /// Pages are read one after the other: a record that changes meanwhile may be missing or old.
    ///
    /// - Parameter query: the listing; its `limit` is the length of a page.
    /// - Throws: as ``list(_:)``; the error of `body`, which ends the listing.
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

    /// Reads one record; nil when there is none.
    ///
    /// - Throws: as for a list of keys.
    public func read(_ key: RecordKey) async throws(ChatError) -> Record? { try await read([key])[0] }

    /// Writes records without events.
    ///
    /// - Throws: as ``write(_:events:)``.
    public func write(_ changes: [RecordChange]) async throws(ChatError) -> [Record] {
        try await write(changes, events: [])
    }
}

/// The number of a directory commit; it grows with each.
public typealias Revision = UInt64

/// The kinds of records. Engines store the raw value.
public enum RecordKind: Int, Sendable, CaseIterable {
    case app = 1, key = 2, webhook = 3, source = 4, subscription = 6, job = 7
    case sourceMapping = 8
    /// A verified inbound post that was rejected.
    case inboundRequest = 9
    case user = 10, channel = 11, membership = 12, group = 13, messageAction = 14, restriction = 15
    /// Member counts, metadata and counters of a channel; the state of a message after it was sent; the block of one
    /// user by another.
    case memberCounts = 16, channelMetadata = 17, channelCounters = 18, message = 19, block = 23
    /// A deleted channel whose members are still to be removed.
    case sweep = 24
    /// The distinct channel of a set of users.
    case distinctChannel = 25
    case eventType = 20, schemaVersion = 21
    /// Settings, revoked tokens, and the audit log of administrative changes.
    case setting = 30, revokedToken = 31, audit = 32
    /// The answer to a request with an `Idempotency-Key`.
    case answer = 33
}

/// The key of a record: its app, its kind and its id.
public struct RecordKey: Hashable, Sendable {
    /// The app of the record.
    public var app: AppID
    /// The kind of the record.
    public var kind: RecordKind
    /// The record's id. The parts of a compound id are joined by `/` (membership: `user/channel`).
    @ExactText public var id: String

    /// The key of a record of an app.
    public init(_ kind: RecordKind, _ id: String, in app: AppID) {
        self.app = app
        self.kind = kind
        self.id = id
    }

    /// Makes a key with a compound id. A `/` in any part but the last is escaped, so that different lists of parts
    /// never make the same id.
    public init(_ kind: RecordKind, parts: [String], in app: AppID) {
        self.init(kind, Self.id(parts), in: app)
    }

    /// The compound id of these parts, as keys hold it and the API shows it.
    static func id(_ parts: [String]) -> String { prefix(parts.dropLast()) + (parts.last ?? "") }

    /// The common prefix of compound ids that begin with these parts; each part ends with a `/`.
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

    /// The user and the channel in a key made of both, such as a membership's or a restriction's; nil for any other
    /// key.
    public var userAndChannel: (user: UserID, channel: ChannelID)? {
        // Compares bytes: a name may begin with a mark that combines with the character before it.
        guard let slash = id.utf8.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let channel = String(id[id.utf8.index(after: slash)...])
        return (UserID(Self.part(id[..<slash]), in: app), ChannelID(channel, in: app))
    }

    /// A part of a compound id with its escapes removed.
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

/// The input of a decision: the requested records and the time.
public struct RecordSnapshot: Sendable {
    /// The time of the decision, not later than any timetoken of its events.
    public let now: Timetoken
    /// The timetoken of the decision's first event that is not a repeat of another. For event data and records that
    /// mention it.
    public let next: Timetoken
    /// The timetoken of the decision's event with this index, counted from 0. The events of a decision have consecutive
    /// timetokens, unless one of them repeats an earlier event.
    public func place(of event: Int) -> Timetoken { Timetoken(next.rawValue + UInt64(event)) }
    /// The new etag of every record that the decision creates or alters. With an event, the record's `updated` is
    /// `next`.
    public let etag: String
    private let records: [RecordKey: Record]

    /// The input of one decision.
    public init(now: Timetoken, next: Timetoken, etag: String, records: [RecordKey: Record]) {
        self.now = now
        self.next = next
        self.etag = etag
        self.records = records
    }

    /// The stored record; nil when there is none.
    public subscript(key: RecordKey) -> Record? { records[key] }
}

/// The result of a decision, carried out completely or not at all.
public struct Decision<Value: Sendable>: Sendable {
    /// The changes of records.
    public var changes: [RecordChange]
    /// The events that commit with the changes.
    public var events: [EventDraft]
    /// Kept events to remove from the log, each with its channel. The bodies that their deliveries have stored are
    /// removed too. Events that are already gone are ignored.
    public var removals: [(channel: ChannelID, timetoken: Timetoken)] = []
    /// Kept events that must exist. If one of them is gone, the decision fails with `.notFound`. This prevents storing
    /// data about a message that is deleted at the same moment.
    public var requires: [(channel: ChannelID, timetoken: Timetoken)] = []
    /// A claim that commits with the events, so that a repeat of the call finds them (`EventLog.earlier`). If its key
    /// was used before, the decision fails with `.conflict`.
    public var claim: Claim?
    /// The value that the caller receives.
    public var value: Value

    /// A decision with its value, record changes and events.
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
    /// The changes that the decision asked for.
    public var changes: [RecordChange]

    /// The outcome of one decision.
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
    /// An opaque version. Each write that alters the record changes it, and it never repeats for a key. It reveals
    /// neither the number nor the order of other writes. Safe in an HTTP header; contains no full stop.
    public var etag: String
    /// The time of the last change.
    public var updated: Timetoken

    /// A record as the store has it.
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
    /// The new value that groups the record in listings; nil for none.
    public var parent: String?
    /// The required state of the record. If it has another, the change fails.
    public var precondition: Precondition

    /// A change of one record.
    public init(_ key: RecordKey, body: JSONText?, parent: String? = nil, precondition: Precondition = .none) {
        self.key = key
        self.body = body
        self.parent = parent
        self.precondition = precondition
    }
}

extension RecordChange.Precondition {
    /// Checks the precondition against a record; for decisions, which may have nothing to change when there is no
    /// record.
    ///
    /// - Parameters:
    ///   - etag: the record's etag; nil when there is no record.
    ///   - current: the record, for the error.
    /// - Throws: `.conflict` with `current` when the record must not exist; `.stale` with `current` when it does not
    ///   exist or has another version.
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
    /// The beginning of the ids to list; nil: all.
    public var idPrefix: String?
    /// The group to list; nil: all.
    public var parent: String?
    /// The condition on the bodies; nil: none.
    public var filter: RecordFilter?
    /// The order, by the first key, then by the next ones.
    public var sort: [(key: SortKey, ascending: Bool)] = [(.id, true)]
    /// The maximum number of records in a page.
    public var limit: Int
    /// `Page.cursor` of the page before. An invalid cursor is rejected with `.malformed`.
    public var cursor: String?
    /// The number of records to skip, in place of a cursor. With an offset, records without a value sort last.
    public var offset: Int?
    /// True when the page needs the number of all matching records.
    public var wantsTotal = false
    /// True when the page needs a cursor after each record, for a caller that leaves some out.
    public var wantsCursors = false

    /// A query for all records of a kind, ordered by id.
    public init(_ kind: RecordKind, in app: AppID, limit: Int) {
        self.kind = kind
        self.app = app
        self.limit = limit
    }
}

/// A condition over a record's body, small enough for every engine to compile. A field is a path of member names joined
/// by dots.
///
/// `@id` and `@updated` stand for values stored beside the body. A field that begins with `user:` or `channel:` belongs
/// to the record that the body names in its member `user` or `channel`.
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
    /// The changed, created and removed records.
    public var keys: [RecordKey]
    /// The number of the commit.
    public var revision: Revision

    /// The changes of one commit.
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

    /// A sequence of the changes that a function returns; it ends with nil.
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
