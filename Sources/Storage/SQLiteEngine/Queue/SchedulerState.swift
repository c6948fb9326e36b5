import ChatModel
import Locking

/// The end of a lease, unless it was renewed.
struct LeaseEnd: Sendable, Comparable {
    let until: UInt64
    let key: DeliveryKey

    static func == (left: LeaseEnd, right: LeaseEnd) -> Bool { left.until == right.until }
    static func < (left: LeaseEnd, right: LeaseEnd) -> Bool { left.until < right.until }
}

/// A lease that ran out.
struct ExpiredLease: Sendable {
    let key: DeliveryKey
    let lasted: UInt64
}

/// An attempt with several deliveries.
struct SharedAttempt: Sendable {
    /// Leases whose outcome has not been reported, and leases whose outcome has not been recorded.
    var running: Int
    var leases: Int
}

/// The state of the scheduler, with the operations performed under its lock.
struct SchedulerState: Sendable {
    var lanes: [Int64: Lane] = [:]
    var numbers: [SubscriberID: Int64] = [:]
    var groups: [AppID: LaneGroup] = [:]
    /// The apps, ordered by the next possible step of their lanes.
    var timerQueue = TimerQueue<LaneGroup>()
    var leases: [DeliveryKey: DeliveryScheduler.LeaseState] = [:]
    /// Attempts with more than one lease, by their number.
    var sharedAttempts: [UInt64: SharedAttempt] = [:]
    /// Attempts that are under way or not yet recorded, without pulled ones.
    var attempts = 0
    /// The ends of leases. Entries of finished or renewed leases remain until their time, or until there are too many.
    var ends = Heap<LeaseEnd>()
    /// Leases that ran out and are to be recorded as attempts.
    var expired: [ExpiredLease] = []
    /// The clock at the last check.
    var lastNow: UInt64 = 0
    /// The bytes left for planned data kept in the lanes.
    var plannedRoom = 32 * 1024 * 1024
    var fence: UInt64
    var waiters: [UInt64: DeliveryScheduler.LeaseWaiter] = [:]
    /// The callers that wait at each pulled subscription, by its number.
    var pullers: [Int64: [UInt64: DeliveryScheduler.LeaseWaiter]] = [:]
    /// The pulled subscriptions that have changed since their callers were checked.
    var woken: Set<Int64> = []
    var nextTicket: UInt64 = 0
    /// The time at which all callers that wait at pulled subscriptions are checked again, on the machine's uptime
    /// clock.
    var nextRound: UInt64 = .max
    var isClosed = false
}

extension SchedulerState {
    /// Schedules the lane in the timer queue for its next possible step.
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

    /// Adds a lane with this number of waiting items in the file.
    mutating func insert(_ stored: StoredSubscriber, waiting: Int = 0) {
        let app = stored.subscriber.app
        let group = groups[app] ?? LaneGroup()
        groups[app] = group
        numbers[stored.subscriber] = stored.number
        lanes[stored.number] = Lane(stored, in: group, unfinished: waiting)
        schedule(stored.number)
    }

    /// Counts an item that waits behind others of its chain; it is kept in the file only.
    mutating func addInLine(to number: Int64) { lanes[number]?.unfinished += 1 }

