public import JSON

/// The durable queue of deliveries to webhooks and pull subscriptions. A delivery sends one event to one subscriber.
public protocol DeliveryQueue: Sendable {
    /// Stores deliveries, and moves the named cursor (a stored position in the event log) from `from` to `to`. One
    /// commit stores the deliveries and the cursor, so a crash neither loses nor duplicates a delivery.
    ///
    /// - Returns: the number of deliveries stored as dead, by subscriber. A new delivery is dead, with the reason
    ///   ``DeadReason/heldTooMany``, when its subscriber already has the maximum number of waiting deliveries.
    /// - Throws: `.conflict` if the cursor is not at `from`; then nothing is stored.
    @discardableResult
    func plan(
        _ items: [PlannedDelivery], cursor: CursorName, from: Timetoken, to: Timetoken
    ) async throws(ChatError) -> [SubscriberID: Int]

    /// The position of the named cursor; zero for a new cursor. Retention does not remove events after the oldest
    /// cursor while that cursor is at most three days old.
    func cursor(_ name: CursorName) async throws(ChatError) -> Timetoken

    /// Leases deliveries that are due now, of subscribers whose state is `open`. Within a subscriber, the delivery that
    /// has been due longest comes first. At most `concurrency` attempts per subscriber run at any time.
    ///
    /// Waits up to `wait` for a delivery. Returns an empty array when the wait ends, the queue is closed or the task is
    /// cancelled.
    ///
    /// No app and no subscriber can take the whole capacity. An app gets a lease only while it has fewer leases than
    /// seven times the free capacity. A subscriber gets a lease only while the leases of its app and the subscriber's
    /// own leases, added together, are fewer than seven times the free capacity. A single active app therefore gets at
    /// most seven eighths of the capacity, and one lease is always free for an app without leases.
    ///
    /// One attempt may send several deliveries (``LaneSettings/deliveriesPerAttempt``). The leases of such an attempt
    /// are adjacent in the result and have the same ``Lease/attempt``. Every limit counts them as one attempt. The
    /// caller must send all of them in one attempt.
    /// - Parameters:
    ///   - limit: the maximum number of attempts to lease now.
    ///   - capacity: the maximum number of attempts that run at the same time.
    func lease(_ limit: Int, capacity: Int, wait: Duration) async throws(ChatError) -> [Lease]

    /// Leases deliveries of one pull subscription (``LaneSettings/isPulled``), as ``lease(_:capacity:wait:)`` does.
    /// Each lease is a separate attempt.
    /// - Parameter duration: the time until the leases expire.
    func lease(
        from subscriber: SubscriberID, limit: Int, lasting duration: Duration, wait: Duration
    ) async throws(ChatError) -> [Lease]

    /// Records the outcomes of attempts in one commit, and ends their leases.
    ///
    /// A retry time beyond ``DeliveryOutcome/longestRetry`` is moved to that limit, and no error is thrown. An error
    /// would lose the records of all given attempts, and the deliveries of these attempts would be sent again.
    ///
    /// - Returns: one value per attempt: true when its outcome was recorded; false when its lease was lost, and nothing
    ///   changed.
    /// - Throws: the store's error. After an error, nothing is recorded, and the leases stay valid.
    func finish(_ attempts: [(lease: Lease, outcome: DeliveryOutcome)]) async throws(ChatError) -> [Bool]

    /// Stores request bodies durably before they are sent, so that every later attempt sends the same bytes, even if
    /// the outcome of the first attempt is never recorded.
    ///
    /// - Returns: the body to send for each delivery: the given body, or another body that was stored since the lease
    ///   began. Nil when the event is no longer in the event log, or the delivery is no longer in the queue.
    func keep(_ bodies: [(lease: Lease, body: [UInt8])]) async throws(ChatError) -> [[UInt8]?]

    /// Extends leases to `duration` from now. Without a renewal, a lease expires after 60 s. A duration of zero returns
    /// the leases to the queue without counting an attempt.
    ///
    /// - Returns: one value per lease; false when the lease was lost.
    @discardableResult
    func renew(_ leases: [Lease], for duration: Duration) async throws(ChatError) -> [Bool]

