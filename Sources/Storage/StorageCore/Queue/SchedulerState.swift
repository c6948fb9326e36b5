import ChatModel
import Locking

/// The time at which a lease ends, unless the lease is renewed.
struct LeaseEnd: Sendable, Comparable {
    let until: UInt64
    let key: DeliveryKey

    static func == (left: LeaseEnd, right: LeaseEnd) -> Bool { left.until == right.until }
    static func < (left: LeaseEnd, right: LeaseEnd) -> Bool { left.until < right.until }
}

/// A lease that has expired.
package struct ExpiredLease: Sendable {
    package let key: DeliveryKey
    /// The duration of the lease in nanoseconds.
    package let lasted: UInt64
}

/// The state of an attempt that consists of several deliveries.
struct SharedAttempt: Sendable {
    /// The number of leases whose outcome has not been reported.
    var running: Int
    /// The number of leases whose outcome has not been recorded in the database.
    var leases: Int
}

/// The state of the ``DeliveryScheduler``, with the operations that it performs under its lock.
struct SchedulerState: Sendable {
    var lanes: [Int64: Lane] = [:]
    var numbers: [SubscriberID: Int64] = [:]
    var groups: [AppID: LaneGroup] = [:]
    /// The apps, ordered by the time of the next possible attempt in one of their lanes (queues of subscribers).
    var timerQueue = TimerQueue<LaneGroup>()
    var leases: [DeliveryKey: DeliveryScheduler.LeaseState] = [:]
    /// The attempts that consist of more than one lease, by the number of the attempt.
    var sharedAttempts: [UInt64: SharedAttempt] = [:]
    /// The number of attempts that are in progress or not yet recorded, without the attempts of pulled subscriptions.
    var attempts = 0
    /// The times at which leases end. An entry of a finished or renewed lease remains until its time has come or there
    /// are too many entries of finished and renewed leases.
    var ends = Heap<LeaseEnd>()
    /// The expired leases that still have to be recorded as attempts.
    var expired: [ExpiredLease] = []
    /// The time of the clock at the last check, in timetoken ticks.
    var lastNow: UInt64 = 0
    /// The number of bytes that the lanes may still use for the data of deliveries that the planner has just added.
    var plannedRoom = 32 * 1024 * 1024
    var fence: UInt64
    var waiters: [UInt64: DeliveryScheduler.LeaseWaiter] = [:]
    /// The callers that wait at each pulled subscription, by its number.
    var pullers: [Int64: [UInt64: DeliveryScheduler.LeaseWaiter]] = [:]
    /// The pulled subscriptions that have changed since their waiting callers were last checked.
    var woken: Set<Int64> = []
    var nextTicket: UInt64 = 0
    /// The time at which all callers that wait at pulled subscriptions are checked again, on the machine's uptime
    /// clock.
    var nextRound: UInt64 = .max
    var isClosed = false
}

extension SchedulerState {
    /// Schedules a lane (a subscriber's queue) in the timer queue for its next possible attempt.
    mutating func schedule(_ number: Int64) {
        if let lane = lanes[number] { schedule(lane) }
    }

    private mutating func schedule(_ lane: Lane) {
        if lane.settings.isPulled {
            if pullers[lane.number] != nil { woken.insert(lane.number) }
            return
        }
        guard let due = lane.nextDue else { return }
        lane.group.timerQueue.schedule(lane, due: due)
        timerQueue.schedule(lane.group, due: due)
    }

    mutating func update(_ stored: StoredSubscriber) {
        if let lane = lanes[stored.number] { lane.update(stored) } else { insert(stored) }
        schedule(stored.number)
    }

    /// Adds the lane (queue) of a subscriber that has this number of waiting deliveries in the database.
    mutating func insert(_ stored: StoredSubscriber, waiting: Int = 0) {
        let app = stored.subscriber.app
        let group = groups[app] ?? LaneGroup()
        groups[app] = group
        numbers[stored.subscriber] = stored.number
        lanes[stored.number] = Lane(stored, in: group, unfinished: waiting)
        schedule(stored.number)
    }

    /// Counts a delivery that must wait for an earlier delivery of the same subscriber. The delivery itself is stored
    /// only in the database.
    mutating func addInLine(to number: Int64) { lanes[number]?.unfinished += 1 }

    /// Makes a delivery due because it is now the first of its chain (the deliveries that must stay in order).
    mutating func promote(_ key: DeliveryKey, due: UInt64) {
        if leases[key] != nil {
            leases[key]?.isInLine = false
            // A delivery that was leased as part of another delivery's attempt has had no due time of its own until
            // now.
            leases[key]?.item = DueItem(event: key.event, due: due)
        } else {
            lanes[key.subscriber]?.add(DueItem(event: key.event, due: due))
            schedule(key.subscriber)
        }
    }

