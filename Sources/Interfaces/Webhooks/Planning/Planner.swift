import ChatCore
import ChatModel
import JSON
import Locking
import Logging

/// Plans deliveries: reads the committed events after a stored position of the log, finds the matching webhooks and
/// subscriptions, and stores the deliveries together with the new position.
///
/// Each app has a position of its own. Two planners may work on the same app: the queue stores a new position only if
/// the stored position is still the one that the planner has read. Otherwise planning fails, and the planner reads the
/// stored position again.
final class Planner: Sendable {
    /// The maximum number of events per read of the log.
    static let pageSize = 500
    /// The approximate number of deliveries per commit. The deliveries of one event are always in one commit. A larger
    /// commit would delay the commits of emitted events.
    static let itemsPerPlan = 2000
    /// The number of events without a delivery after which the position is stored. Storing it less often saves commits,
    /// but after a restart the events since the stored position are read again.
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

    /// The planner's position in the event log of one app.
    private struct Position {
        /// The position that is stored in the queue.
        var durable: Timetoken
        /// The position up to which all events were examined. The events between `durable` and this position have no
        /// deliveries.
        var reached: Timetoken
        var silentEvents = 0
    }

    /// Plans events until the task is cancelled.
    ///
    /// - Parameter whenReady: called once, when the events of every app's log are planned.
    func run(whenReady: @Sendable () -> Void) async {
        let signal = registry.plannerSignal
        // The hub reports commits before the positions are read. A commit in between is then seen twice instead of
        // being missed.
        await service.hub.observeCommits { commit in
            if let commit { self.mark(commit) } else { signal.finish() }
        }
        var positions: [AppID: Position] = [:]
        for app in registry.snapshot.withLock({ $0.appIDs }) { await catchUp(app, &positions) }
        whenReady()
        while let apps = await signal.next() {
            for (app, newest) in apps {
                await catchUp(app, &positions)
                counters.recordPlanned(positions[app]?.reached ?? newest, of: app)
                registry.recordPlanned(app, through: newest)
            }
        }
    }

    /// Marks the apps of a commit for planning, if they have at least one webhook or subscription. Runs on the hub's
    /// executor for each commit. An app without subscribers wakes no thread.
    private func mark(_ commit: Commit) {
        var last: AppID?
        for event in commit.events {
            if let last, event.isOf(last) { continue }
            let app = event.channel.app
            last = app
            guard registry.snapshot.withLock({ $0.count(in: app) }) > 0 else { continue }
            counters.recordCommit(commit.watermark, of: app)
            registry.plannerSignal.mark(app, at: commit.watermark)
        }
    }

    /// Plans the deliveries of one app up to the end of its event log (its watermark). After a failure, planning is
    /// retried until it succeeds. No event is missed, because the log stores the events.
    private func catchUp(_ app: AppID, _ positions: inout [AppID: Position]) async {
        var failures = 0
        while !Task.isCancelled {
            do throws(ChatError) {
                if try await step(app, &positions) { return }
                failures = 0
            } catch {
                // Another planner has moved the position, or the outcome of the write is unknown. The position is read
                // again.
                positions[app] = nil
                if error.code == .conflict { continue }
                failures += 1
                logger.warning(
                    "cannot queue the deliveries of new events; trying again",
                    metadata: ["app": "\(app)", "error": "\(error.message)"])
                // The loop's condition checks for cancellation.
                try? await Task.sleep(for: min(.milliseconds(50 * failures), .seconds(2)))
            }
        }
    }

    /// Reads one page of events and plans its deliveries. Returns true when the end of the app's log is reached.
    private func step(_ app: AppID, _ positions: inout [AppID: Position]) async throws(ChatError) -> Bool {
        guard let since = registry.snapshot.withLock({ $0.matcher(for: app)?.since }) else { return true }
        var position: Position
        if let known = positions[app] {
            position = known
        } else {
            let durable = try await service.engine.deliveries.cursor(Self.cursorName(app))
            position = Position(durable: durable, reached: durable)
        }
        // Events from before the creation of the first webhook match no webhook. An app may have years of such events.
        position.reached = max(position.reached, since)
        let channels = ChannelSet(app: app, names: [ChannelID.systemName], isAll: true)
        let deletions = service.deletions
        let page = try await service.engine.log.events(in: channels, after: position.reached, limit: Self.pageSize)
        // The matcher is read after the page of events, and after the changes of webhooks that were committed before these
        // events on any node. The matcher therefore includes a new webhook for every event that is committed after the
        // response to its creation.
        try await registry.applyCommittedChanges()
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

    /// Logs and reports to the app's operators that deliveries of a webhook or subscription were lost.
    private func reportLoss(of count: Int, by subscriber: SubscriberID) async {
        guard let lost = registry.runtime(of: subscriber)?.addLost(count, at: service.clock.now) else { return }
        logger.error(
            "too many deliveries are waiting; new deliveries become dead without an attempt",
            metadata: ["app": "\(subscriber.app)", "webhook": "\(subscriber.name)", "count": "\(lost)"])
        let data = WebhookRegistry.notice("webhook.overflowing", of: subscriber) { $0.member("dead", lost) }.data
        do throws(ChatError) {
            try await service.report("webhook.overflowing", data: data, in: subscriber.app)
        } catch {
            // The operators get no event about this loss, but the loss was logged above.
            logger.warning(
                "cannot emit the event webhook.overflowing",
                metadata: ["webhook": "\(subscriber)", "error": "\(error.message)"])
        }
    }

    static func cursorName(_ app: AppID) -> CursorName { CursorName("webhooks/\(app.name)") }
}

extension WebhookRegistry {
    fileprivate func recordPlanned(_ app: AppID, through position: Timetoken) {
        planned.withLock { $0[app] = max($0[app] ?? .zero, position) }
    }

    /// Waits until every event committed up to a position is planned. No delivery of such an event can enter the queue
    /// later.
    func waitUntilPlanned(_ app: AppID, through position: Timetoken) async throws(ChatError) {
        plannerSignal.mark(app, at: position)
        let deadline = ContinuousClock.now + .seconds(5)
        while planned.withLock({ $0[app] ?? .zero }) < position {
            guard ContinuousClock.now < deadline, !Task.isCancelled else {
                throw ChatError(
                    .unavailable, "the newest events are not queued for webhooks yet; try again",
                    retryAfter: .seconds(1))
            }
            // The loop's condition checks for cancellation.
            try? await Task.sleep(for: .milliseconds(5))
        }
    }
}
