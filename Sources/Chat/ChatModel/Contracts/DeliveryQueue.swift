public import JSON

/// What is owed to webhooks, durable (`engine.md` 1.4). The log is the only source of items.
public protocol DeliveryQueue: Sendable {
    /// Stores items and moves the named cursor in one step, so a crash neither loses nor doubles one.
    /// - Throws: `.conflict` if the cursor is not at `from`; then nothing was stored.
    func plan(
        _ items: [PlannedDelivery], cursor: CursorName, from: Timetoken, to: Timetoken
    ) async throws(ChatError)

    /// Where the named cursor stands; zero for a new one. Kept events after the oldest cursor, at most three days
    /// behind, are not expired.
    func cursor(_ name: CursorName) async throws(ChatError) -> Timetoken

    /// Items due now for open endpoints, leased to the caller, oldest due first within an endpoint; at most `concurrency`
    /// attempts per endpoint under way at any time. Waits up to `wait` for some; returns empty then, or when closed or
    /// cancelled.
    ///
    /// Nobody can take all there is to have: a space is given a lease only while it holds fewer than are free, an endpoint
    /// only while it holds fewer than its space may still take. So there is always one for who holds none.
    /// - Parameter capacity: leases that may be out at once.
    func take(_ limit: Int, capacity: Int, wait: Duration) async throws(ChatError) -> [Lease]

    /// Records attempts and what follows, in one step. An attempt is no longer under way from the call on. False for a
    /// lease that was lost: nothing changed.
    ///
    /// A retry beyond ``DeliveryOutcome/longestRetry`` is due then. It is not refused, since that would lose the record of
    /// all that ended beside it and have them sent again; and not dead, since a request too early costs less than a
    /// delivery. How long finished deliveries are kept has no say in it.
    /// - Throws: nothing was recorded, and the leases hold as before.
    func finish(_ attempts: [(lease: Lease, outcome: DeliveryOutcome)]) async throws(ChatError) -> [Bool]

    /// Keeps leases that take long. A lease lasts 60 s otherwise.
    func renew(_ leases: [Lease]) async throws(ChatError)

    /// Opens, pauses or closes an endpoint. Idempotent. `concurrency` bounds its leases.
    func set(_ state: LaneState, of endpoint: EndpointID, concurrency: Int) async throws(ChatError)

    func list(_ query: DeliveryQuery) async throws(ChatError) -> Page<Delivery>

    /// One delivery with its attempt log; nil when there is none in `space`.
    func delivery(_ id: String, in space: SpaceID) async throws(ChatError) -> (Delivery, [DeliveryAttempt])?

    /// Makes the selected deliveries due now, with the same id; one that is waiting for a retry has it brought forward.
    /// Deliveries under way are left alone. Returns how many; with `isDryRun` only counts.
    func replay(_ selection: DeliverySelection, isDryRun: Bool) async throws(ChatError) -> Int
}

extension DeliveryQueue {
    /// Without shares: whatever is due.
    public func take(_ limit: Int, wait: Duration) async throws(ChatError) -> [Lease] {
        try await take(limit, capacity: .max, wait: wait)
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
    public var endpoint: EndpointID
    public var event: Timetoken
    public var type: String
    public var channel: String
    /// The body to send, from the start, for a passing event: nobody could read it later.
    public var body: [UInt8]?

    public init(
        id: String, endpoint: EndpointID, event: Timetoken, type: String, channel: String, body: [UInt8]? = nil
    ) {
        self.id = id
        self.endpoint = endpoint
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
    public var endpoint: EndpointID
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
        id: String, endpoint: EndpointID, event: Timetoken, type: String, channel: String, status: DeliveryStatus,
        attempts: Int, due: Timetoken?, reason: String? = nil
    ) {
        self.id = id
        self.endpoint = endpoint
        self.event = event
        self.type = type
        self.channel = channel
        self.status = status
        self.attempts = attempts
        self.due = due
        self.reason = reason
    }
}

/// The right to attempt one delivery now. `fence` tells a late comer from the owner.
public struct Lease: Sendable {
    public var delivery: Delivery
    public var fence: UInt64
    /// The bytes of an earlier attempt, or of a passing event; nil: print them from the event.
    public var body: [UInt8]?
    /// Whether a person asked for this attempt.
    public var isManual: Bool

    public init(delivery: Delivery, fence: UInt64, body: [UInt8]?, isManual: Bool = false) {
        self.delivery = delivery
        self.fence = fence
        self.body = body
        self.isManual = isManual
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
    /// The bytes sent, stored so that every retry repeats them; nil when they are stored already or not needed again.
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

public struct DeliveryQuery: Sendable {
    public var space: SpaceID
    /// Within this webhook; nil: all of the space.
    public var endpoint: String?
    public var status: DeliveryStatus?
    public var event: Timetoken?
    /// Newest event first.
    public var limit: Int
    /// From `Page.cursor`. A cursor that is none of ours: `.malformed`.
    public var cursor: String?

    public init(space: SpaceID, limit: Int) {
        self.space = space
        self.limit = limit
    }
}

public enum DeliverySelection: Sendable {
    case ids([String], in: SpaceID)
    /// Deliveries of an endpoint whose event lies strictly between the bounds; `onlyFailed` leaves out delivered ones.
    case range(EndpointID, after: Timetoken, before: Timetoken, onlyFailed: Bool)
}
