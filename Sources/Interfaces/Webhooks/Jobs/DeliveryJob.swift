public import ChatModel

/// Work on many deliveries that runs in steps. It is stored in the directory, so that after a restart it continues
/// where the last step ended.
public struct DeliveryJob: Sendable {
    /// The kind of work.
    public enum Kind: String, Sendable {
        /// Sends deliveries again.
        case replay, redrive
        /// Removes deliveries that were given up.
        case purge
    }

    /// The state of a job.
    public enum State: String, Sendable, CaseIterable {
        case running, paused, done, cancelled, failed

        /// True when the job will not change any more.
        public var isOver: Bool { self != .running && self != .paused }
    }

    /// `job_…`, in the order of creation.
    public var id: String
    /// The app of the job.
    public var app: AppID
    /// The kind of work.
    public var kind: Kind
    /// The deliveries that the job selects.
    public var scope: DeliveryScope
    /// The maximum number of deliveries per second; nil for no limit.
    public var rate: Int?
    /// The state of the job.
    public var state: State = .running
    /// The reason why it failed; nil otherwise.
    public var reason: String?
    /// The number of deliveries found when the job was created; a lower bound unless `isCountExact`.
    public var count = 0
    /// True when `count` is exact.
    public var isCountExact = true
    /// Deliveries, or events of the log, examined so far.
    var examined = 0
    /// Deliveries made due, or removed, so far.
    public var done = 0
    /// Deliveries in the scope that were left alone: those under way or already due, those of a closed webhook, and
    /// those of a webhook that holds as many as it may.
    public var skipped = 0
    /// The position of the next step: a cursor of the queue, or a timetoken of the log; nil at the start.
    var position: String?
    /// The time of creation.
    public var created: Timetoken
    /// The time at which the job ended; nil while it has not.
    public var finished: Timetoken?
    /// The time of the last change.
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
