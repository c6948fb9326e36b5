package import ChatModel

/// The operations on leases that ``DeliveryQueue`` offers.
extension DeliveryScheduler {
    /// Leases deliveries, and waits for some. See `DeliveryQueue.lease`.
    package func leases(_ request: LeaseRequest, within wait: Duration) async throws(ChatError) -> [Lease] {
        let grants = try await lease(request, within: wait)
        guard grants.contains(where: { $0.planned == nil || $0.freeCapacity > 0 }) else {
            return grants.compactMap(\.leaseOfPlanned)
        }
        var all = grants
        let stored: [DeliveryKey: Lease]
        do throws(ChatError) {
            if grants.contains(where: { $0.freeCapacity > 0 }) { all = try await withFollowers(grants) }
            stored = try await storage.leases(all)
        } catch {
            for grant in all { release(grant, isGone: false) }
            throw error
        }
        var leases: [Lease] = []
        for grant in all {
            if let lease = grant.leaseOfPlanned ?? stored[grant.key] {
                leases.append(lease)
            } else {
                release(grant, isGone: true)
            }
        }
        return leases
    }

    /// Adds the deliveries that follow the leased deliveries in the required order and may be part of the same
    /// attempts. Each is placed after the delivery that it follows.
    private func withFollowers(_ grants: [Grant]) async throws(ChatError) -> [Grant] {
        let followers = try await storage.followers(of: grants)
        return grants.flatMap { grant in [grant] + (followers[grant.key].map { join(grant, $0) } ?? []) }
    }

    /// Records the outcomes of attempts. See `DeliveryQueue.finish`.
    package func finish(_ attempts: [(lease: Lease, outcome: DeliveryOutcome)]) async throws(ChatError) -> [Bool] {
        let keys = claimRecording(of: attempts)
        guard keys.contains(where: { $0 != nil }) else { return keys.map { _ in false } }
        do throws(ChatError) {
            let result = await withUnsafeContinuation { continuation in
                enqueueRecording(
                    FinishedAttempts(attempts: attempts, keys: keys, completion: Completion(continuation)))
            }
            return try result.get()
        } catch {
            cancelRecording(of: keys)
            throw error
        }
    }

    /// Extends leases to `duration` from now. Returns false for each lease that was lost.
    package func renew(_ leases: [Lease], for duration: Duration) -> [Bool] {
        leases.map { lease in key(of: lease).map { renew($0, fence: lease.fence, for: duration) } ?? false }
    }

    /// Gives leases back. See `DeliveryQueue.release`.
    package func release(_ leases: [Lease], after pause: Duration) -> [Bool] {
        // A lease whose end is moved to the end of the pause expires then, and its delivery is due again.
        guard pause == .zero else { return renew(leases, for: pause) }
        return leases.map { lease in key(of: lease).map { release($0, fence: lease.fence) } ?? false }
    }

    /// The key of a lease's delivery; nil for an unknown subscriber.
    package func key(of lease: Lease) -> DeliveryKey? {
        number(of: lease.delivery.subscriber)
            .map { DeliveryKey(event: lease.delivery.event.rawValue, subscriber: $0) }
    }
}

extension DeliveryScheduler.Grant {
    /// The lease of a delivery that the planner has just added; nil for any other delivery. The lease is made from the
    /// planner's data in memory, without reading the database.
    fileprivate var leaseOfPlanned: Lease? {
        guard let planned else { return nil }
        let delivery = Delivery(
            id: planned.id, subscriber: subscriber, event: planned.event, type: planned.type, channel: planned.channel,
            status: .pending, attempts: 0, due: Timetoken(item.due))
        return Lease(delivery: delivery, fence: fence, body: planned.body, attempt: attempt)
    }
}
