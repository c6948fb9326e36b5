import ChatCore
import ChatModel
import JSON
import Locking
import Logging

/// Runs the steps of jobs, alternating between the jobs. A step is bounded, and its progress is stored before the next
/// step begins. A crash repeats at most one step, which is harmless because deliveries keep their ids.
///
/// The record of a job names the node that runs it, with a lease that each step renews. The other nodes read the record
/// when the lease ends, and one of them continues the job.
final class JobRunner: Sendable {
    let selection: JobSelection
    private let registry: WebhookRegistry
    private let logger: Logger
    private struct State {
        /// The time at which each job's next step is due; ``stepping`` while a step of the job runs.
        var due: [RecordKey: Timetoken] = [:]
        /// The jobs whose records were written while their steps ran.
        var changed: Set<RecordKey> = []
    }

    private let state = Lock(State())
    private static let stepping = Timetoken.distantFuture
    /// The maximum delay of a step for which the job catches up by starting its next steps earlier. Catching up on a
    /// longer delay would cause a burst.
    private static let longestDelay: Duration = .seconds(1)
    /// The time for which a step reserves the job for this node.
    static let lease: Duration = .seconds(10)
    private let wakes: AsyncStream<Void>
    private let waker: AsyncStream<Void>.Continuation

    init(registry: WebhookRegistry, logger: Logger) {
        self.registry = registry
        self.logger = logger
        selection = JobSelection(registry: registry)
        (wakes, waker) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        registry.directory.observe { [weak self] changes in
            for key in changes.keys where key.kind == .job { self?.consider(key) }
        }
    }

    private var node: Int64 { registry.service.nodes.node }
    private var directory: any Directory { registry.directory }
    private var clock: WallClock { registry.service.clock }

    /// Makes the next step of a job due immediately, unless its time is known. Called for each job that was created or
    /// changed on any node.
    private func consider(_ key: RecordKey) {
        state.withLock { state in
            switch state.due[key] {
            case nil: state.due[key] = .zero
            case Self.stepping: state.changed.insert(key)
            default: break
            }
        }
        waker.yield()
    }

    /// Runs steps until the task is cancelled. Only one task may call it.
    func run() async {
        await loadUnfinished()
        for await _ in wakes {
            while !Task.isCancelled, state.withLock({ !$0.due.isEmpty }) {
                let now = clock.now
                let due = state.withLock { $0.due.filter { $0.value <= now }.map(\.key) }
                for key in due { await step(key) }
                // The loop's condition checks for cancellation.
                if due.isEmpty { try? await Task.sleep(for: pause(at: now)) }
            }
        }
    }

    /// The time to sleep: until the next step is due, but at most `jobPause`, so that a new job starts soon.
    private func pause(at now: Timetoken) -> Duration {
        let next = state.withLock { $0.due.values.min() } ?? .distantFuture
        guard next < now.adding(registry.options.jobPause) else { return registry.options.jobPause }
        return max(.nanoseconds(100 * Int64(next.rawValue - min(now, next).rawValue)), .milliseconds(1))
    }

    private func loadUnfinished() async {
        for app in registry.service.keyring.apps {
            while !Task.isCancelled {
                do throws(ChatError) {
                    let query = RecordQuery(.job, in: app.id, limit: Jobs.mostRunning + Jobs.mostKept + 1)
                    let jobs = try await directory.list(query).items.compactMap {
                        DeliveryJob($0, compilesFilter: false)
                    }
                    for job in jobs where job.state == .running { consider(job.key) }
                    break
                } catch {
                    logger.warning(
                        "cannot read unfinished jobs; trying again",
                        metadata: ["app": "\(app.id)", "error": "\(error.message)"])
                    // The loop's condition checks for cancellation.
                    try? await Task.sleep(for: registry.options.jobPause)
                }
            }
        }
    }

    /// Runs the next step of a job. A job that does not run any more is removed.
    private func step(_ key: RecordKey) async {
        let begun = clock.now
        let wasDue = state.withLock { $0.due.updateValue(Self.stepping, forKey: key) } ?? .zero
        var due = Timetoken.zero
        do throws(ChatError) {
            guard var job = try await read(key, compilesFilter: true), job.state == .running else {
                return end(key, due: nil)
            }
            if let runner = job.runner, runner.node != node, begun < runner.until {
                return end(key, due: runner.until)
            }
            guard try await claim(&job, at: begun) else { return end(key, due: begun) }
            let part = try await selection.part(
                of: job.scope, in: job.app, at: job.position, limit: min(job.rate ?? .max, JobSelection.pageSize))
            let done = try await perform(part, of: job)
            // The next step is due immediately, or when the rate permits it. The time counts from the due time of this
            // step, so that the duration of the step is not added.
            let pause = job.rate.map { Duration.seconds(1) * part.count / $0 } ?? .zero
            due = (wasDue.adding(Self.longestDelay) < begun ? begun : wasDue).adding(pause)
            try await recordProgress(part, done, of: job)
        } catch {
            // The job was changed during the step, for instance because another node has continued it.
            guard error.code != .stale else { return end(key, due: begun) }
            await recover(from: error, key)
        }
        end(key, due: due)
    }

