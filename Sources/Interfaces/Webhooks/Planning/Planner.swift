import ChatCore
import ChatModel
import JSON
import Locking
import Logging

/// Makes deliveries from committed events. It reads the log after a stored position, finds the matching webhooks and
/// subscriptions, and stores their deliveries together with the new position.
///
/// Each app has its own position, since the log is read by app. Two planners may work on one app: the queue compares
/// the position before it moves it, so one of them fails and continues from the other's position.
final class Planner: Sendable {
    /// The number of events read at a time.
    static let pageSize = 500
    /// The approximate number of deliveries stored at a time; those of one event are not split. A larger commit would
    /// delay the commits of emitted events.
    static let itemsPerPlan = 2000
    /// The number of events without a delivery after which the stored position is moved anyway. Until then it stays
    /// behind: the events are read again after a restart, which saves a commit for each batch that matches no webhook.
    static let silentEventsTolerated = 4096

    private let service: ChatService
    private let registry: WebhookRegistry
    private let recent: RecentEvents
    private let counters: DeliveryCounters
    private let logger: Logger

    init(
        service: ChatService, registry: WebhookRegistry, recent: RecentEvents, counters: DeliveryCounters,
        logger: Logger
    ) {
        self.service = service
        self.registry = registry
        self.recent = recent
        self.counters = counters
        self.logger = logger
    }

    /// The planner's position in one app.
    private struct Position {
        /// The position stored in the queue.
        var durable: Timetoken
        /// The position up to which all events were examined. No event between `durable` and here has a delivery.
        var reached: Timetoken
        var silentEvents = 0
    }

