public import JSON

/// Records of every kind in one shape: a key, a JSON body, an etag (`engine.md` 1.2).
public protocol Directory: Sendable {
    /// In the order of the keys; nil where there is none.
    func read(_ keys: [RecordKey]) async throws(ChatError) -> [Record?]

    /// All or nothing; rows and events commit together. Returns the new records in the order of the changes; a removed
    /// one as it was.
    ///
    /// A change that alters nothing keeps its etag and notifies nobody. Its own node reads it at once.
    /// - Throws: `.conflict` with `current` when a change demanded absence, `.stale` with `current` when it demanded
    ///   another etag, `.notFound` when it demanded presence.
    func write(_ changes: [RecordChange], events: [EventDraft]) async throws(ChatError) -> [Record]

    /// Reads records, lets `decide` make up its mind, and does what it says, in one step: nobody changes those records in
    /// between, and its events commit with its changes. For everything that depends on what is there: counters, joins,
    /// bans.
    ///
    /// The records that change, or that events come of, are `updated` at the first event's timetoken, which is theirs
    /// alone; without an event, when the step was taken.
    /// - Parameters:
    ///   - keys: everything `decide` may look at.
    ///   - decide: runs where the store works, perhaps more than once: quick, and without effects of its own.
    /// - Throws: what `decide` throws, and as `write`; then nothing has happened.
    func decide<Value: Sendable>(
        _ keys: [RecordKey],
        _ decide: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) async throws(ChatError) -> Decided<Value>

    func list(_ query: RecordQuery) async throws(ChatError) -> Page<Record>

    /// Which records changed after `revision`; never skips a committed change, may repeat one. Ends on `close()`.
    func changes(after revision: Revision) async -> RecordChangeSequence

    /// The newest committed revision: where `changes(after:)` continues a listing made now.
    func revision() async throws(ChatError) -> Revision

    /// Calls `body` with every commit of any node from now on, in order, before a call on this node that made it returns and
    /// before `EventLog.committed` gives its events: what is remembered of records is corrected before anybody can act on
    /// what an event says.
    /// - Parameter body: on any thread; quick, and without calls of its own.
    func observe(_ body: @escaping @Sendable (RecordChanges) -> Void)
}

extension Directory {
    public func read(_ key: RecordKey) async throws(ChatError) -> Record? { try await read([key])[0] }

    public func write(_ changes: [RecordChange]) async throws(ChatError) -> [Record] {
        try await write(changes, events: [])
    }
}

/// The number of a directory commit; grows with each.
public typealias Revision = UInt64

/// The kinds of record; the number is what engines store.
public enum RecordKind: Int, Sendable, CaseIterable {
    case app = 1, key = 2, webhook = 3, source = 4, subscription = 6, job = 7
    case sourceMapping = 8
    /// A post that was verified and turned away.
    case inboundRequest = 9
    case user = 10, channel = 11, membership = 12, group = 13, messageAction = 14, restriction = 15
    /// How many members a channel has; its texts and its counters by key; what became of a message; who blocks whom.
    case memberCounts = 16, channelMetadata = 17, channelCounters = 18, message = 19, block = 23
    /// Deleted channels whose members are still to be removed.
    case sweep = 24
    /// Which distinct channel a set of users has.
    case distinctChannel = 25
    case eventType = 20, schemaVersion = 21
    /// What was changed by administration, when and by whom.
    case setting = 30, revokedToken = 31, audit = 32
    /// The answer to a request with an `Idempotency-Key`.
    case answer = 33
}

public struct RecordKey: Hashable, Sendable {
    public var app: AppID
    public var kind: RecordKind
    /// Compound ids are joined by `/` (membership: `user/channel`).
    @ExactText public var id: String

    public init(_ kind: RecordKind, _ id: String, in app: AppID) {
        self.app = app
        self.kind = kind
        self.id = id
    }