    mutating func add(_ item: PlannedDelivery, due: UInt64, to number: Int64) {
        guard let lane = lanes[number] else { return }
        lane.unfinished += 1
        let isKept = lane.add(DueItem(event: item.event.rawValue, due: due))
        if isKept, item.weight <= plannedRoom {
            plannedRoom -= item.weight
            lane.keep(item)
        }
        schedule(number)
    }

    mutating func dropPlanned(of number: Int64) {
        for planned in lanes[number]?.removeAllPlanned() ?? [] { plannedRoom += planned.weight }
    }

    /// Adds `change` to the number of attempts in progress.
    private mutating func count(_ change: Int, _ number: Int64, isPulled: Bool) {
        guard let lane = lanes[number] else { return }
        lane.attemptsUnderWay += change
        if !isPulled { lane.group.attemptsUnderWay += change }
    }

    /// The maximum ratio of an app's attempts in progress to the free capacity. A single active app therefore uses
    /// nearly the whole capacity and leaves a part for other apps.
    private static let greed = 7

    /// True when an app or a lane with `held` attempts in progress may begin another attempt. See
    /// `DeliveryQueue.lease`.
    private func isShare(_ held: Int, of capacity: Int) -> Bool { held / Self.greed < capacity - attempts }

    /// Leases due deliveries, oldest first, and alternates between the lanes (queues of subscribers). Also returns the
    /// lanes whose deliveries must be read from the database.
    mutating func grant(
        _ request: DeliveryScheduler.LeaseRequest, now: UInt64, uptime: UInt64
    ) -> ([DeliveryScheduler.Grant], [Int64]) {
        endLeases(uptime)
        updateClock(now)
        if let lane = request.lane { return pull(lane, request, now: now, uptime: uptime) }
        // This check comes first, because the function runs after each change of the queue, and usually no capacity is
        // free.
        guard attempts < request.capacity else { return ([], []) }
        var grants: [DeliveryScheduler.Grant] = []
        var granted = 0
        var fetches: [Int64] = []
        // Apps and lanes that already use their share are skipped in favor of others. They return to the timer queue at
        // the end.
        var satedApps: [LaneGroup] = []
        var satedLanes: [Lane] = []
        var served: [Lane] = []
        repeat {
            // Schedules the lanes again, because they may have further due deliveries.
            for lane in served { schedule(lane) }
            served.removeAll(keepingCapacity: true)
            while granted < request.limit, let app = timerQueue.pop(by: now) {
                guard isShare(app.attemptsUnderWay, of: request.capacity) else {
                    satedApps.append(app)
                    continue
                }
                if let lane = app.timerQueue.pop(by: now), !lane.settings.isPulled {
                    if isShare(app.attemptsUnderWay + lane.attemptsUnderWay, of: request.capacity) {
                        switch lane.grant(now: now) {
                        case .item(let item):
                            granted += 1
                            let term = DeliveryScheduler.Term(from: uptime, lasting: DeliveryScheduler.leaseNanoseconds)
                            attempt(item, lane.number, now: now, term, &grants)
                        case .fetch: fetches.append(lane.number)
                        case .nothing: break
                        }
                        served.append(lane)
                    } else {
                        satedLanes.append(lane)
                    }
                }
                timerQueue.schedule(app, due: app.timerQueue.firstDue)
            }
        } while !served.isEmpty
        for lane in satedLanes { schedule(lane) }
        for app in satedApps { timerQueue.schedule(app, due: app.timerQueue.firstDue) }
        return (grants, fetches)
    }

    /// Leases the due deliveries of one pulled subscription.
    private mutating func pull(
        _ number: Int64, _ request: DeliveryScheduler.LeaseRequest, now: UInt64, uptime: UInt64
    ) -> ([DeliveryScheduler.Grant], [Int64]) {
        var grants: [DeliveryScheduler.Grant] = []
        while grants.count < request.limit {
            switch lanes[number]?.grant(now: now) {
            case .item(let item):
                begin(item, number, DeliveryScheduler.Term(from: uptime, lasting: request.duration), &grants)
            case .fetch: return (grants, [number])
            case .nothing, nil: return (grants, [])
            }
        }
        return (grants, [])
    }

