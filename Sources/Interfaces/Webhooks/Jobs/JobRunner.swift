import ChatCore
import ChatModel
import JSON
import Locking
import Logging

/// Does the steps of jobs, one job after the other. A step is bounded; its progress is written down before the next, so
/// that after a crash at most one step is done again, which deliveries bear: they keep their ids.
final class JobRunner: Sendable {
    let selection: JobSelection
    private let registry: WebhookRegistry
    private let logger: Logger
    /// When each job's next step is due; ``stepping`` while one is made.
    private let alive = Lock<[RecordKey: Timetoken]>([:])
    private static let stepping = Timetoken.distantFuture
    /// A step that comes later than this after it was due is not made up for: what follows would be a burst.
    private static let mostLate: Duration = .seconds(1)
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

    /// Looks at a job again: it is new, or was changed.
    func wake(_ key: RecordKey) {
        alive.withLock { $0[key] = .zero }
        waker.yield()
    }

    /// Works until cancelled. For one task.
    func run() async {
        await loadUnfinished()
        for await _ in wakes {
            while !Task.isCancelled, alive.withLock({ !$0.isEmpty }) {
                let now = clock.now
                let due = alive.withLock { $0.filter { $0.value <= now }.map(\.key) }
                for key in due { await step(key) }
                // Cancellation shows at the loop's head; the pause carries no other news.
                if due.isEmpty { try? await Task.sleep(for: pause(at: now)) }
            }
        }
    }

    /// Until the next step is due, but no longer than it takes to see a job that was woken.
    private func pause(at now: Timetoken) -> Duration {
        let next = alive.withLock { $0.values.min() } ?? .distantFuture
        guard next < now.adding(registry.options.jobPause) else { return registry.options.jobPause }
        return max(.nanoseconds(100 * Int64(next.rawValue - min(now, next).rawValue)), .milliseconds(1))
    }

    private func loadUnfinished() async {
        for app in registry.service.keyring.apps {
            while !Task.isCancelled {
                do throws(ChatError) {
                    let query = RecordQuery(.job, in: app.id, limit: Jobs.mostAlive + Jobs.mostKept + 1)
                    let jobs = try await directory.list(query).items.compactMap {
                        DeliveryJob($0, compilesFilter: false)
                    }
                    for job in jobs where job.state == .running { wake(job.key) }
                    break
                } catch {
                    logger.warning("jobs not read", metadata: ["app": "\(app.id)", "error": "\(error.message)"])
                    // Cancellation shows at the loop's head.
                    try? await Task.sleep(for: registry.options.jobPause)
                }
            }
        }
    }

    /// Does the next part of a job, or forgets one that is not to run.
    private func step(_ key: RecordKey) async {
        let begun = clock.now
        let wasDue = alive.withLock { $0.updateValue(Self.stepping, forKey: key) } ?? .zero
        var due = Timetoken.zero
        do throws(ChatError) {
            guard let job = try await read(key, compilesFilter: true), job.state == .running else {
                return end(key, due: nil)
            }
            let part = try await selection.part(
                of: job.scope, in: job.app, at: job.position, limit: min(job.rate ?? .max, JobSelection.pageSize))
            let done = try await perform(part, of: job)
            // Next round, or when the rate allows: counted from when this step was due, or its own time would be missing.
            let pause = job.rate.map { Duration.seconds(1) * part.count / $0 } ?? .zero
            due = (wasDue.adding(Self.mostLate) < begun ? begun : wasDue).adding(pause)
            try await note(part, done, key)
        } catch {
            await recover(from: error, key)
        }
        end(key, due: due)
    }

    private func perform(_ part: JobSelection.Part, of job: DeliveryJob) async throws(ChatError) -> Int {
        let queue = registry.queue
        // As with a retry by hand: who asks has reason to think that the receiver is well again. Once, or one that is still
        // sick would be asked with every page.
        if job.kind != .purge, job.position == nil, let webhook = job.scope.webhook {
            await registry.circuits.reset(SubscriberID(webhook, in: job.app))
        }
        if !part.items.isEmpty { return try await queue.enqueue(part.items).due }
        guard !part.ids.isEmpty else { return 0 }
        return switch job.kind {
        case .replay, .redrive: try await queue.replay(.ids(part.ids, in: job.app), isDryRun: false)
        case .purge: try await queue.purge(part.ids, in: job.app)
        }
    }

    private func note(_ part: JobSelection.Part, _ done: Int, _ key: RecordKey) async throws(ChatError) {
        let now = clock.now
        _ = try await change(key) { job in
            job.examined += part.examined
            job.done += done
            job.skipped += part.count - done
            job.position = part.position
            if part.position == nil, !job.state.isOver { job.end(.done, at: now) }
        }
    }

    /// What cannot be done is over; what could not be done now is tried again.
    private func recover(from error: ChatError, _ key: RecordKey) async {
        logger.warning("job's step failed", metadata: ["job": "\(key.id)", "error": "\(error.message)"])
        let now = clock.now
        // A conflict is a webhook whose record cannot be read: that takes another version of the gateway.
        if [.notFound, .malformed, .conflict].contains(error.code) {
            // Not written down: the next step fails the same way.
            _ = try? await change(key) { if !$0.state.isOver { $0.end(.failed, reason: error.message, at: now) } }
        }
        // Cancellation shows in the caller's loop.
        try? await Task.sleep(for: registry.options.jobPause)
    }

    /// - Parameter due: when the next step is; nil: there is none. A job that was woken meanwhile is looked at again: what
    ///   this step has read of it may be no longer so.
    private func end(_ key: RecordKey, due: Timetoken?) {
        alive.withLock { if $0[key] == Self.stepping { $0[key] = due } }
    }

    // MARK: Records

    private func read(_ key: RecordKey, compilesFilter: Bool) async throws(ChatError) -> DeliveryJob? {
        try await directory.read(key).flatMap { DeliveryJob($0, compilesFilter: compilesFilter) }
    }

    /// Reads, alters and writes a job, and again when another write came between. Nil when it is gone.
    func change(_ key: RecordKey, _ alter: (inout DeliveryJob) -> Void) async throws(ChatError) -> DeliveryJob? {
        while true {
            guard var job = try await read(key, compilesFilter: false) else { return nil }
            let etag = job.etag
            alter(&job)
            do {
                let record = try await directory.write([RecordChange(key, body: job.body, demand: .etag(etag))])[0]
                return DeliveryJob(record, compilesFilter: false)
            } catch {
                // Somebody else wrote in between.
                if error.code == .notFound { return nil }
                if error.code != .stale { throw error }
            }
        }
    }
}
