package import ChatModel
import Locking

/// The operations of a cluster's node. Its memory contains only the lanes (queues of subscribers) that the node owns.
extension DeliveryScheduler {
    /// Adds a lane whose deliveries are only in the database. Forgets what memory contains of it.
    package func adopt(_ stored: StoredSubscriber, waiting: Int) {
        change { state in
            state.remove(stored.number)
            state.insert(stored, waiting: waiting)
        }
    }

    /// Updates the settings of a lane after another node has changed its rows. Its deliveries are read again when they
    /// are needed.
    package func reload(_ stored: StoredSubscriber, waiting: Int) {
        change { state in
            guard state.lanes[stored.number] != nil else { return }
            state.update(stored)
            state.dropPlanned(of: stored.number)
            state.lanes[stored.number]?.forget()
            state.lanes[stored.number]?.unfinished = waiting
            state.schedule(stored.number)
        }
    }

    /// Removes lanes from memory, and voids their leases.
    package func remove(_ numbers: [Int64]) {
        change { state in for number in numbers { state.remove(number) } }
    }

    /// Returns the lanes without leases, without waiting callers, and without a delivery that is due by `moment`, and
    /// the lanes without leases that ``release(lanes:)`` has selected. They lease nothing until ``remove(_:)`` or
    /// ``fetchFailed(_:)``.
    package func suspendIdleLanes(until moment: UInt64) -> [Int64] {
        state.withLock { state in
            let idle = state.lanes.values.filter { $0.isIdle(until: moment) && state.pullers[$0.number] == nil }
            for lane in idle { lane.isFetching = true }
            return idle.map(\.number)
        }
    }

    /// Selects webhooks that this node passes on to other nodes. They lease nothing more, and
    /// ``suspendIdleLanes(until:)`` returns them when their last lease has ended.
    ///
    /// Prefers lanes with few leases. A lane stays if it has a rate limit, or if the sender slows it down because its
    /// receiver fails. The next owner would not know when the last attempts began and failed.
    ///
    /// - Parameter count: the number of selected lanes, including those that are selected already. If more are selected
    ///   already, the others stay.
    package func release(lanes count: Int) {
        change { state in
            let leaving = state.lanes.values.filter(\.isLeaving).sorted { $0.leaseCount < $1.leaseCount }
            for lane in leaving.dropFirst(count) {
                lane.isLeaving = false
                state.schedule(lane.number)
            }
            guard leaving.count < count else { return }
            let staying = state.lanes.values.filter { lane in
                !lane.isLeaving && !lane.settings.isPulled && lane.settings.rate == nil && !lane.isPaced
            }
            for lane in staying.sorted(by: { $0.leaseCount < $1.leaseCount }).prefix(count - leaving.count) {
                lane.isLeaving = true
            }
        }
    }

    /// True when ``release(lanes:)`` has selected lanes that this node still owns.
    package var isReleasing: Bool { state.withLock { $0.lanes.values.contains(where: \.isLeaving) } }

    /// Suspends a lane until ``remove(_:)`` or ``fetchFailed(_:)``, and returns its leases.
    package func suspend(_ number: Int64) -> [TransferredLease] {
        let (now, time) = (storage.uptime(), clock.now)
        return state.withLock { state in
            state.lanes[number]?.isFetching = true
            return state.leases.filter { $0.key.subscriber == number }.map { key, held in
                TransferredLease(
                    item: held.item, subscriber: number, fence: held.fence, attempt: held.attempt,
                    since: time.adding(.zero - .nanoseconds(Int64(clamping: now - min(now, held.since)))),
                    until: time.adding(.nanoseconds(Int64(clamping: held.until - min(held.until, now)))),
                    isInLine: held.isInLine)
            }
        }
    }

    /// Adds the leases of a pulled subscription that another node has given to this node.
    package func receive(_ leases: [TransferredLease]) {
        let (now, time) = (storage.uptime(), clock.now)
        change { state in
            for lease in leases {
                let age = Duration.nanoseconds(Int64(time.rawValue - min(time.rawValue, lease.since.rawValue)) * 100)
                let rest = Int64(lease.until.rawValue - min(lease.until.rawValue, time.rawValue)) * 100
                state.receive(
                    lease, since: now - min(now, age.nanoseconds), until: now + UInt64(clamping: rest))
            }
        }
    }

    /// True when a caller waits for a delivery of a webhook.
    package var hasWaiters: Bool { state.withLock { !$0.waiters.isEmpty } }

    /// The pulled subscriptions at which callers wait.
    package var pulledLanes: [Int64] { state.withLock { Array($0.pullers.keys) } }
}

/// A lease of a pulled subscription that moves from one node to another.
package struct TransferredLease: Sendable {
    package let item: DueItem
    package let key: DeliveryKey
    package let fence: UInt64
    package let attempt: UInt64
    package let since: Timetoken
    package let until: Timetoken
    package let isInLine: Bool

    package init(
        item: DueItem, subscriber: Int64, fence: UInt64, attempt: UInt64, since: Timetoken, until: Timetoken,
        isInLine: Bool
    ) {
        self.item = item
        key = DeliveryKey(event: item.event, subscriber: subscriber)
        self.fence = fence
        self.attempt = attempt
        self.since = since
        self.until = until
        self.isInLine = isInLine
    }
}

extension SchedulerState {
    /// Adds a lease of a pulled subscription that began on another node.
    fileprivate mutating func receive(_ lease: TransferredLease, since: UInt64, until: UInt64) {
        guard let lane = lanes[lease.key.subscriber] else { return }
        leases[lease.key] = DeliveryScheduler.LeaseState(
            item: lease.item, fence: lease.fence, attempt: lease.attempt, since: since, until: until,
            isInLine: lease.isInLine, isPulled: true)
        lane.leaseCount += 1
        lane.attemptsUnderWay += 1
        ends.push(LeaseEnd(until: until, key: lease.key))
    }

    /// Removes a lane and its leases.
    fileprivate mutating func remove(_ number: Int64) {
        guard let lane = lanes[number] else { return }
        if lane.leaseCount > 0 {
            for (key, held) in leases where key.subscriber == number {
                if !held.isFinishing { stop(key, held) }
                drop(key)
            }
        }
        dropPlanned(of: number)
        // Its entry in the timer queue is stale now.
        lane.scheduledDue = nil
        lanes[number] = nil
        numbers[lane.subscriber] = nil
    }
}
