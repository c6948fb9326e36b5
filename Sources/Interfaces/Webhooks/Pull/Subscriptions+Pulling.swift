import ChatCore
public import ChatModel
import JSON
import Locking

/// A delivery in the form in which a consumer receives it.
public struct PulledEvent: Sendable {
    /// The id of this pull. Each pull of the same delivery has a different id.
    public var ackID: String
    /// The number of pulls of the delivery, including this one: 1 for the first pull.
    public var attempt: Int
    /// The event's envelope, as JSON text.
    public var envelope: [UInt8]
}

/// The result of ``Subscriptions/seek(_:to:by:)``.
public struct SeekOutcome: Sendable {
    /// The number of waiting deliveries that were skipped.
    public var skipped: Int
    /// The number of deliveries that were made due.
    public var replayed: Int
    /// The position up to which events were examined. If `isComplete` is false, later events were not replayed.
    public var reached: Timetoken
    /// False when the seek stopped before the end of the log, because a limit was reached.
    public var isComplete: Bool
}

extension Subscriptions {
    /// The maximum number of ids in one acknowledgement.
    public static let mostIDs = 1000
    /// The maximum number of events that one seek examines.
    static let seekMost = 100_000

    /// Leases and returns due deliveries. If none is due, waits until a delivery is due; the result is empty when none
    /// becomes due in time. Each delivery must be acknowledged within the subscription's `ackDeadline`.
    ///
    /// - Parameters:
    ///   - most: the maximum number of deliveries.
    ///   - waitSeconds: the maximum wait in whole seconds.
    /// - Throws: `.notFound` when the app has no such subscription; `.forbidden` when the caller may not read
    ///   everything that the subscription matches.
    public func pull(
        _ id: String, most: Int, waitSeconds: Int, by caller: Caller
    ) async throws(ChatError) -> [PulledEvent] {
        let subscription = try await readable(id, caller)
        let included = subscription.settings.included
        var left = waitSeconds
        while true {
            // Waits one second at a time, so that a gateway that stops waits at most about one second for its
            // consumers.
            let leases = try await queue.lease(
                from: subscription.subscriber, limit: included.isEmpty ? most : min(most, IncludedObject.pageMost),
                lasting: subscription.settings.ackDeadline,
                wait: left > 0 ? .seconds(1) : .zero)
            let events = try await pulledEvents(leases, with: included)
            left -= 1
            if !events.isEmpty || left < 0 || isStopped || Task.isCancelled { return events }
        }
    }

    /// Marks deliveries as delivered. Returns one result for each id, in the same order. The result is false for an
    /// invalid id, and for a delivery whose deadline has passed, because the delivery can be pulled again.
    ///
    /// - Parameter ids: the `ack_id` of each delivery.
    /// - Throws: `.notFound` when the app has no such subscription; `.forbidden` without `read`, for a user's
    ///   credential, and for a key that may not read everything that the subscription matches; the errors of the store.
    public func acknowledge(_ ids: [String], of id: String, by caller: Caller) async throws(ChatError) -> [Bool] {
        try await finish(ids, of: id, .delivered, error: nil, by: caller)
    }

    /// Returns deliveries to the queue. They can be pulled again after a delay. The parameter `ids` and the results are
    /// as in ``acknowledge(_:of:by:)``.
    ///
    /// - Throws: the errors of ``acknowledge(_:of:by:)``.
    public func refuse(
        _ ids: [String], of id: String, delay: Duration, by caller: Caller
    ) async throws(ChatError) -> [Bool] {
        let due = registry.service.clock.now.adding(delay)
        return try await finish(ids, of: id, .retry(at: due), error: "nack", by: caller)
    }

    /// Extends the deadlines of deliveries whose processing takes long. The parameter `ids` and the results are as in
    /// ``acknowledge(_:of:by:)``.
    ///
    /// - Throws: the errors of ``acknowledge(_:of:by:)``.
    public func extend(
        _ ids: [String], of id: String, by duration: Duration, by caller: Caller
    ) async throws(ChatError) -> [Bool] {
        let subscription = try await readable(id, caller)
        return try await eachKnown(ids, subscription) { leases throws(ChatError) in
            try await self.queue.renew(leases.map(\.lease), for: duration)
        }
    }

