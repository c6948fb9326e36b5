public import JSON

/// The durable queue of deliveries owed to webhooks and pull subscriptions. The log is the only source of items.
public protocol DeliveryQueue: Sendable {
    /// Stores items and moves the named cursor in one step, so a crash neither loses nor duplicates an item.
    ///
    /// - Returns: the number of items stored as dead, by subscriber. An item is dead from the start, with the reason
    ///   `held_too_many`, when its subscriber already has the maximum number of deliveries waiting.
    /// - Throws: `.conflict` if the cursor is not at `from`; then nothing was stored.
    @discardableResult
    func plan(
        _ items: [PlannedDelivery], cursor: CursorName, from: Timetoken, to: Timetoken
    ) async throws(ChatError) -> [SubscriberID: Int]

    /// The position of the named cursor; zero for a new cursor. Kept events after the oldest cursor do not expire while
    /// the cursor is at most three days behind.
    func cursor(_ name: CursorName) async throws(ChatError) -> Timetoken

    /// Leases items that are due now for open subscribers, oldest due first within a subscriber. At most `concurrency`
    /// attempts per subscriber are under way at any time. Waits up to `wait` for an item. Returns an empty array when
    /// the wait ends, the queue is closed or the task is cancelled.
    ///
    /// No app and no subscriber can take the whole capacity. An app is given a lease only while it holds fewer than
    /// seven times the free capacity, and a subscriber only while it holds fewer than its app may still take. A single
    /// active app therefore gets seven eighths of the capacity, and one lease is always free for an app that holds
    /// none.
    ///
    /// Leases of one attempt (``LaneSettings/deliveriesPerAttempt``) are adjacent in the result and have the same
    /// ``Lease/attempt``. They count as one wherever attempts are counted, including here. The caller attempts all of
    /// them at once.
    /// - Parameters:
    ///   - limit: the number of attempts wanted now.
    ///   - capacity: the number of attempts that may be under way at once.
    func lease(_ limit: Int, capacity: Int, wait: Duration) async throws(ChatError) -> [Lease]

    /// Leases items of one pulled subscriber (``LaneSettings/isPulled``), as ``lease(_:capacity:wait:)`` does. Each
    /// lease is an attempt of its own.
    /// - Parameter duration: the duration of the leases.
    func lease(
        from subscriber: SubscriberID, limit: Int, lasting duration: Duration, wait: Duration
    ) async throws(ChatError) -> [Lease]

    /// Records attempts and their outcomes in one step. An attempt is no longer under way once this is called. The
    /// result is false for a lease that was lost; nothing changed for it.
    ///
    /// A retry later than ``DeliveryOutcome/longestRetry`` is moved to that limit. Rejecting it would lose the record
    /// of every attempt in the same call, and those deliveries would be sent again. Making it dead would lose the
    /// delivery, which costs more than a request that is too early. The retention of finished deliveries does not
    /// affect the limit.
    /// - Throws: the store's error. Then nothing was recorded, and the leases hold as before.
    func finish(_ attempts: [(lease: Lease, outcome: DeliveryOutcome)]) async throws(ChatError) -> [Bool]

    /// Stores bodies that are about to be sent, durably, so that every later attempt sends the same bytes. If an
    /// attempt is never recorded, the next attempt still repeats what it sent.
    ///
    /// - Returns: the stored body of each delivery. It is the given body, or another one that replaced the lease's body
    ///   since the lease was given. Nil when the event is no longer in the log, or the delivery no longer in the queue.
    func keep(_ bodies: [(lease: Lease, body: [UInt8])]) async throws(ChatError) -> [[UInt8]?]

    /// Makes leases last for `duration` from now; without a renewal, a lease lasts 60 s. A duration of zero returns the
    /// leases, and no attempt is counted. The result is false for a lease that was lost.
    @discardableResult
    func renew(_ leases: [Lease], for duration: Duration) async throws(ChatError) -> [Bool]

    /// Replaces all delivery settings of a subscriber, durably. Idempotent. A new ordering also applies to items that
    /// wait.
    func set(_ settings: LaneSettings, of subscriber: SubscriberID) async throws(ChatError)

    /// Slows a subscriber down beyond its settings, in memory, until the next call: at most `concurrency` attempts are
    /// under way (none at zero), and none begins before `notBefore`. Nil restores the value of the settings.
    func pace(_ subscriber: SubscriberID, concurrency: Int?, notBefore: Timetoken?) async

    /// Lists deliveries, ordered by event and then by subscriber. A page costs the same wherever it begins and however
    /// many deliveries there are. The exception is a query for `pending` without `failed`, or the reverse: its pages
    /// and its count may read every waiting delivery.
    func list(_ query: DeliveryQuery) async throws(ChatError) -> Page<Delivery>

    /// For each query the number of deliveries that match it, counted up to `most`. All are counted in one read, at the
    /// same point of the log.
    func counts(_ queries: [DeliveryQuery], most: Int) async throws(ChatError) -> [Int]

    /// One delivery with its attempt log; nil when `app` has no such delivery.
    func delivery(_ id: String, in app: AppID) async throws(ChatError) -> (Delivery, [DeliveryAttempt])?