    /// Gives leases back without counting an attempt. The deliveries are due again after `pause`, and the leases end at
    /// that time. For a pull subscription, `pause` must be zero, because the end of its lease would count as a failed
    /// attempt (``LaneSettings/attempts``).
    ///
    /// - Returns: one value per lease; false when the lease was lost.
    @discardableResult
    func release(_ leases: [Lease], after pause: Duration) async throws(ChatError) -> [Bool]

    /// Replaces all delivery settings of a subscriber, durably. Idempotent. A new ordering also applies to deliveries
    /// that are already waiting.
    func set(_ settings: LaneSettings, of subscriber: SubscriberID) async throws(ChatError)

    /// Limits a subscriber more strictly than its settings do, in memory, until the next call of this method. At most
    /// `concurrency` attempts run at the same time (none at zero), and no attempt begins before `notBefore`. A nil
    /// argument restores the value of the settings.
    func pace(_ subscriber: SubscriberID, concurrency: Int?, notBefore: Timetoken?) async

    /// Lists deliveries, ordered by event and then by subscriber. The cost of a page does not depend on its position or
    /// on the number of deliveries. A query for only one of the statuses `pending` and `failed` is the exception: its
    /// pages and its count may read every waiting delivery.
    func list(_ query: DeliveryQuery) async throws(ChatError) -> Page<Delivery>

    /// The number of deliveries that match each query, counted up to `most`. All counts come from one read, at the same
    /// point of the event log.
    func counts(_ queries: [DeliveryQuery], most: Int) async throws(ChatError) -> [Int]

    /// One delivery with its attempt log; nil when `app` has no such delivery.
    func delivery(_ id: String, in app: AppID) async throws(ChatError) -> (Delivery, [DeliveryAttempt])?

    /// Makes the selected deliveries due now, including deliveries that wait for a retry. The ids of the deliveries
    /// stay the same. Deliveries that are being attempted do not change.
    ///
    /// - Parameter record: a record that must have this version in each commit; nil for no condition.
    /// - Returns: the number of selected deliveries that become due. With `isDryRun`, they are only counted.
    /// - Throws: `.stale` when the record has changed. Earlier commits of the call stay.
    func replay(
        _ selection: DeliverySelection, isDryRun: Bool, whileCurrent record: RecordVersion?
    ) async throws(ChatError) -> Int

    /// Queues deliveries again for events in the event log. Stores a delivery that is missing, and makes a finished one
    /// due. Skips deliveries that are waiting or being attempted, and closed subscribers. Stops at the first delivery
    /// whose subscriber has the maximum number of waiting deliveries.
    ///
    /// - Parameter record: a record that must have this version in each commit; nil for no condition.
    /// - Returns: `due`, the number of deliveries made due, and `processed`, the number of items processed before the
    ///   stop.
    /// - Throws: `.stale` when the record has changed. Earlier commits of the call stay.
    func enqueue(
        _ items: [PlannedDelivery], whileCurrent record: RecordVersion?
    ) async throws(ChatError) -> (due: Int, processed: Int)

    /// Makes a subscriber's waiting deliveries dead, with the reason `skipped`, up to and including the delivery of
    /// `event`. Deliveries that are being attempted do not change. Returns the number of deliveries made dead.
    @discardableResult
    func skip(_ subscriber: SubscriberID, through event: Timetoken) async throws(ChatError) -> Int

    /// Removes the dead deliveries among `ids`. Returns the number removed.
    ///
    /// - Parameter record: a record that must have this version in each commit; nil for no condition.
    /// - Throws: `.stale` when the record has changed. Earlier commits of the call stay.
    func purge(_ ids: [String], in app: AppID, whileCurrent record: RecordVersion?) async throws(ChatError) -> Int
}

/// A version of a record, as a condition for changes of the delivery queue. A job's record names the node that runs the
/// job, so a node that has lost the job changes nothing more.
public struct RecordVersion: Sendable {
    /// The key of the record.
    public var key: RecordKey
    /// The version.
    public var etag: String

    /// Creates the version of a record.
    public init(_ key: RecordKey, etag: String) { (self.key, self.etag) = (key, etag) }
}

