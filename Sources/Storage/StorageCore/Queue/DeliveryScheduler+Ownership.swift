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

    /// Returns the lanes without leases, without waiting callers, and without a delivery that is due by `moment`. They
    /// lease nothing until ``remove(_:)`` or ``fetchFailed(_:)``.
    package func suspendIdleLanes(until moment: UInt64) -> [Int64] {
        state.withLock { state in
            let idle = state.lanes.values.filter { $0.isIdle(until: moment) && state.pullers[$0.number] == nil }
            for lane in idle { lane.isFetching = true }
            return idle.map(\.number)
        }
    }

    /// True when a caller waits for a delivery of a webhook.
    package var hasWaiters: Bool { state.withLock { !$0.waiters.isEmpty } }

    /// The pulled subscriptions at which callers wait.
    package var pulledLanes: [Int64] { state.withLock { Array($0.pullers.keys) } }
}

extension SchedulerState {
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
