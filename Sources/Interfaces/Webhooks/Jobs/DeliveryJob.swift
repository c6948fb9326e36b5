public import ChatModel

/// Work on many deliveries, done in steps beside everything else: kept in the directory, so that a restart goes on where
/// the last step ended.
public struct DeliveryJob: Sendable {
    public enum Kind: String, Sendable {
        /// Sends again.
        case replay, redrive
        /// Removes what was given up.
        case purge
    }

    public enum State: String, Sendable, CaseIterable {
        case running, paused, done, cancelled, failed

        /// Nothing will change any more.
        public var isOver: Bool { self != .running && self != .paused }
    }

    /// `job_…`, in the order of their making.
    public var id: String
    public var app: AppID
    public var kind: Kind
    public var scope: DeliveryScope
    /// Deliveries per second; nil: as fast as it goes.
    public var rate: Int?
    public var state: State = .running
    /// Why it failed.
    public var reason: String?
    /// What was found to do when it was made; a lower bound unless `isCountExact`.
    public var count = 0
    public var isCountExact = true
    /// Deliveries, or events of the log, looked at so far.
    var examined = 0
    /// Deliveries made due, or removed.
    public var done = 0
    /// Deliveries that belong to it and were left alone: under way or due already, of a closed webhook, or of one that
    /// holds as many as it may.
    public var skipped = 0
    /// Where the next step begins: a cursor of the queue, or a timetoken of the log; nil at the start.
    var position: String?
    public var created: Timetoken
    public var finished: Timetoken?
    public var updated: Timetoken
    var etag = ""

    init(id: String, app: AppID, kind: Kind, scope: DeliveryScope, rate: Int?, created: Timetoken) {
        self.id = id
        self.app = app
        self.kind = kind
        self.scope = scope
        self.rate = rate
        self.created = created
        updated = created
    }

    var key: RecordKey { RecordKey(.job, id, in: app) }

    mutating func end(_ state: State, reason: String? = nil, at now: Timetoken) {
        self.state = state
        self.reason = reason
        finished = now
    }
}