extension DeliveryQueue {
    /// Leases due deliveries without limiting the share of an app or a subscriber.
    ///
    /// - Throws: the errors of ``lease(_:capacity:wait:)``.
    public func lease(_ limit: Int, wait: Duration) async throws(ChatError) -> [Lease] {
        try await lease(limit, capacity: .max, wait: wait)
    }

    /// Makes deliveries due without a condition.
    ///
    /// - Throws: the errors of ``replay(_:isDryRun:whileCurrent:)``.
    public func replay(_ selection: DeliverySelection, isDryRun: Bool) async throws(ChatError) -> Int {
        try await replay(selection, isDryRun: isDryRun, whileCurrent: nil)
    }

    /// Queues deliveries again without a condition.
    ///
    /// - Throws: the errors of ``enqueue(_:whileCurrent:)``.
    public func enqueue(_ items: [PlannedDelivery]) async throws(ChatError) -> (due: Int, processed: Int) {
        try await enqueue(items, whileCurrent: nil)
    }

    /// Removes dead deliveries without a condition.
    ///
    /// - Throws: the errors of ``purge(_:in:whileCurrent:)``.
    public func purge(_ ids: [String], in app: AppID) async throws(ChatError) -> Int {
        try await purge(ids, in: app, whileCurrent: nil)
    }

    /// Renews leases for another 60 s.
    ///
    /// - Throws: the errors of ``renew(_:for:)``. A lost lease is not an error.
    public func renew(_ leases: [Lease]) async throws(ChatError) {
        try await renew(leases, for: .seconds(60))
    }

    /// Opens, pauses or closes a subscriber, with default values for all other settings.
    ///
    /// - Throws: the errors of ``set(_:of:)``.
    public func set(_ state: LaneState, of subscriber: SubscriberID, concurrency: Int) async throws(ChatError) {
        try await set(LaneSettings(state: state, concurrency: concurrency), of: subscriber)
    }

    /// Records one attempt. Returns false when its lease was lost.
    ///
    /// - Throws: the errors of ``finish(_:)``; then nothing is recorded.
    public func finish(_ lease: Lease, _ outcome: DeliveryOutcome) async throws(ChatError) -> Bool {
        try await finish([(lease, outcome)])[0]
    }
}

/// The name of a cursor: a position in the event log that the queue stores.
public struct CursorName: Hashable, Sendable {
    /// The name, unique in the installation.
    @ExactText public var text: String
    /// Creates the name of a cursor from a text.
    public init(_ text: String) { self.text = text }
}

/// A delivery before the queue stores it: one event for one subscriber. The planner, which matches events with
/// subscribers, creates it.
public struct PlannedDelivery: Sendable {
    /// The delivery id, `dlv_…`, unique in the installation. The planner derives it from the event and the subscriber.
    public var id: String
    /// The webhook or pull subscription that receives the event.
    public var subscriber: SubscriberID
    /// The timetoken of the event.
    public var event: Timetoken
    /// The type of the event.
    public var type: String
    /// The name of the event's channel.
    public var channel: String
    /// The body to send. Set only for an ephemeral event, which later attempts cannot read from the event log.
    public var body: [UInt8]?

    /// Creates a delivery that is not stored yet.
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

/// The status of a delivery in the API. A `held` delivery belongs to a disabled webhook and becomes due when the
/// webhook is enabled again.
public enum DeliveryStatus: String, Sendable, CaseIterable { case pending, failed, delivered, dead, held }

/// The reason why a delivery is dead. The raw values are stored, and the API returns them.
public enum DeadReason: String, Sendable, CaseIterable {
    /// Every attempt failed.
    case attemptsExhausted = "attempts_exhausted"
    /// The subscriber already had the maximum number of waiting deliveries.
    case heldTooMany = "held_too_many"
    /// The delivery waited too long, because the subscriber was paused or nobody pulled the delivery.
    case heldTooLong = "held_too_long"
    /// The event had expired or was deleted.
    case eventNotKept = "event_not_kept"
    /// The webhook was deleted.
    case webhookDeleted = "webhook_deleted"
    /// A request skipped the delivery.
    case skipped
}

/// A delivery in the queue, as listings show it.
public struct Delivery: Sendable {
    /// The delivery id, `dlv_…`, unique in the installation.
    public var id: String
    /// The webhook or pull subscription that receives the event.
    public var subscriber: SubscriberID
    /// The timetoken of the event.
    public var event: Timetoken
    /// The type of the event.
    public var type: String
    /// The name of the event's channel.
    public var channel: String
    /// The state of the delivery.
    public var status: DeliveryStatus
    /// The number of attempts made so far.
    public var attempts: Int
    /// The time of the next attempt; nil when no attempt is due.
    public var due: Timetoken?
    /// The reason why the delivery is dead; nil for other statuses.
    public var reason: DeadReason?
    /// The time at which the queue stored the delivery; nil in a lease.
    public var created: Timetoken?

