public import ChatCore
public import ChatModel
import JSON
import Locking

/// Replays, redrives and purges of many deliveries. Every method requires the scope `manage`. A job of a webhook that
/// the caller may not read is treated as nonexistent. A job for all webhooks requires a caller who may read everything.
public struct Jobs: Sendable {
    /// The maximum number of unfinished jobs of one app.
    static let mostRunning = 20
    /// The maximum number of finished jobs of one app that stay stored.
    static let mostKept = 100

    private let registry: WebhookRegistry
    private let runner: JobRunner

    init(registry: WebhookRegistry, runner: JobRunner) {
        self.registry = registry
        self.runner = runner
    }

    private var directory: any Directory { registry.directory }

    /// Returns the current number of deliveries in a scope. `isExact` is false when counting stopped at a limit; the
    /// number is then a lower bound.
    ///
    /// - Throws: `.notFound` when the webhook does not exist; `.forbidden` without the right to these deliveries.
    public func count(
        _ scope: DeliveryScope, by caller: Caller
    ) async throws(ChatError) -> (count: Int, isExact: Bool) {
        try await requireReach(of: scope, by: caller)
        // Runs off the loop, because a filter may examine thousands of events.
        return try await asLongWork { () async throws(ChatError) in
            try await runner.selection.count(bounded(scope, by: caller), in: caller.app)
        }
    }

    /// Starts a job. The job excludes events and deliveries that are created after this call.
    ///
    /// - Parameter rate: the maximum number of deliveries per second; nil for no limit.
    /// - Throws: `.notFound` when the webhook does not exist; `.forbidden` without the right to these deliveries;
    ///   `.malformed` for a scope that the kind does not support; `.invalid` when too many jobs are unfinished.
    public func begin(
        _ kind: DeliveryJob.Kind, _ scope: DeliveryScope, rate: Int? = nil, by caller: Caller
    ) async throws(ChatError) -> DeliveryJob {
        let counted = try await count(scope, by: caller)
        if kind == .purge, scope.only != .dead { throw ChatError(.malformed, "only dead deliveries can be purged") }
        try await makeRoom(in: caller.app)
        let now = registry.service.clock.now
        // The id contains the time, so that ids sort in the order of creation. The directory rejects an id that exists.
        var job = DeliveryJob(
            id: "job_\(now.rawValue)", app: caller.app, kind: kind, scope: bounded(scope, by: caller), rate: rate,
            created: now)
        (job.count, job.isCountExact) = counted
        let pendingAnswer = PendingAnswer.change()
        let record: Record
        do throws(ChatError) {
            let change = RecordChange(job.key, body: job.body, precondition: .absent)
            record = try await directory.write([change] + [pendingAnswer].compactMap(\.self))[0]
        } catch {
            if pendingAnswer != nil { PendingAnswer.retract() }
            throw error
        }
        guard let stored = DeliveryJob(record, compilesFilter: false) else {
            throw ChatError(.unavailable, "the job's stored record cannot be read")
        }
        return stored
    }

    /// The app's jobs, the newest first unless the list requests another order. A page may have fewer jobs than its
    /// limit although there is a next page.
    ///
    /// - Parameter states: the states of the jobs to list; empty for all.
    /// - Throws: `.forbidden` without `manage`; `.malformed` for an invalid query.
    public func list(
        _ list: RecordList, states: Set<DeliveryJob.State> = [], by caller: Caller
    ) async throws(ChatError) -> Page<DeliveryJob> {
        try caller.require(.manage)
        var query = RecordQuery(.job, in: caller.app, limit: list.limit)
        query.sort = [(.id, false)]
        var isAsked: (@Sendable (DeliveryJob) -> Bool)?
        if !states.isEmpty { isAsked = { (job: DeliveryJob) -> Bool in states.contains(job.state) } }
        return try await list.page(
            of: query, in: directory, limits: registry.service.limits, created: { $0.created }, keeping: isAsked
        ) { records async throws(ChatError) in
            var jobs: [DeliveryJob?] = []
            for record in records {
                let job = DeliveryJob(record, compilesFilter: false)
                if let job, await isSeen(job, by: caller) { jobs.append(job) } else { jobs.append(nil) }
            }
            return jobs
        }
    }

    /// Returns a job.
    ///
    /// - Throws: `.notFound` when the app has no such job; `.forbidden` without the scope `manage`.
    public func job(_ id: String, by caller: Caller) async throws(ChatError) -> DeliveryJob {
        try caller.require(.manage)
        let record = try await directory.read(RecordKey(.job, id, in: caller.app))
        guard let job = record.flatMap({ DeliveryJob($0, compilesFilter: false) }), await isSeen(job, by: caller) else {
            throw ChatError(.notFound, "no job has this id")
        }
        return job
    }

    /// Pauses, resumes or cancels a job. Steps that were completed are not undone.
    ///
    /// - Throws: `.notFound` when the app has no such job; `.conflict` when the job is over.
    public func set(_ state: DeliveryJob.State, of id: String, by caller: Caller) async throws(ChatError) -> DeliveryJob
    {
        let job = try await job(id, by: caller)
        guard !job.state.isOver else {
            if job.state == state { return job }
            throw ChatError(.conflict, "the job has already ended: \(job.state.rawValue)")
        }
        let now = registry.service.clock.now
        let changed = try await runner.change(job.key) { job in
            guard !job.state.isOver else { return }
            if state.isOver { job.end(state, at: now) } else { job.state = state }
        }
        guard let changed else { throw ChatError(.notFound, "no job has this id") }
        return changed
    }

    // MARK: Permissions

    private func requireReach(of scope: DeliveryScope, by caller: Caller) async throws(ChatError) {
        try caller.require(.manage)
        if let webhook = scope.webhook {
            return try await registry.requireReach(of: SubscriberID(webhook, in: caller.app), by: caller)
        }
        guard caller.channels.contains(.all), caller.types.contains(.all) else {
            throw ChatError(
                .forbidden, "this credential does not have access to every delivery of the app; name a webhook")
        }
    }

    private func isSeen(_ job: DeliveryJob, by caller: Caller) async -> Bool {
        do throws(ChatError) {
            try await requireReach(of: job.scope, by: caller)
            return true
        } catch {
            // The job's webhook no longer exists. Its jobs are shown, because they reveal nothing about events.
            return error.code == .notFound
        }
    }

    // MARK: Bounds

    /// Returns the scope, limited to events that the caller may read and that were emitted before now. Without the
    /// limit in time, a job would also select the events that are emitted while it runs, and might never end.
    private func bounded(_ scope: DeliveryScope, by caller: Caller) -> DeliveryScope {
        var scope = scope
        scope.reach = DeliveryScope.Reach(caller)
        scope.before = min(scope.before, registry.service.clock.now)
        return scope
    }

    private func makeRoom(in app: AppID) async throws(ChatError) {
        var query = RecordQuery(.job, in: app, limit: Self.mostRunning + Self.mostKept + 1)
        query.sort = [(.id, false)]
        let jobs = try await directory.list(query).items.compactMap { DeliveryJob($0, compilesFilter: false) }
        guard jobs.count(where: { !$0.state.isOver }) < Self.mostRunning else {
            throw ChatError(
                .invalid,
                "an app may have at most \(Self.mostRunning) unfinished jobs; wait until one ends, or cancel one",
                slug: "too_many_jobs")
        }
        let old = jobs.filter(\.state.isOver).dropFirst(Self.mostKept)
        if !old.isEmpty { _ = try await directory.write(old.map { RecordChange($0.key, body: nil) }) }
    }
}