    /// A compound id. A `/` in any part but the last is escaped, so that two lists of parts never make the same id.
    public init(_ kind: RecordKind, parts: [String], in app: AppID) {
        self.init(kind, Self.prefix(parts.dropLast()) + (parts.last ?? ""), in: app)
    }

    /// What the ids begin with whose first parts are these; a `/` behind each.
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

    /// The user and the channel of a key made of both: of a membership, or a restriction; nil for any other.
    public var userAndChannel: (user: UserID, channel: ChannelID)? {
        // By bytes: a name may begin with a mark that combines with what stands before it.
        guard let slash = id.utf8.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let channel = String(id[id.utf8.index(after: slash)...])
        return (UserID(Self.part(id[..<slash]), in: app), ChannelID(channel, in: app))
    }

    /// A part of a compound id as it was before it was escaped.
    public static func part(_ escaped: some StringProtocol) -> String {
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

/// What a decision is made of.
public struct RecordSnapshot: Sendable {
    /// No later than any timetoken the decision's events get.
    public let now: Timetoken
    /// What the decision's first event gets, if there is one that repeats no other: for what its data, or records, say of
    /// it.
    public let next: Timetoken
    /// The timetoken of the decision's event with this index, counted from 0: the events of a decision have consecutive places,
    /// where none of them repeats another event.
    public func place(of event: Int) -> Timetoken { Timetoken(next.rawValue + UInt64(event)) }
    /// The etag of every record that the decision creates or alters; its `updated` is then `next`, where there is an event.
    public let etag: String
    private let records: [RecordKey: Record]

    public init(now: Timetoken, next: Timetoken, etag: String, records: [RecordKey: Record]) {
        self.now = now
        self.next = next
        self.etag = etag
        self.records = records
    }

    /// The record as it is; nil when there is none.
    public subscript(key: RecordKey) -> Record? { records[key] }
}

/// What is to happen, all or nothing.
public struct Decision<Value: Sendable>: Sendable {
    public var changes: [RecordChange]
    public var events: [EventDraft]
    /// Kept events that go from the log, each on its channel, with the bodies that deliveries of them have stored. Those that
    /// are gone already do no harm.
    public var removals: [(channel: ChannelID, timetoken: Timetoken)] = []
    /// Kept events that the decision is about. One that is gone by then refuses it: `.notFound`. So nothing is stored of a
    /// message that is deleted at the same moment.
    public var requires: [(channel: ChannelID, timetoken: Timetoken)] = []
    /// Commits with the events, so that a repeat of the call finds them (`EventLog.earlier`). A key that was used before
    /// refuses the decision: `.conflict`.
    public var claim: Claim?
    /// For whoever asked.
    public var value: Value

    public init(_ value: Value, changes: [RecordChange] = [], events: [EventDraft] = []) {
        self.value = value
        self.changes = changes
        self.events = events
    }
}

/// What has happened.
public struct Decided<Value: Sendable>: Sendable {
    public var value: Value
    /// In the order of the changes, as `Directory.write` returns them.
    public var records: [Record]
    /// In the order of the drafts.
    public var events: [Event]
    public var changes: [RecordChange]

    public init(value: Value, records: [Record], events: [Event], changes: [RecordChange]) {
        self.value = value
        self.records = records
        self.events = events
        self.changes = changes
    }
}

public struct Record: Sendable {
    public var key: RecordKey
    /// Groups records for listing, e.g. the user of a membership.
    public var parent: String?
    public var body: JSONText
    /// Opaque; changed by each write that alters the record, and never the same again for a record of the same key. It tells
    /// nothing of other writes: neither of how many there were nor of their order. Safe in an HTTP header; without a full stop.
    public var etag: String
    public var updated: Timetoken

    public init(key: RecordKey, parent: String? = nil, body: JSONText, etag: String, updated: Timetoken) {
        self.key = key
        self.parent = parent
        self.body = body
        self.etag = etag
        self.updated = updated
    }
}

public struct RecordChange: Sendable {
    public enum Precondition: Sendable { case none, absent, present, etag(String) }

    public var key: RecordKey
    /// Nil removes the record.
    public var body: JSONText?
    public var parent: String?
    public var demand: Precondition

    public init(_ key: RecordKey, body: JSONText?, parent: String? = nil, demand: Precondition = .none) {
        self.key = key
        self.body = body
        self.parent = parent
        self.demand = demand
    }
}

extension RecordChange.Precondition {
    /// Compares a record with the demand; for decisions, which may have nothing to change where there is no record.
    ///
    /// - Parameters:
    ///   - etag: of the record as it is; nil where there is none.
    ///   - current: the record, for the error.
    /// - Throws: `.conflict` with `current` where there must be no record; `.stale` with `current` where there is none, or it is
    ///   at another version.
    public func check(_ etag: String?, current: Record? = nil) throws(ChatError) {
        var refusal: ChatError
        switch self {
        case .none: return
        case .absent where etag == nil: return
        case .absent: refusal = ChatError(.conflict, "there is a record already")
        case .present where etag != nil: return
        case .etag(let wanted) where wanted == etag: return
        case .present, .etag:
            refusal = ChatError(
                .stale,
                etag == nil
                    ? "there is no record, and the request demands one; leave out If-Match"
                    : "the record has been changed since; read it again")
        }
        refusal.current = current
        throw refusal
    }
}

/// A page of one kind's records, ordered and filtered.
public struct RecordQuery: Sendable {
    public enum SortKey: Sendable, Hashable { case id, updated, field(String) }

    public var app: AppID
    public var kind: RecordKind
    public var idPrefix: String?
    public var parent: String?
    public var filter: RecordFilter?
    public var sort: [(key: SortKey, ascending: Bool)] = [(.id, true)]
    public var limit: Int
    /// From `Page.cursor` of the page before. A cursor that is none of ours: `.malformed`.
    public var cursor: String?
    /// How many are left out before the first, in place of a cursor; then those without a value come last in an order.
    public var offset: Int?
    public var wantsTotal = false
    /// Whether the page has a cursor behind each record, for a reader that leaves some out.
    public var wantsCursors = false

    public init(_ kind: RecordKind, in app: AppID, limit: Int) {
        self.kind = kind
        self.app = app
        self.limit = limit
    }
}

/// A condition over a record's body, small enough for every engine to compile. Fields are member names joined by dots.
///
/// `@id` and `@updated` stand for what is kept beside the body. What begins with `user:` or `channel:` is a field of the
/// record that the body names by its member `user` or `channel`.
public indirect enum RecordFilter: Sendable {
    public enum Comparison: Sendable { case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual, like }
    public enum Value: Sendable { case string(String), number(Double), boolean(Bool), null }

    case compare(field: String, Comparison, Value)
    case and([RecordFilter])
    case or([RecordFilter])
    case not(RecordFilter)
    /// Whether a record of that kind is in the same space whose id is the prefix and then the id of the record asked about.
    case beside(RecordKind, idPrefix: String)
}

/// One directory commit.
public struct RecordChanges: Sendable {
    public var keys: [RecordKey]
    public var revision: Revision

    public init(keys: [RecordKey], revision: Revision) {
        self.keys = keys
        self.revision = revision
    }
}

public struct RecordChangeSequence: AsyncSequence, Sendable {
    public typealias Element = RecordChanges
    public typealias Failure = Never

    private let nextChange: @Sendable () async -> RecordChanges?

    public init(_ next: @escaping @Sendable () async -> RecordChanges?) { nextChange = next }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(nextChange: nextChange) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let nextChange: @Sendable () async -> RecordChanges?
        public mutating func next() async -> RecordChanges? { await nextChange() }
        public mutating func next(isolation actor: isolated (any Actor)?) async -> RecordChanges? {
            await nextChange()
        }
    }
}