    /// Creates a delivery with its stored values.
    public init(
        id: String, subscriber: SubscriberID, event: Timetoken, type: String, channel: String, status: DeliveryStatus,
        attempts: Int, due: Timetoken?, reason: DeadReason? = nil, created: Timetoken? = nil
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
        self.created = created
    }
}

/// The right to attempt one delivery now, until the lease expires. A class, because a lease is passed around often and
/// has many fields.
public final class Lease: Sendable {
    /// The delivery that may be attempted.
    public let delivery: Delivery
    /// The number of this lease, different from every other lease of the delivery. The queue accepts an outcome only
    /// with the current number, so that a caller whose lease was lost cannot record an outcome.
    public let fence: UInt64
    /// The bytes that an earlier attempt sent, or the body of an ephemeral event. When nil, the body is printed from
    /// the event.
    public let body: [UInt8]?
    /// True when a user requested this attempt, for example with a replay.
    public let isManual: Bool
    /// The number of the attempt, shared by all its leases.
    public let attempt: UInt64

    /// Creates a lease for an attempt at one delivery.
    ///
    /// - Parameter attempt: the number of the attempt; nil for a lease that shares its attempt with no other lease.
    public init(delivery: Delivery, fence: UInt64, body: [UInt8]?, isManual: Bool = false, attempt: UInt64? = nil) {
        self.delivery = delivery
        self.fence = fence
        self.body = body
        self.isManual = isManual
        self.attempt = attempt ?? fence
    }
}

/// The result of an attempt: the next state of the delivery, and the entry for its attempt log.
public struct DeliveryOutcome: Sendable {
    /// The next state of a delivery after an attempt.
    public enum Verdict: Sendable {
        case delivered
        /// The time of the next attempt, at most `longestRetry` from now.
        case retry(at: Timetoken)
        case dead(reason: DeadReason)
    }

    /// The longest time until a retry: 30 days.
    public static let longestRetry: Duration = .seconds(30 * 24 * 3600)

    /// The next state of the delivery.
    public var verdict: Verdict
    /// The entry for the attempt log.
    public var attempt: DeliveryAttempt
    /// The bytes sent, to store for later attempts. Nil when they are already stored or the delivery has succeeded.
    /// They are not stored when the event was removed from the event log during the attempt.
    public var body: [UInt8]?

    /// Creates the outcome of one attempt.
    public init(_ verdict: Verdict, attempt: DeliveryAttempt, body: [UInt8]? = nil) {
        self.verdict = verdict
        self.attempt = attempt
        self.body = body
    }
}

/// One entry of a delivery's attempt log. The log keeps the last 20 attempts, with the first 16 KiB of the response
/// body for the latest attempt and the first 1 KiB for each earlier attempt.
public struct DeliveryAttempt: Sendable {
    /// The time at which the attempt began.
    public var at: Timetoken
    /// The HTTP status of the response; nil without a response.
    public var status: Int?
    /// The error class (`timeout`, `blocked_address`, …); nil on success.
    public var error: String?
    /// The duration of the attempt in milliseconds.
    public var durationMilliseconds: Int
    /// True when a user requested the attempt.
    public var isManual: Bool
    /// The beginning of the response body: at most 16 KiB.
    public var responseBody: [UInt8]
    /// True when the response body was longer than `responseBody`.
    public var isTruncated: Bool
    /// Further details (timings, address, headers) as a JSON object, stored unchanged.
    public var details: JSONText?