    /// Makes an item due because it is now the first of its chain.
    mutating func promote(_ key: DeliveryKey, due: UInt64) {
        if leases[key] != nil {
            leases[key]?.isInLine = false
            // An item that joined another's attempt had no due time of its own until now.
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

    /// Changes the number of attempts under way.
    private mutating func count(_ change: Int, _ number: Int64, isPulled: Bool) {
        guard let lane = lanes[number] else { return }
        lane.attemptsUnderWay += change
        if !isPulled { lane.group.attemptsUnderWay += change }
    }

    /// An app may hold at most this many times the free capacity. A single active app therefore gets nearly all of it,
    /// and leaves some for others.
    private static let greed = 7

    /// True when an app with `held` attempts, or a lane of it, may begin one more (`DeliveryQueue.lease`).
    private func isShare(_ held: Int, of capacity: Int) -> Bool { held / Self.greed < capacity - attempts }

    /// Leases due items, oldest first and in turns between lanes. Also returns the lanes whose items must be fetched.
    mutating func grant(
        _ request: DeliveryScheduler.LeaseRequest, now: UInt64, uptime: UInt64
    ) -> ([DeliveryScheduler.Grant], [Int64]) {
        endLeases(uptime)
        updateClock(now)
        if let lane = request.lane { return pull(lane, request, now: now, uptime: uptime) }
        // This runs after each change of the queue, most often when no capacity is free.
        guard attempts < request.capacity else { return ([], []) }
        var grants: [DeliveryScheduler.Grant] = []
        var granted = 0
        var fetches: [Int64] = []
        // Apps and lanes that hold their share are set aside for the others and go back into the timer queue
        // afterwards.
        var satedApps: [LaneGroup] = []
        var satedLanes: [Lane] = []
        var served: [Lane] = []
        repeat {
            // Schedules another turn for lanes that have more.
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

    /// Leases the due items of one pulled subscription.
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

    /// Begins an attempt with an item and the items that join it.
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
        // The items that wait in line behind them are in the file.
        if lanes[number]?.settings.ordering != DeliveryOrdering.none { grants[first].freeCapacity = room }
    }

    @discardableResult
    private mutating func begin(
        _ item: DueItem, _ number: Int64, _ term: DeliveryScheduler.Term, _ grants: inout [DeliveryScheduler.Grant]
    ) -> UInt64 {
        count(1, number, isPulled: lanes[number]?.settings.isPulled ?? false)
        let attempt = fence + 1
        lease(item, number, attempt, term, isInLine: false, &grants)
        return attempt
    }

    /// Adds a lease to an attempt that is under way.
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

    /// Records that the outcome of a lease was reported. With the last one of an attempt, the subscriber may begin its
    /// next.
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
            // The lease was restored because a slow commit was given up; now its outcome is known.
            if !held.isFinishing { stop(key, held) }
            drop(key)
            lanes[key.subscriber]?.complete(key.event, ending)
            schedule(key.subscriber)
        }
    }

    /// Removes a lease.
    private mutating func drop(_ key: DeliveryKey) {
        guard let held = leases.removeValue(forKey: key) else { return }
        lanes[key.subscriber]?.leaseCount -= 1
        if let left = sharedAttempts[held.attempt]?.leases {
            sharedAttempts[held.attempt]?.leases = left - 1
            guard left == 1 else { return }
            sharedAttempts[held.attempt] = nil
        }
        if !held.isPulled { attempts -= 1 }
    }

    /// Ends expired leases, because their holder may have died, and makes their items due again. Where an expired lease
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

    /// Reschedules all lanes when the clock went back. Items that were held until some time would otherwise wait until
    /// the clock reaches it again.
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
    /// The due items, the lanes to fetch, and the expired leases to record.
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

    /// True when the latest changes may allow a waiting caller to be served.
    var isAwaited: Bool { !waiters.isEmpty || !woken.isEmpty }

    /// Returns the waiting callers to try again: all that wait for deliveries of webhooks, and those that wait for the
    /// subscriptions with these lanes. Clears `woken`.
    mutating func waiting(for lanes: Set<Int64>) -> [(UInt64, DeliveryScheduler.LeaseWaiter)] {
        var found = waiters.map { ($0.key, $0.value) }
        for lane in lanes {
            for (ticket, waiter) in pullers[lane] ?? [:] { found.append((ticket, waiter)) }
        }
        woken = []
        return found
    }

    /// The earliest deadline of the callers that wait for pushed work and of those that wait at these subscriptions.
    func firstDeadline(at lanes: Set<Int64>) -> UInt64? {
        let pulled = lanes.lazy.compactMap { pullers[$0] }.flatMap(\.values).map(\.deadline).min()
        return [waiters.values.lazy.map(\.deadline).min(), pulled].lazy.compactMap(\.self).min()
    }
}

extension PlannedDelivery {
    /// The approximate memory it takes, in bytes.
    fileprivate var weight: Int { 256 + (body?.count ?? 0) }
}