    /// Makes the selected deliveries due now, with the same ids. A delivery that waits for a retry becomes due now.
    /// Deliveries under way are left alone. Returns the number of deliveries; with `isDryRun` it only counts them.
    func replay(_ selection: DeliverySelection, isDryRun: Bool) async throws(ChatError) -> Int

    /// Replays items from the log: stores an item that is missing, and makes one that is finished due again. Skips
    /// items that are under way or waiting, and closed subscribers. Stops at the first item whose subscriber has no
    /// room for it.
    ///
    /// - Returns: the number of items made due, and the number of items processed before it stopped.
    func enqueue(_ items: [PlannedDelivery]) async throws(ChatError) -> (due: Int, processed: Int)

    /// Makes a subscriber's waiting deliveries up to and including `event` dead, with the reason `skipped`. Deliveries
    /// under way are left alone. Returns the number of deliveries.
    @discardableResult
    func skip(_ subscriber: SubscriberID, through event: Timetoken) async throws(ChatError) -> Int

    /// Removes the dead deliveries among `ids`. Returns the number removed.
    func purge(_ ids: [String], in app: AppID) async throws(ChatError) -> Int
}

extension DeliveryQueue {
    /// Leases whatever is due, without a limit on the share of an app or a subscriber.
    ///
    /// - Throws: as ``lease(_:capacity:wait:)``.
    public func lease(_ limit: Int, wait: Duration) async throws(ChatError) -> [Lease] {
        try await lease(limit, capacity: .max, wait: wait)
    }

    /// Renews leases for another 60 s.
    ///
    /// - Throws: as ``renew(_:for:)``. A lease that was lost is not an error.
    public func renew(_ leases: [Lease]) async throws(ChatError) {
        try await renew(leases, for: .seconds(60))
    }

    /// Opens, pauses or closes a subscriber, with default values for all other settings.
    ///
    /// - Throws: as ``set(_:of:)``.
    public func set(_ state: LaneState, of subscriber: SubscriberID, concurrency: Int) async throws(ChatError) {
        try await set(LaneSettings(state: state, concurrency: concurrency), of: subscriber)
    }

    /// Records one attempt. False when the lease was lost.
    ///
    /// - Throws: as ``finish(_:)``; then nothing was recorded.
    public func finish(_ lease: Lease, _ outcome: DeliveryOutcome) async throws(ChatError) -> Bool {
        try await finish([(lease, outcome)])[0]
    }
}

/// The name of a position in the log that the queue stores.
public struct CursorName: Hashable, Sendable {
    /// The name, unique in the installation.
    @ExactText public var text: String
    /// The position with this name.
    public init(_ text: String) { self.text = text }
}

/// An event owed to a subscriber, as the planner found it.
public struct PlannedDelivery: Sendable {
    /// The delivery id, `dlv_…`, unique in the installation. The planner derives it from the event and the subscriber.
    public var id: String
    /// The receiver.
    public var subscriber: SubscriberID
    /// The timetoken of the event.
    public var event: Timetoken
    /// The type of the event.
    public var type: String
    /// The name of the event's channel.
    public var channel: String
    /// The body to send; set only for a passing event, which cannot be read from the log later.
    public var body: [UInt8]?

    /// A delivery that is not stored yet.
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

/// The status of a delivery in the API. A `held` delivery belongs to a disabled webhook and is due when it is enabled
/// again.
public enum DeliveryStatus: String, Sendable, CaseIterable { case pending, failed, delivered, dead, held }

/// A delivery as listings show it.
public struct Delivery: Sendable {
    /// The delivery id, `dlv_…`, unique in the installation.
    public var id: String
    /// The receiver.
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
    /// The time of the next attempt; nil when none is due.
    public var due: Timetoken?
    /// The reason why the delivery is dead; nil for other statuses.
    public var reason: String?
    /// The time at which the delivery was stored; nil in a lease.
    public var created: Timetoken?

