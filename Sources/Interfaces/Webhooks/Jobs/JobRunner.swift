import ChatCore
import ChatModel
import JSON
import Locking
import Logging

/// Runs the steps of jobs, alternating between the jobs. A step is bounded, and its progress is stored before the next
/// step begins. A crash repeats at most one step, which is harmless because deliveries keep their ids.
final class JobRunner: Sendable {
    let selection: JobSelection
    private let registry: WebhookRegistry
    private let logger: Logger
    /// The time at which each job's next step is due; ``stepping`` while a step of the job runs.
    private let running = Lock<[RecordKey: Timetoken]>([:])
    private static let stepping = Timetoken.distantFuture
    /// The maximum delay of a step for which the job catches up by starting its next steps earlier. Catching up on a
    /// longer delay would cause a burst.
    private static let longestDelay: Duration = .seconds(1)
    private let wakes: AsyncStream<Void>
    private let waker: AsyncStream<Void>.Continuation

    init(registry: WebhookRegistry, logger: Logger) {
        self.registry = registry
        self.logger = logger
        selection = JobSelection(registry: registry)
        (wakes, waker) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    private var directory: any Directory { registry.directory }
    private var clock: WallClock { registry.service.clock }

    /// Makes the next step of a new or changed job due immediately.
    func wake(_ key: RecordKey) {
        running.withLock { $0[key] = .zero }
        waker.yield()
    }

    /// Runs steps until the task is cancelled. Only one task may call it.
    func run() async {
        await loadUnfinished()
        for await _ in wakes {
            while !Task.isCancelled, running.withLock({ !$0.isEmpty }) {
                let now = clock.now
                let due = running.withLock { $0.filter { $0.value <= now }.map(\.key) }
                for key in due { await step(key) }
                // The loop's condition checks for cancellation.
                if due.isEmpty { try? await Task.sleep(for: pause(at: now)) }
            }
        }
    }

    /// The time to sleep: until the next step is due, but at most `jobPause`, so that a job woken by `wake` starts
    /// soon.
    private func pause(at now: Timetoken) -> Duration {
        let next = running.withLock { $0.values.min() } ?? .distantFuture
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
                    for job in jobs where job.state == .running { wake(job.key) }
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

    /// Runs the next step of a job. A job that does not run any more is removed from `running`.
    private func step(_ key: RecordKey) async {
        let begun = clock.now
        let wasDue = running.withLock { $0.updateValue(Self.stepping, forKey: key) } ?? .zero
        var due = Timetoken.zero
        do throws(ChatError) {
            guard let job = try await read(key, compilesFilter: true), job.state == .running else {
                return end(key, due: nil)
            }
            let part = try await selection.part(
                of: job.scope, in: job.app, at: job.position, limit: min(job.rate ?? .max, JobSelection.pageSize))
            let done = try await perform(part, of: job)
            // The next step is due immediately, or when the rate permits it. The time counts from the due time of this
            // step, so that the duration of the step is not added.
            let pause = job.rate.map { Duration.seconds(1) * part.count / $0 } ?? .zero
            due = (wasDue.adding(Self.longestDelay) < begun ? begun : wasDue).adding(pause)
            try await recordProgress(part, done, key)
        } catch {
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
        if !part.items.isEmpty { return try await queue.enqueue(part.items).due }
        guard !part.ids.isEmpty else { return 0 }
        return switch job.kind {
        case .replay, .redrive: try await queue.replay(.ids(part.ids, in: job.app), isDryRun: false)
        case .purge: try await queue.purge(part.ids, in: job.app)
        }
    }

    private func recordProgress(_ part: JobSelection.Part, _ done: Int, _ key: RecordKey) async throws(ChatError) {
        let now = clock.now
        _ = try await change(key) { job in
            job.examined += part.examined
            job.done += done
            job.skipped += part.count - done
            job.position = part.position
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
    /// - Parameter due: the time of the next step; nil when there is none. If the job was woken during the step, this
    ///   time is ignored, because the record that the step has read may be outdated.
    private func end(_ key: RecordKey, due: Timetoken?) {
        running.withLock { if $0[key] == Self.stepping { $0[key] = due } }
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