    private func perform(_ part: JobSelection.Part, of job: DeliveryJob) async throws(ChatError) -> Int {
        let queue = registry.queue
        // A user who starts a job expects the receiver to work again, so the circuit is closed, as after a manual
        // retry. The circuit is closed only once; otherwise every page would send attempts to a receiver that still
        // fails.
        if job.kind != .purge, job.position == nil, let webhook = job.scope.webhook {
            await registry.resetCircuit(of: SubscriberID(webhook, in: job.app))
        }
        // A step that took longer than the lease must not change deliveries while another node continues the job.
        let version = RecordVersion(job.key, etag: job.etag)
        if !part.items.isEmpty { return try await queue.enqueue(part.items, whileCurrent: version).due }
        guard !part.ids.isEmpty else { return 0 }
        return switch job.kind {
        case .replay, .redrive:
            try await queue.replay(.ids(part.ids, in: job.app), isDryRun: false, whileCurrent: version)
        case .purge: try await queue.purge(part.ids, in: job.app, whileCurrent: version)
        }
    }

    /// Reserves a job for the next step, unless the last step has done so. Returns false when the job's record has changed.
    private func claim(_ job: inout DeliveryJob, at now: Timetoken) async throws(ChatError) -> Bool {
        if let runner = job.runner, runner.node == node, now.adding(Self.lease / 2) < runner.until { return true }
        job.runner = (node, now.adding(Self.lease))
        do throws(ChatError) {
            job.etag = try await directory.write([
                RecordChange(job.key, body: job.body, precondition: .etag(job.etag))
            ])[0].etag
            return true
        } catch {
            guard error.code == .stale || error.code == .notFound else { throw error }
            return false
        }
    }

    private func recordProgress(_ part: JobSelection.Part, _ done: Int, of job: DeliveryJob) async throws(ChatError) {
        let now = clock.now
        let (node, start) = (node, job.position)
        _ = try await change(job.key) { job in
            // Another node has continued the job, because this step took longer than the lease.
            guard job.runner?.node == node, job.position == start else { return }
            job.examined += part.examined
            job.done += done
            job.skipped += part.count - done
            job.position = part.position
            job.runner = (node, now.adding(Self.lease))
            if part.position == nil, !job.state.isOver { job.end(.done, at: now) }
        }
    }

    /// Handles a failed step. A permanent error ends the job; after a temporary error, the step is repeated.
    private func recover(from error: ChatError, _ key: RecordKey) async {
        logger.warning(
            "a step of the job failed; a temporary failure is retried",
            metadata: ["job": "\(key.id)", "error": "\(error.message)"])
        let now = clock.now
        // A conflict means that the webhook's record cannot be read, which needs another version of the gateway.
        if [.notFound, .malformed, .conflict].contains(error.code) {
            // If the end of the job cannot be stored, the next step fails in the same way and stores the end again.
            _ = try? await change(key) { if !$0.state.isOver { $0.end(.failed, reason: error.message, at: now) } }
        }
        // The caller's loop checks for cancellation.
        try? await Task.sleep(for: registry.options.jobPause)
    }

    /// Ends a step.
    ///
    /// - Parameter due: the time of the next step; nil when there is none. If the job was changed during the step, the
    ///   record that the step has read may be outdated, so that another step looks at it.
    private func end(_ key: RecordKey, due: Timetoken?) {
        state.withLock { state in
            let isChanged = state.changed.remove(key) != nil
            state.due[key] = due ?? (isChanged ? .zero : nil)
        }
    }

    // MARK: Records

    private func read(_ key: RecordKey, compilesFilter: Bool) async throws(ChatError) -> DeliveryJob? {
        try await directory.read(key).flatMap { DeliveryJob($0, compilesFilter: compilesFilter) }
    }

    /// Reads a job, changes it with `alter` and writes it. Starts again if another request has written the job in the
    /// meantime. Returns the written job, or nil when the job does not exist.
    func change(_ key: RecordKey, _ alter: (inout DeliveryJob) -> Void) async throws(ChatError) -> DeliveryJob? {
        while true {
            guard var job = try await read(key, compilesFilter: false) else { return nil }
            let etag = job.etag
            alter(&job)
            do {
                let record = try await directory.write([RecordChange(key, body: job.body, precondition: .etag(etag))])[
                    0]
                return DeliveryJob(record, compilesFilter: false)
            } catch {
                // The record was changed by another write.
                if error.code == .notFound { return nil }
                if error.code != .stale { throw error }
            }
        }
    }
}
