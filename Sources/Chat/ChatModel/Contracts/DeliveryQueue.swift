public import JSON

/// What is owed to webhooks, durable (`engine.md` 1.4). The log is the only source of items.
public protocol DeliveryQueue: Sendable {
    /// Stores items and moves the named cursor in one step, so a crash neither loses nor doubles one.
    /// - Returns: how many of them are dead from the start, by the endpoints that have as many waiting as may:
    ///   their reason is `held_too_many`.
    /// - Throws: `.conflict` if the cursor is not at `from`; then nothing was stored.
    @discardableResult
    func plan(
        _ items: [PlannedDelivery], cursor: CursorName, from: Timetoken, to: Timetoken
    ) async throws(ChatError) -> [SubscriberID: Int]

    /// Where the named cursor stands; zero for a new one. Kept events after the oldest cursor, at most three days
    /// behind, are not expired.
    func cursor(_ name: CursorName) async throws(ChatError) -> Timetoken

    /// Items due now for open endpoints, leased to the caller, oldest due first within an endpoint; at most `concurrency`
    /// attempts per endpoint under way at any time. Waits up to `wait` for some; returns empty then, or when closed or
    /// cancelled.
    ///
    /// Nobody can take all there is to have: a space is given a lease only while it holds fewer than seven times as many as
    /// are free, an endpoint only while it holds fewer than its space may still take. So whoever is alone gets seven eighths,
    /// and there is always one for who holds none.
    ///
    /// Leases of one batch (``LaneSettings/batch``) stand together and have the same ``Lease/batch``; a batch counts as one
    /// attempt wherever attempts are counted, here too. Who takes one of them attempts all of them at once.
    /// - Parameters:
    ///   - limit: attempts wanted now.
    ///   - capacity: attempts that may be under way at once.
    func take(_ limit: Int, capacity: Int, wait: Duration) async throws(ChatError) -> [Lease]

    /// As ``take(_:capacity:wait:)``, of one endpoint that is pulled (``LaneSettings/isPulled``), each lease an attempt of
    /// its own.
    /// - Parameter lease: how long the leases last.
    func take(
        from subscriber: SubscriberID, limit: Int, lease: Duration, wait: Duration
    ) async throws(ChatError) -> [Lease]

    /// Records attempts and what follows, in one step. An attempt is no longer under way from the call on. False for a
    /// lease that was lost: nothing changed.
    ///
    /// A retry beyond ``DeliveryOutcome/longestRetry`` is due then. It is not refused, since that would lose the record of
    /// all that ended beside it and have them sent again; and not dead, since a request too early costs less than a
    /// delivery. How long finished deliveries are kept has no say in it.
    /// - Throws: nothing was recorded, and the leases hold as before.
    func finish(_ attempts: [(lease: Lease, outcome: DeliveryOutcome)]) async throws(ChatError) -> [Bool]

    /// Stores what is about to be sent, durable when it returns, so that every later attempt sends the same bytes. An attempt
    /// that nobody records has then sent what the next one sends.
    ///
    /// - Returns: what is stored of each by then: these bytes, or, where others have taken the place of the lease's body since
    ///   it was given, those; nil where the event has gone from the log, or the delivery from the queue.
    func keep(_ bodies: [(lease: Lease, body: [UInt8])]) async throws(ChatError) -> [[UInt8]?]

    /// Makes leases last so long from now; for no time at all they are given back, and no attempt was made. A lease lasts
    /// 60 s otherwise. False for one that was lost.
    @discardableResult
    func renew(_ leases: [Lease], for duration: Duration) async throws(ChatError) -> [Bool]

    /// Settles how an endpoint's deliveries go: all of it, durable. Idempotent. What waits follows a new ordering.
    func set(_ settings: LaneSettings, of subscriber: SubscriberID) async throws(ChatError)

    /// Slows an endpoint down beyond its settings, in memory, until told otherwise: at most `concurrency` attempts under way
    /// (none at zero), none begun earlier than `notBefore`. Nil: as the settings have it.
    func pace(_ subscriber: SubscriberID, concurrency: Int?, notBefore: Timetoken?) async

    /// Deliveries by event and endpoint. A page costs the same wherever it begins, and however many there are; but one of
    /// `pending` without `failed`, or the other way round, and their count, may look into all that wait.
    func list(_ query: DeliveryQuery) async throws(ChatError) -> Page<Delivery>

    /// How many a listing would show in all; not counted further than `most`.
    func count(_ query: DeliveryQuery, most: Int) async throws(ChatError) -> Int

    /// One delivery with its attempt log; nil when there is none in `app`.
    func delivery(_ id: String, in app: AppID) async throws(ChatError) -> (Delivery, [DeliveryAttempt])?