    /// Moves the subscription to a position. Waiting deliveries up to the position are skipped. Deliveries of later
    /// events become due, whatever their state. Leased deliveries are not changed.
    ///
    /// Examines at most ``seekMost`` events, and stops when the maximum number of deliveries waits.
    ///
    /// - Throws: `.notFound` when the app has no such subscription; `.forbidden` when the caller may not read
    ///   everything that the subscription matches.
    public func seek(
        _ id: String, to position: Timetoken, by caller: Caller
    ) async throws(ChatError) -> SeekOutcome {
        var subscription = try await self.subscription(id, by: caller)
        try registry.requireReach(of: subscription.settings.selection, by: caller)
        let end = try await registry.service.engine.log.watermark(of: caller.app)
        try await registry.waitUntilPlanned(caller.app, through: min(position, end))
        let outcome = SeekOutcome(
            skipped: try await queue.skip(subscription.subscriber, through: position), replayed: 0, reached: position,
            isComplete: true)
        subscription.since = position
        return try await asLongWork { [subscription, outcome] () async throws(ChatError) in
            try await replay(into: subscription, from: outcome, upTo: end)
        }
    }

    /// Makes the deliveries of the events after a position due. Runs off the loop, because the filter is evaluated for
    /// each event.
    private func replay(
        into subscription: Subscription, from start: SeekOutcome, upTo end: Timetoken
    ) async throws(ChatError) -> SeekOutcome {
        var outcome = start
        let app = subscription.app
        let matcher = WebhookMatcher([WebhookMatcher.Entry(subscription)])
        let log = registry.service.engine.log
        let channels = ChannelSet(app: app, names: [ChannelID.systemName], isAll: true)
        var seen = 0
        while outcome.reached < end {
            guard seen < Self.seekMost else {
                outcome.isComplete = false
                return outcome
            }
            let page = try await log.events(in: channels, after: outcome.reached, limit: Planner.pageSize)
            var items: [PlannedDelivery] = []
            for event in page.items where event.timetoken <= end {
                matcher.visit(event) { items.append(PlannedDelivery(event, to: $0)) }
            }
            if !items.isEmpty {
                let enqueued = try await queue.enqueue(items)
                outcome.replayed += enqueued.due
                if enqueued.processed < items.count {
                    outcome.reached = Timetoken(items[enqueued.processed].event.rawValue - 1)
                    outcome.isComplete = false
                    return outcome
                }
            }
            seen += page.items.count
            outcome.reached = page.position
            if !page.hasMore { return outcome }
        }
        return outcome
    }

    /// The bounds for ``seek(_:to:by:)``. The earliest position is zero. The latest position is the end of the app's
    /// event log (its watermark).
    ///
    /// - Throws: the errors of the store.
    public func bounds(of app: AppID) async throws(ChatError) -> (earliest: Timetoken, latest: Timetoken) {
        (.zero, try await registry.service.engine.log.watermark(of: app))
    }

    // MARK: Leases

    private func readable(_ id: String, _ caller: Caller) async throws(ChatError) -> Subscription {
        try caller.require(.read)
        try caller.demandNoUser()
        let subscriber = SubscriberID(id, in: caller.app)
        if registry.snapshot.withLock({ $0.subscription(subscriber) == nil }) {
            // Another node may have just created it.
            try await refresh(Subscription.recordKey(of: subscriber))
        }
        guard let subscription = registry.snapshot.withLock({ $0.subscription(subscriber) }) else { throw Self.unknown }
        try registry.requireReach(of: subscription.settings.selection, by: caller)
        return subscription
    }

    /// The pulled form of the leased deliveries. If the store fails, the deliveries are returned to the queue.
    private func pulledEvents(
        _ leases: [Lease], with included: Set<IncludedObject>
    ) async throws(ChatError) -> [PulledEvent] {
        do throws(ChatError) {
            return try await events(leases, with: included)
        } catch {
            try await queue.release(leases, after: .zero)
            throw error
        }
    }