    /// Begins an attempt with a delivery and further due deliveries, up to the subscriber's limit per attempt.
    private mutating func attempt(
        _ item: DueItem, _ number: Int64, now: UInt64, _ term: DeliveryScheduler.Term,
        _ grants: inout [DeliveryScheduler.Grant]
    ) {
        attempts += 1
        let first = grants.count
        let attempt = begin(item, number, term, &grants)
        guard var room = lanes[number]?.settings.deliveriesPerAttempt, room > 1 else { return }
        room -= 1
        while room > 0, let more = lanes[number]?.grantMore(now: now) {
            join(more, number, attempt, term, isInLine: false, &grants)
            room -= 1
        }
        // The next deliveries in the required order are only in the database.
        if lanes[number]?.settings.ordering != DeliveryOrdering.none { grants[first].freeCapacity = room }
    }

    @discardableResult
    private mutating func begin(
        _ item: DueItem, _ number: Int64, _ term: DeliveryScheduler.Term, _ grants: inout [DeliveryScheduler.Grant]
    ) -> UInt64 {
        count(1, number, isPulled: lanes[number]?.settings.isPulled ?? false)
        // The number of an attempt is the fence of its first lease, which `lease` assigns.
        let attempt = fence + 1
        lease(item, number, attempt, term, isInLine: false, &grants)
        return attempt
    }

    /// Leases a delivery as part of an attempt that has already begun.
    mutating func join(
        _ item: DueItem, _ number: Int64, _ attempt: UInt64, _ term: DeliveryScheduler.Term, isInLine: Bool,
        _ grants: inout [DeliveryScheduler.Grant]
    ) {
        sharedAttempts[attempt, default: SharedAttempt(running: 1, leases: 1)].running += 1
        sharedAttempts[attempt]?.leases += 1
        lease(item, number, attempt, term, isInLine: isInLine, &grants)
    }

    private mutating func lease(
        _ item: DueItem, _ number: Int64, _ attempt: UInt64, _ term: DeliveryScheduler.Term, isInLine: Bool,
        _ grants: inout [DeliveryScheduler.Grant]
    ) {
        guard let lane = lanes[number] else { return }
        fence += 1
        let key = DeliveryKey(event: item.event, subscriber: number)
        leases[key] = DeliveryScheduler.LeaseState(
            item: item, fence: fence, attempt: attempt, since: term.since, until: term.until, isInLine: isInLine,
            isPulled: lane.settings.isPulled)
        lane.leaseCount += 1
        ends.push(LeaseEnd(until: term.until, key: key))
        let planned = lane.removePlanned(of: item.event)
        plannedRoom += planned?.weight ?? 0
        grants.append(
            DeliveryScheduler.Grant(
                key: key, subscriber: lane.subscriber, item: item, planned: planned, fence: fence, attempt: attempt))
    }

    // MARK: Ends

    /// Records that the outcome of a lease was reported. When all leases of an attempt are reported, the subscriber's
    /// next attempt may begin.
    mutating func stop(_ key: DeliveryKey, _ held: DeliveryScheduler.LeaseState) {
        if let running = sharedAttempts[held.attempt]?.running {
            sharedAttempts[held.attempt]?.running = running - 1
            guard running == 1 else { return }
        }
        count(-1, key.subscriber, isPulled: held.isPulled)
        schedule(key.subscriber)
    }

    /// Reverts ``stop(_:_:)``.
    mutating func resume(_ key: DeliveryKey, _ held: DeliveryScheduler.LeaseState) {
        leases[key]?.isFinishing = false
        ends.push(LeaseEnd(until: held.until, key: key))
        if let running = sharedAttempts[held.attempt]?.running {
            sharedAttempts[held.attempt]?.running = running + 1
            guard running == 0 else { return }
        }
        count(1, key.subscriber, isPulled: held.isPulled)
    }

    mutating func complete(_ attempts: [(key: DeliveryKey, ending: DeliveryScheduler.Ending)]) {
        for (key, ending) in attempts {
            guard let held = leases[key] else { continue }
            // The lease was restored because a slow commit was abandoned. Now its outcome is known.
            if !held.isFinishing { stop(key, held) }
            drop(key)
            lanes[key.subscriber]?.complete(key.event, ending)
            schedule(key.subscriber)
        }
    }

    /// Removes a lease.
    mutating func drop(_ key: DeliveryKey) {
        guard let held = leases.removeValue(forKey: key) else { return }
        lanes[key.subscriber]?.leaseCount -= 1
        if let left = sharedAttempts[held.attempt]?.leases {
            sharedAttempts[held.attempt]?.leases = left - 1
            guard left == 1 else { return }
            sharedAttempts[held.attempt] = nil
        }
        if !held.isPulled { attempts -= 1 }
    }