    /// Makes the selected deliveries due now, with the same id; one that is waiting for a retry has it brought forward.
    /// Deliveries under way are left alone. Returns how many; with `isDryRun` only counts.
    func replay(_ selection: DeliverySelection, isDryRun: Bool) async throws(ChatError) -> Int

    /// Replay out of the log: an item that is not there is stored, one that is over is due again. Those under way or
    /// waiting are left alone, and endpoints that are closed. Stops at the first whose endpoint has no room for it.
    /// Returns how many are due by it, and how many it came to before it stopped.
    func enqueue(_ items: [PlannedDelivery]) async throws(ChatError) -> (due: Int, taken: Int)

    /// What an endpoint has waiting up to an event, that one included, turns dead with the reason `skipped`. Those under way
    /// are left alone. Returns how many.
    @discardableResult
    func skip(_ subscriber: SubscriberID, through event: Timetoken) async throws(ChatError) -> Int

    /// Removes those of the deliveries that are dead. Returns how many.
    func purge(_ ids: [String], in app: AppID) async throws(ChatError) -> Int
}

extension DeliveryQueue {
    /// Without shares: whatever is due.
    public func take(_ limit: Int, wait: Duration) async throws(ChatError) -> [Lease] {
        try await take(limit, capacity: .max, wait: wait)
    }

    /// Keeps leases that take long.
    public func renew(_ leases: [Lease]) async throws(ChatError) {
        try await renew(leases, for: .seconds(60))
    }

    /// Opens, pauses or closes an endpoint that has no settings beside.
    public func set(_ state: LaneState, of subscriber: SubscriberID, concurrency: Int) async throws(ChatError) {
        try await set(LaneSettings(state: state, concurrency: concurrency), of: subscriber)
    }

    /// Records one attempt.
    public func finish(_ lease: Lease, _ outcome: DeliveryOutcome) async throws(ChatError) -> Bool {
        try await finish([(lease, outcome)])[0]
    }
}

public struct CursorName: Hashable, Sendable {
    @ExactText public var text: String
    public init(_ text: String) { self.text = text }
}

/// An event owed to an endpoint, as the planner found it.
public struct PlannedDelivery: Sendable {
    /// `dlv_…`, unique in the installation; the planner derives it from event and endpoint.
    public var id: String
    public var subscriber: SubscriberID
    public var event: Timetoken
    public var type: String
    public var channel: String
    /// The body to send, from the start, for a passing event: nobody could read it later.
    public var body: [UInt8]?

    public init(
        id: String, subscriber: SubscriberID, event: Timetoken, type: String, channel: String, body: [UInt8]? = nil
    ) {
        self.id = id
        self.subscriber = subscriber
        self.event = event
        self.type = type
        self.channel = channel
        self.body = body
    }
}

/// Status as users see it (`product.md` 6). `held`: its webhook is disabled, due again on enable.
public enum DeliveryStatus: String, Sendable, CaseIterable { case pending, failed, delivered, dead, held }

public struct Delivery: Sendable {
    public var id: String
    public var subscriber: SubscriberID
    public var event: Timetoken
    public var type: String
    public var channel: String
    public var status: DeliveryStatus
    /// Attempts made so far.
    public var attempts: Int
    /// When the next attempt is due; nil when none is.
    public var due: Timetoken?
    /// Why it is dead.
    public var reason: String?

    public init(
        id: String, subscriber: SubscriberID, event: Timetoken, type: String, channel: String, status: DeliveryStatus,
        attempts: Int, due: Timetoken?, reason: String? = nil
    ) {
        self.id = id
        self.subscriber = subscriber
        self.event = event
        self.type = type
        self.channel = channel
        self.status = status
        self.attempts = attempts
        self.due = due
        self.reason = reason
    }
}

/// The right to attempt one delivery now. `fence` tells a late comer from the owner. A class, as it changes hands often and
/// has many parts.
public final class Lease: Sendable {
    public let delivery: Delivery
    public let fence: UInt64
    /// The bytes of an earlier attempt, or of a passing event; nil: print them from the event.
    public let body: [UInt8]?
    /// Whether a person asked for this attempt.
    public let isManual: Bool
    /// The same for all leases of one attempt.
    public let batch: UInt64

    /// - Parameter batch: nil: alone in its attempt.
    public init(delivery: Delivery, fence: UInt64, body: [UInt8]?, isManual: Bool = false, batch: UInt64? = nil) {
        self.delivery = delivery
        self.fence = fence
        self.body = body
        self.isManual = isManual
        self.batch = batch ?? fence
    }
}