    /// Creates an entry of the attempt log from the result of an attempt.
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

/// The state of a subscriber's deliveries.
public enum LaneState: Int, Sendable {
    case open = 0
    /// Deliveries wait and keep their due times. New deliveries are added, up to the limits.
    case paused = 1
    /// The subscriber is deleted; its waiting deliveries become dead.
    case closed = 2
}

/// The order in which a subscriber's deliveries are sent.
public enum DeliveryOrdering: Int, Sendable {
    case none = 0
    /// Deliveries of the same channel are sent in the order of events, one attempt at a time. A delivery that waits for
    /// a retry blocks only the later deliveries of its channel.
    case perChannel = 1
    /// Deliveries are sent in the order of events, one attempt at a time. A delivery that waits for a retry blocks the
    /// later deliveries; a dead delivery does not.
    case strict = 2
}

/// The delivery settings of a subscriber.
public struct LaneSettings: Sendable, Equatable {
    /// The state: deliveries are sent, they wait, or the subscriber is deleted.
    public var state: LaneState
    /// The maximum number of attempts that run at the same time. Strict ordering always uses one.
    public var concurrency: Int
    /// The order in which deliveries are sent.
    public var ordering: DeliveryOrdering = .none
    /// The maximum number of attempts that begin per second; nil: unlimited. After a pause, the attempts of one second
    /// may begin together.
    public var rate: Double?
    /// The maximum number of deliveries in one attempt.
    public var deliveriesPerAttempt = 1
    /// True for a pull subscription: its deliveries are leased only by
    /// ``DeliveryQueue/lease(from:limit:lasting:wait:)``.
    public var isPulled = false
    /// The number of attempts after which a delivery becomes dead; nil for no limit. With a limit, an expired lease is
    /// recorded as a failed attempt (`ack_deadline`). Without a limit, an expired lease does not count as an attempt.
    public var attempts: Int?

    /// Creates settings without a rate limit, without ordering, and with one delivery per attempt.
    public init(state: LaneState = .open, concurrency: Int) {
        self.state = state
        self.concurrency = concurrency
    }
}

/// A query for deliveries. The result is ordered by event, and by subscriber among deliveries of the same event.
public struct DeliveryQuery: Sendable {
    /// The order of deliveries by their events.
    public enum Order: Sendable { case newestFirst, oldestFirst }

    /// The app whose deliveries are listed.
    public var app: AppID
    /// The id of the webhook or pull subscription whose deliveries are listed; nil: all of the app.
    public var subscriber: String?
    /// The statuses to list; empty: all.
    public var statuses: Set<DeliveryStatus> = []
    /// The timetoken of the event whose deliveries are listed; nil: of any event.
    public var event: Timetoken?
    /// The lower bound of the event's timetoken, exclusive; nil: no bound.
    public var after: Timetoken?
    /// The upper bound of the event's timetoken, exclusive; nil: no bound.
    public var before: Timetoken?
    /// The order of the list.
    public var order: Order = .newestFirst
    /// The maximum number of deliveries in a page.
    public var limit: Int
    /// `Page.cursor` of the previous page; nil for the first page. An invalid cursor is rejected with `.malformed`.
    public var cursor: String?
    /// True when the page needs a cursor after each delivery. A caller that leaves out some deliveries needs these
    /// cursors.
    public var wantsCursors = false

    /// Creates a query for all deliveries of an app.
    public init(app: AppID, limit: Int) {
        self.app = app
        self.limit = limit
    }

    /// The only status to list; nil when `statuses` is empty or has several statuses.
    public var status: DeliveryStatus? {
        get { statuses.count == 1 ? statuses.first : nil }
        set { statuses = newValue.map { [$0] } ?? [] }
    }
}

/// The deliveries that a replay makes due again.
public enum DeliverySelection: Sendable {
    case ids([String], in: AppID)
    /// The deliveries of a subscriber with events strictly between the bounds. `onlyFailed` excludes deliveries that
    /// were delivered.
    case range(SubscriberID, after: Timetoken, before: Timetoken, onlyFailed: Bool)
}