    /// The events of the leased deliveries. If an event is no longer stored, its delivery becomes dead and is left out.
    private func events(
        _ leases: [Lease], with included: Set<IncludedObject>
    ) async throws(ChatError) -> [PulledEvent] {
        var found: [(lease: Lease, envelope: [UInt8])] = []
        let now = registry.service.clock.now
        for lease in leases {
            let delivery = lease.delivery
            var envelope = lease.body
            if envelope == nil {
                envelope = try await registry.service.engine.log.event(at: delivery.event, in: delivery.subscriber.app)?
                    .envelope.bytes
            }
            guard let envelope else {
                let attempt = DeliveryAttempt(
                    at: now, status: nil, error: DeadReason.eventNotKept.rawValue, durationMilliseconds: 0)
                let outcome = DeliveryOutcome(.dead(reason: .eventNotKept), attempt: attempt)
                _ = try await queue.finish(lease, outcome)
                continue
            }
            found.append((lease, envelope))
        }
        if let inclusion = IncludePolicy.ofApp(included), let app = leases.first?.delivery.subscriber.app {
            let envelopes = try await registry.service.including(
                inclusion, in: found.map { (event: $0.lease.delivery.event, envelope: $0.envelope) }, of: app)
            found = zip(found, envelopes).map { ($0.lease, $1) }
        }
        return found.map { lease, envelope in
            let ackID = AckID(event: lease.delivery.event, fence: lease.fence, at: now)
            return PulledEvent(ackID: ackID.text, attempt: lease.delivery.attempts + 1, envelope: envelope)
        }
    }

    private func finish(
        _ ids: [String], of id: String, _ verdict: DeliveryOutcome.Verdict, error: String?, by caller: Caller
    ) async throws(ChatError) -> [Bool] {
        let subscription = try await readable(id, caller)
        let now = registry.service.clock.now
        return try await eachKnown(ids, subscription) { leases throws(ChatError) in
            try await self.queue.finish(
                leases.map { known in
                    let lasted = Int(
                        (max(now, known.at).rawValue - known.at.rawValue) / (Timetoken.ticksPerSecond / 1000))
                    let attempt = DeliveryAttempt(
                        at: known.at, status: nil, error: error, durationMilliseconds: lasted)
                    return (known.lease, DeliveryOutcome(verdict, attempt: attempt))
                })
        }
    }

    /// Parses each id as an `ack_id`, calls `body` with the leases that the valid ids identify, and returns a result
    /// for each id. The result for an invalid id is false.
    private func eachKnown(
        _ ids: [String], _ subscription: Subscription,
        _ body: ([(lease: Lease, at: Timetoken)]) async throws(ChatError) -> [Bool]
    ) async throws(ChatError) -> [Bool] {
        let known = ids.map { AckID($0) }
        var results = try await body(known.compactMap { $0.map { ($0.lease(of: subscription.subscriber), $0.at) } })[
            ...]
        return known.map { $0 == nil ? false : results.popFirst() ?? false }
    }
}

/// The content of an `ack_id`, which identifies one pull of a delivery: the event, the fence number of the lease (a
/// store never uses a fence number twice), and the time of the pull.
private struct AckID {
    let event: Timetoken
    let fence: UInt64
    let at: Timetoken

    init(event: Timetoken, fence: UInt64, at: Timetoken) { (self.event, self.fence, self.at) = (event, fence, at) }

    init?(_ text: String) {
        let numbers = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt64($0, radix: 36) }
        guard numbers.count == 3, let event = numbers[0], let fence = numbers[1], let at = numbers[2],
            max(event, at) <= UInt64(Int64.max)
        else { return nil }
        self.init(event: Timetoken(event), fence: fence, at: Timetoken(at))
    }

    var text: String {
        [event.rawValue, fence, at.rawValue].map { String($0, radix: 36) }.joined(separator: "-")
    }

    func lease(of subscriber: SubscriberID) -> Lease {
        let delivery = Delivery(
            id: "", subscriber: subscriber, event: event, type: "", channel: "", status: .pending, attempts: 0, due: nil
        )
        return Lease(delivery: delivery, fence: fence, body: nil)
    }
}