    /// Plans until cancelled.
    ///
    /// - Parameter whenReady: called once, when every app is planned up to the end of its log.
    func run(whenReady: @Sendable () -> Void) async throws {
        let wake = registry.plannerWake
        // Subscribes before the positions are read: a commit in between is then seen twice rather than never.
        let commits = await service.engine.log.committed()
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask(executorPreference: service.tasks) { await self.listen(to: commits, wake) }
            var positions: [AppID: Position] = [:]
            for app in registry.snapshot.withLock({ $0.appIDs }) { await catchUp(app, &positions) }
            whenReady()
            while let apps = await wake.next() {
                for (app, newest) in apps {
                    await catchUp(app, &positions)
                    counters.recordPlanned(positions[app]?.reached ?? newest, of: app)
                    registry.recordPlanned(app, through: newest)
                }
            }
            group.cancelAll()
        }
    }

    /// Listens on the hub's executor, which every commit wakes anyway. When the app has no webhooks or subscriptions,
    /// it wakes no other thread.
    private func listen(to commits: CommitSequence, _ wake: PlannerSignal) async {
        for await commit in commits {
            var last: AppID?
            for event in commit.events where event.channel.app != last {
                last = event.channel.app
                guard registry.snapshot.withLock({ $0.count(in: event.channel.app) }) > 0 else { continue }
                counters.recordCommit(commit.watermark, of: event.channel.app)
                wake.mark(event.channel.app, at: commit.watermark)
            }
        }
        wake.finish()
    }

    /// Plans one app up to its watermark. Retries until it succeeds: the log keeps the events.
    private func catchUp(_ app: AppID, _ positions: inout [AppID: Position]) async {
        var failures = 0
        while !Task.isCancelled {
            do throws(ChatError) {
                if try await step(app, &positions) { return }
                failures = 0
            } catch {
                // Another planner moved the position, or the outcome of the write is unknown: the queue has the current
                // position.
                positions[app] = nil
                if error.code == .conflict { continue }
                failures += 1
                logger.warning(
                    "planning failed; trying again", metadata: ["app": "\(app)", "error": "\(error.message)"])
                // The head of the loop checks for cancellation.
                try? await Task.sleep(for: min(.milliseconds(50 * failures), .seconds(2)))
            }
        }
    }

    /// Reads a page and plans its deliveries. Returns true when the app's watermark is reached.
    private func step(_ app: AppID, _ positions: inout [AppID: Position]) async throws(ChatError) -> Bool {
        guard let since = registry.snapshot.withLock({ $0.earliestSince(in: app) }) else { return true }
        var position: Position
        if let known = positions[app] {
            position = known
        } else {
            let durable = try await service.engine.deliveries.cursor(Self.cursorName(app))
            position = Position(durable: durable, reached: durable)
        }
        // Events before the creation of the first webhook match none; an app may have years of them.
        position.reached = max(position.reached, since)
        let channels = ChannelSet(app: app, names: [ChannelID.systemName], isAll: true)
        let deletions = service.deletions
        let page = try await service.engine.log.events(in: channels, after: position.reached, limit: Self.pageSize)
        // Taken after the page was read, never before. A webhook is in the snapshot before the response to its creation
        // is sent, so every event committed after that response is matched against it here.
        guard let matcher = registry.snapshot.withLock({ $0.matcher(for: app) }) else { return true }
        try await plan(page, read: deletions, matcher, app, &position)
        positions[app] = position
        return !page.hasMore
    }

    private func plan(
        _ page: Page<Event>, read deletions: UInt64, _ matcher: WebhookMatcher, _ app: AppID,
        _ position: inout Position
    ) async throws(ChatError) {
        var items: [PlannedDelivery] = []
        for event in page.items {
            collect(event, read: deletions, matcher, &items)
            if items.count >= Self.itemsPerPlan {
                try await store(items, app, upTo: event.timetoken, &position)
                items.removeAll(keepingCapacity: true)
            }
        }
        let reached = max(page.position, position.reached)
        if !items.isEmpty || position.silentEvents + page.items.count >= Self.silentEventsTolerated {
            try await store(items, app, upTo: reached, &position)
        } else {
            position.reached = reached
            position.silentEvents += page.items.count
        }
    }

    private func collect(
        _ event: Event, read deletions: UInt64, _ matcher: WebhookMatcher, _ items: inout [PlannedDelivery]
    ) {
        var body: [UInt8]?
        matcher.visit(event) { webhook in
            if body == nil {
                let printed = event.forCopies.envelope.bytes
                recent.insert(printed, trace: event.draft.trace?.stored, at: event.timetoken, deletions: deletions)
                body = printed
            }
            items.append(PlannedDelivery(event, to: webhook, printed: body))
        }
    }

    private func store(
        _ items: [PlannedDelivery], _ app: AppID, upTo end: Timetoken, _ position: inout Position
    ) async throws(ChatError) {
        let overflowing = try await service.engine.deliveries.plan(
            items, cursor: Self.cursorName(app), from: position.durable, to: end)
        position = Position(durable: end, reached: end)
        let dead = overflowing.values.reduce(0, +)
        counters.addPlanned(items.count - dead)
        guard dead > 0 else { return }
        counters.addDead(dead)
        for (subscriber, count) in overflowing { await reportLoss(of: count, by: subscriber) }
    }

    /// Reports to the app's operators and in the log that deliveries of a webhook or subscription were lost.
    private func reportLoss(of count: Int, by subscriber: SubscriberID) async {
        guard let lost = registry.runtime(of: subscriber)?.addLost(count, at: service.clock.now) else { return }
        logger.error(
            "deliveries lost: too many are waiting",
            metadata: ["app": "\(subscriber.app)", "webhook": "\(subscriber.name)", "count": "\(lost)"])
        let data = WebhookRegistry.notice("webhook.overflowing", of: subscriber) { $0.member("dead", lost) }.data
        do throws(ChatError) {
            try await service.report("webhook.overflowing", data: data, in: subscriber.app)
        } catch {
            // The line above is logged, and the next notice contains the count until then.
            logger.warning(
                "cannot report webhook.overflowing",
                metadata: ["webhook": "\(subscriber)", "error": "\(error.message)"])
        }
    }

    static func cursorName(_ app: AppID) -> CursorName { CursorName("webhooks/\(app.name)") }
}

extension WebhookRegistry {
    fileprivate func recordPlanned(_ app: AppID, through position: Timetoken) {
        planned.withLock { $0[app] = max($0[app] ?? .zero, position) }
    }

    /// Returns when every event committed up to a position is planned: none of them can enter the queue later.
    func waitUntilPlanned(_ app: AppID, through position: Timetoken) async throws(ChatError) {
        plannerWake.mark(app, at: position)
        let deadline = ContinuousClock.now + .seconds(5)
        while planned.withLock({ $0[app] ?? .zero }) < position {
            guard ContinuousClock.now < deadline, !Task.isCancelled else {
                throw ChatError(.unavailable, "the webhooks' planner is behind; try again", retryAfter: .seconds(1))
            }
            // The head of the loop checks for cancellation.
            try? await Task.sleep(for: .milliseconds(5))
        }
    }
}