    /// A delivery as it is stored.
    public init(
        id: String, subscriber: SubscriberID, event: Timetoken, type: String, channel: String, status: DeliveryStatus,
        attempts: Int, due: Timetoken?, reason: String? = nil, created: Timetoken? = nil
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

/// The right to attempt one delivery now. The number `fence` distinguishes the current holder from one whose lease was
/// lost. A class, because a lease is passed around often and has many fields.
public final class Lease: Sendable {
    /// The delivery that may be attempted.
    public let delivery: Delivery
    /// A number that no other lease of the delivery has had.
    public let fence: UInt64
    /// The bytes that an earlier attempt sent, or of a passing event. Nil: the body is printed from the event.
    public let body: [UInt8]?
    /// True when a person requested this attempt.
    public let isManual: Bool
    /// The number of the attempt, shared by all its leases.
    public let attempt: UInt64

    /// - Parameter attempt: nil for a lease that is alone in its attempt.
    public init(delivery: Delivery, fence: UInt64, body: [UInt8]?, isManual: Bool = false, attempt: UInt64? = nil) {
        self.delivery = delivery
        self.fence = fence
        self.body = body
        self.isManual = isManual
        self.attempt = attempt ?? fence
    }
}

/// The result of an attempt: what becomes of the delivery, and the entry for its attempt log.
public struct DeliveryOutcome: Sendable {
    /// The next state of a delivery after an attempt.
    public enum Verdict: Sendable {
        case delivered
        /// The time of the next attempt, at most `longestRetry` from now.
        case retry(at: Timetoken)
        case dead(reason: String)
    }

    /// The longest time until a retry: 30 days.
    public static let longestRetry: Duration = .seconds(30 * 24 * 3600)

    /// The next state of the delivery.
    public var verdict: Verdict
    /// The entry for the attempt log.
    public var attempt: DeliveryAttempt
    /// The bytes sent, stored so that every retry repeats them. Nil when they are already stored or are not needed
    /// again. They are not stored when the event left the log during the attempt.
    public var body: [UInt8]?

    /// The outcome of one attempt.
    public init(_ verdict: Verdict, attempt: DeliveryAttempt, body: [UInt8]? = nil) {
        self.verdict = verdict
        self.attempt = attempt
        self.body = body
    }
}

/// One entry of a delivery's attempt log. The log keeps the last 20 attempts, with the first 16 KiB of the response
/// body for the latest attempt and 1 KiB for earlier ones.
public struct DeliveryAttempt: Sendable {
    /// The time at which the attempt began.
    public var at: Timetoken
    /// The HTTP status; nil when no response came.
    public var status: Int?
    /// The error class (`timeout`, `blocked_address`, …); nil on success.
    public var error: String?
    /// The duration of the attempt in milliseconds.
    public var durationMilliseconds: Int
    /// True when a person requested the attempt.
    public var isManual: Bool
    /// The beginning of the response body: at most 16 KiB.
    public var responseBody: [UInt8]
    /// True when the response body was longer.
    public var isTruncated: Bool
    /// Further details (timings, address, headers) as a JSON object, stored unchanged.
    public var details: JSONText?

    /// An attempt and its outcome.
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
    /// Items stay queued and keep their due times. New items queue up, within the limits.
    case paused = 1
    /// The webhook is deleted; its items become dead.
    case closed = 2
}

/// The order in which a subscriber's deliveries are sent.
public enum DeliveryOrdering: Int, Sendable {
    case none = 0
    /// The same as `strict` within each channel; channels proceed independently.
    case perChannel = 1
    /// The oldest unfinished event is sent first and alone. A delivery that waits for its retry blocks those after it;
    /// a dead one does not.
    case strict = 2
}

/// The delivery settings of a subscriber.
public struct LaneSettings: Sendable, Equatable {
    /// Whether deliveries are sent, held back or ended.
    public var state: LaneState
    /// The maximum number of attempts under way at once. Always one with strict ordering.
    public var concurrency: Int
    /// The order in which deliveries are sent.
    public var ordering: DeliveryOrdering = .none
    /// The maximum number of attempts begun per second; nil: unlimited. After a pause, one second's worth may begin at
    /// once.
    public var rate: Double?
    /// The maximum number of deliveries in one attempt.
    public var deliveriesPerAttempt = 1
    /// True when items are leased only through a request for this subscriber.
    public var isPulled = false
    /// The number of attempts after which an item is dead instead of due again. When it is set, a lease that runs out
    /// is recorded as a failed attempt (`ack_deadline`); when it is nil, such a lease counts as no attempt.
    public var attempts: Int?

    /// Settings without rate limit, shared attempts and ordering.
    public init(state: LaneState = .open, concurrency: Int) {
        self.state = state
        self.concurrency = concurrency
    }
}

/// A query for deliveries. They are ordered by event, and by subscriber among deliveries of the same event.
public struct DeliveryQuery: Sendable {
    /// The order of deliveries by their events.
    public enum Order: Sendable { case newestFirst, oldestFirst }

    /// The app whose deliveries are listed.
    public var app: AppID
    /// The webhook whose deliveries are listed; nil: all of the app.
    public var subscriber: String?
    /// The statuses to list; empty: all.
    public var statuses: Set<DeliveryStatus> = []
    /// The event whose deliveries are listed; nil: of any event.
    public var event: Timetoken?
    /// The lower bound for the events, exclusive; nil: no bound.
    public var after: Timetoken?
    /// The upper bound for the events, exclusive; nil: no bound.
    public var before: Timetoken?
    /// The order of the list.
    public var order: Order = .newestFirst
    /// The maximum number of deliveries in a page.
    public var limit: Int
    /// `Page.cursor` of the page before. An invalid cursor is rejected with `.malformed`.
    public var cursor: String?
    /// True when the page needs a cursor after each delivery, for a caller that leaves some out.
    public var wantsCursors = false

    /// A query for all deliveries of an app.
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

/// The deliveries that a replay covers.
public enum DeliverySelection: Sendable {
    case ids([String], in: AppID)
    /// Deliveries of a subscriber whose event is strictly between the bounds. `onlyFailed` excludes delivered ones.
    case range(SubscriberID, after: Timetoken, before: Timetoken, onlyFailed: Bool)
}