    /// Ends expired leases, whose owner may have crashed, and makes their deliveries due again. If an expired lease
    /// counts as an attempt, the attempt is recorded first.
    private mutating func endLeases(_ uptime: UInt64) {
        while let end = ends.first, end.until <= uptime {
            _ = ends.popFirst()
            guard let held = leases[end.key], held.until <= uptime, !held.isFinishing else { continue }
            guard lanes[end.key.subscriber]?.settings.attempts != nil else {
                release(end.key, held, isGone: false)
                continue
            }
            leases[end.key]?.isFinishing = true
            stop(end.key, held)
            expired.append(ExpiredLease(key: end.key, lasted: held.until - held.since))
        }
        guard ends.count > 4 * leases.count + 4096 else { return }
        ends.removeAll()
        for (key, held) in leases where !held.isFinishing { ends.push(LeaseEnd(until: held.until, key: key)) }
    }

    /// Reschedules all lanes (queues of subscribers) when the clock was set back. Otherwise, lanes that are scheduled
    /// for a certain time would wait until the clock reaches that time again.
    private mutating func updateClock(_ now: UInt64) {
        if now < lastNow {
            for number in lanes.keys {
                lanes[number]?.clockWentBack()
                schedule(number)
            }
        }
        lastNow = now
    }

    mutating func release(_ key: DeliveryKey, _ held: DeliveryScheduler.LeaseState, isGone: Bool) {
        if !held.isFinishing { stop(key, held) }
        drop(key)
        if isGone {
            lanes[key.subscriber]?.unfinished -= 1
        } else if !held.isInLine, lanes[key.subscriber]?.state != .closed {
            lanes[key.subscriber]?.add(held.item)
        }
        schedule(key.subscriber)
    }
}

// MARK: Waiting callers

extension SchedulerState {
    /// Leases due deliveries for a request. Returns them, the lanes whose deliveries must be read from the database,
    /// and the expired leases that must be recorded.
    mutating func grants(
        _ request: DeliveryScheduler.LeaseRequest, now: UInt64, uptime: UInt64
    ) -> ([DeliveryScheduler.Grant], [Int64], expired: [ExpiredLease]) {
        let (grants, lanes) = grant(request, now: now, uptime: uptime)
        defer { expired = [] }
        return (grants, lanes, expired)
    }

    mutating func wait(_ waiter: DeliveryScheduler.LeaseWaiter, _ ticket: UInt64) {
        if let lane = waiter.request.lane {
            pullers[lane, default: [:]][ticket] = waiter
            woken.insert(lane)
        } else {
            waiters[ticket] = waiter
        }
    }

    @discardableResult
    mutating func leave(_ ticket: UInt64, _ request: DeliveryScheduler.LeaseRequest) -> DeliveryScheduler.LeaseWaiter? {
        guard let lane = request.lane else { return waiters.removeValue(forKey: ticket) }
        let waiter = pullers[lane]?.removeValue(forKey: ticket)
        if pullers[lane]?.isEmpty == true { pullers[lane] = nil }
        return waiter
    }

    /// True when a waiting caller may be able to receive a delivery after the latest changes.
    var isAwaited: Bool { !waiters.isEmpty || !woken.isEmpty }

    /// Returns the waiting callers to check again: all callers that wait for deliveries of webhooks, and the callers
    /// that wait for deliveries of the pulled subscriptions with these lane numbers. Clears `woken`.
    mutating func waiting(for lanes: Set<Int64>) -> [(UInt64, DeliveryScheduler.LeaseWaiter)] {
        var found = waiters.map { ($0.key, $0.value) }
        for lane in lanes {
            for (ticket, waiter) in pullers[lane] ?? [:] { found.append((ticket, waiter)) }
        }
        woken = []
        return found
    }

    /// Returns the earliest time at which the wait of a caller ends; nil when no caller waits. Only considers callers
    /// that wait for deliveries of webhooks, or of the pulled subscriptions with these lane numbers.
    func firstDeadline(at lanes: Set<Int64>) -> UInt64? {
        let pulled = lanes.lazy.compactMap { pullers[$0] }.flatMap(\.values).map(\.deadline).min()
        return [waiters.values.lazy.map(\.deadline).min(), pulled].lazy.compactMap(\.self).min()
    }
}

extension PlannedDelivery {
    /// The approximate memory that the delivery uses, in bytes.
    fileprivate var weight: Int { 256 + (body?.count ?? 0) }
}