public struct DeliveryOutcome: Sendable {
    public enum Verdict: Sendable {
        case delivered
        /// Not later than in `longestRetry`.
        case retry(at: Timetoken)
        case dead(reason: String)
    }

    /// How far ahead a retry may lie (`engine.md` 1.4).
    public static let longestRetry: Duration = .seconds(30 * 24 * 3600)

    public var verdict: Verdict
    public var attempt: DeliveryAttempt
    /// The bytes sent, stored so that every retry repeats them; nil when they are stored already or not needed again. They
    /// are not stored when the event has gone from the log during the attempt.
    public var body: [UInt8]?

    public init(_ verdict: Verdict, attempt: DeliveryAttempt, body: [UInt8]? = nil) {
        self.verdict = verdict
        self.attempt = attempt
        self.body = body
    }
}

/// One try of a delivery, for the attempt log: the last 20 are kept; of the answer the first 16 KiB for the latest
/// attempt, 1 KiB for earlier ones.
public struct DeliveryAttempt: Sendable {
    public var at: Timetoken
    /// The HTTP status; nil when no answer came.
    public var status: Int?
    /// A class of `conventions.md` 10 (`timeout`, `blocked_address`, …); nil on success.
    public var error: String?
    public var durationMilliseconds: Int
    public var isManual: Bool
    public var responseBody: [UInt8]
    public var isTruncated: Bool
    /// More facts to keep as they are (timings, address, headers); a JSON object.
    public var details: JSONText?

    public init(
        at: Timetoken, status: Int?, error: String?, durationMilliseconds: Int, isManual: Bool = false,
        responseBody: [UInt8] = [], isTruncated: Bool = false, details: JSONText? = nil
    ) {
        self.at = at
        self.status = status
        self.error = error
        self.durationMilliseconds = durationMilliseconds
        self.isManual = isManual
        self.responseBody = responseBody
        self.isTruncated = isTruncated
        self.details = details
    }
}

/// What an endpoint's deliveries may do.
public enum LaneState: Int, Sendable {
    case open = 0
    /// Items stay and keep their due times; new ones queue up, within bounds.
    case paused = 1
    /// The webhook is deleted: its items turn dead.
    case closed = 2
}

/// Which deliveries of an endpoint wait for which.
public enum DeliveryOrdering: Int, Sendable {
    case none = 0
    /// As `strict`, within each channel; channels go side by side.
    case perChannel = 1
    /// The oldest event that is not over goes first and alone. One that waits for its retry holds back those behind it, a
    /// dead one does not.
    case strict = 2
}

/// How an endpoint's deliveries go.
public struct LaneSettings: Sendable, Equatable {
    public var state: LaneState
    /// Attempts under way at once; with strict ordering one, whatever this says.
    public var concurrency: Int
    public var ordering: DeliveryOrdering = .none
    /// Attempts begun per second, after a rest as many at once as one second has; nil: unlimited.
    public var rate: Double?
    /// Deliveries in one attempt at most.
    public var batch = 1
    /// Its items are given only to who asks for this endpoint.
    public var isPulled = false
    /// Attempts after which an item is dead instead of due again. Where it is set, a lease that runs out is recorded as an
    /// attempt that failed (`ack_deadline`); nil: it is no attempt.
    public var attempts: Int?

    public init(state: LaneState = .open, concurrency: Int) {
        self.state = state
        self.concurrency = concurrency
    }
}

/// Which deliveries to list. By event, and by endpoint where several are owed the same one.
public struct DeliveryQuery: Sendable {
    public enum Order: Sendable { case newestFirst, oldestFirst }

    public var app: AppID
    /// Within this webhook; nil: all of the space.
    public var subscriber: String?
    /// Empty: whatever their status.
    public var statuses: Set<DeliveryStatus> = []
    public var event: Timetoken?
    /// Events strictly between these; nil: no bound.
    public var after: Timetoken?
    public var before: Timetoken?
    public var order: Order = .newestFirst
    public var limit: Int
    /// From `Page.cursor`. A cursor that is none of ours: `.malformed`.
    public var cursor: String?
    /// Whether the page has a cursor behind each delivery, for a reader that leaves some out.
    public var wantsCursors = false

    public init(app: AppID, limit: Int) {
        self.app = app
        self.limit = limit
    }

    /// A single status; nil: any.
    public var status: DeliveryStatus? {
        get { statuses.count == 1 ? statuses.first : nil }
        set { statuses = newValue.map { [$0] } ?? [] }
    }
}

public enum DeliverySelection: Sendable {
    case ids([String], in: AppID)
    /// Deliveries of an endpoint whose event lies strictly between the bounds; `onlyFailed` leaves out delivered ones.
    case range(SubscriberID, after: Timetoken, before: Timetoken, onlyFailed: Bool)
}
