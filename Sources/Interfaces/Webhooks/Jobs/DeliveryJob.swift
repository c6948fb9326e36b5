public import ChatModel

/// A job: work on many deliveries, which runs in steps. The job is stored in the directory of records after each step.
/// One node at a time runs the job. When the node stops, another one continues after the last completed step.
public struct DeliveryJob: Sendable {
    /// The kind of work.
    public enum Kind: String, Sendable {
        /// `replay` sends the deliveries of one webhook again. `redrive` retries failed or dead deliveries.
        case replay, redrive
        /// Removes dead deliveries.
        case purge
    }

    /// The state of a job.
    public enum State: String, Sendable, CaseIterable {
        case running, paused, done, cancelled, failed

        /// True when the job has ended and will not change any more.
        public var isOver: Bool { self != .running && self != .paused }
    }

    /// The id, `job_…`. Ids sort in the order of creation.
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
    /// The reason why the job failed; nil when it has not failed.
    public var reason: String?
    /// The number of deliveries that the job selected when it was created. A lower bound unless `isCountExact` is true.
    public var count = 0
    /// True when `count` is exact.
    public var isCountExact = true
    /// The number of deliveries, or of events of the log, that the job has examined.
    var examined = 0
    /// The number of deliveries that the job has made due or removed.
    public var done = 0
    /// The number of selected deliveries that the job left unchanged. These are deliveries in progress or already due,
    /// deliveries of a deleted webhook, and deliveries of a webhook whose queue is full.
    public var skipped = 0
    /// The position of the next step: a cursor of the delivery queue, or for a replay of logged events the timetoken of
    /// an event. Nil before the first step.
    var position: String?
    /// The node that runs the job, and the time from which another node may continue. Nil before the first step.
    var runner: (node: Int64, until: Timetoken)?
    /// The time of creation.
    public var created: Timetoken
    /// The time at which the job ended; nil while it has not ended.
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
