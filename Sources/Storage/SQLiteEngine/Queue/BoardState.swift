import ChatModel

/// When a lane can next do something.
struct Appointment: Sendable, Comparable {
    let due: UInt64
    let lane: Int64

    static func < (left: Appointment, right: Appointment) -> Bool { left.due < right.due }
}

/// What the board knows, and what it does about it under its lock.
struct BoardState: Sendable {
    var lanes: [Int64: Lane] = [:]
    var numbers: [EndpointID: Int64] = [:]
    /// Lanes by what they can do next. An entry is stale unless it agrees with the lane's `agendaDue`.
    var agenda = Heap<Appointment>()
    var leases: [DeliveryKey: Board.Held] = [:]
    /// Attempts under way, by space: the sums of the lanes' `leased`.
    var shares: [SpaceID: Int] = [:]
    /// In the order of their ends, as all leases last alike; a renewed one stands here twice.
    var ends: [(until: UInt64, key: DeliveryKey)] = []
    var firstEnd = 0
    /// Bytes that the lanes' facts may still take.
    var factRoom = 32 * 1024 * 1024
    var fence: UInt64
    var takers: [UInt64: Board.Taker] = [:]
    var nextTaker: UInt64 = 0
    var isClosed = false
}

extension BoardState {
    /// Puts the lane into the agenda for what it can do next.
    mutating func enlist(_ number: Int64) {
        guard let lane = lanes[number], let due = lane.nextDue, due < lane.agendaDue ?? .max else { return }
        lanes[number]?.agendaDue = due
        agenda.push(Appointment(due: due, lane: number))
    }

    mutating func add(_ item: PlannedDelivery, due: UInt64, to number: Int64) {
        lanes[number]?.waiting += 1
        let isKept = lanes[number]?.add(DueItem(event: item.event.rawValue, due: due)) ?? false
        if isKept, item.weight <= factRoom {
            factRoom -= item.weight
            lanes[number]?.keep(item)
        }
        enlist(number)
    }

    mutating func dropFacts(of number: Int64) {
        for planned in lanes[number]?.takeAllFacts() ?? [] { factRoom += planned.weight }
    }

    /// Counts attempts under way.
    mutating func count(_ change: Int, _ number: Int64) {
        guard let space = lanes[number]?.endpoint.space else { return }
        lanes[number]?.leased += change
        shares[space, default: 0] += change
        if shares[space] == 0 { shares[space] = nil }
    }

    /// Whether a lane may have one lease more (`DeliveryQueue.take`).
    private func hasShare(_ number: Int64, of capacity: Int) -> Bool {
        guard let held = lanes[number]?.leased, let space = lanes[number]?.endpoint.space else { return false }
        let free = capacity - leases.count
        let share = shares[space] ?? 0
        return share < free && held < free - share
    }

    /// Leases what is due, lane by lane in turns, oldest due first; and names the lanes whose items must be fetched.
    mutating func grant(
        _ demand: Board.Demand, now: UInt64, uptime: UInt64
    ) -> ([Board.Grant], [Int64]) {
        endLeases(uptime)
        var grants: [Board.Grant] = []
        var fetches: [Int64] = []
        // Lanes that hold their share stand aside for the others, and are back in the agenda afterwards.
        var sated: [Appointment] = []
        var served: [Int64] = []
        repeat {
            // Another turn for those that have more.
            for lane in served { enlist(lane) }
            served.removeAll(keepingCapacity: true)
            while grants.count < demand.limit, let appointment = agenda.first, appointment.due <= now {
                _ = agenda.popFirst()
                let number = appointment.lane
                // Read and changed where they lie, here and above: a copy of a lane is a copy of its heap of due items.
                guard lanes[number]?.agendaDue == appointment.due, let endpoint = lanes[number]?.endpoint else {
                    continue
                }
                guard hasShare(number, of: demand.capacity) else {
                    sated.append(appointment)
                    continue
                }
                switch lanes[number]?.grant(now: now) {
                case .item(let item): grants.append(lease(item, of: endpoint, number, uptime: uptime))
                case .fetch: fetches.append(number)
                case .nothing, nil: break
                }
                served.append(number)
            }
        } while !served.isEmpty
        for appointment in sated { agenda.push(appointment) }
        return (grants, fetches)
    }

    private mutating func lease(
        _ item: DueItem, of endpoint: EndpointID, _ number: Int64, uptime: UInt64
    ) -> Board.Grant {
        fence += 1
        count(1, number)
        let key = DeliveryKey(event: item.event, endpoint: number)
        let until = uptime + Board.leaseSeconds * 1_000_000_000
        leases[key] = Board.Held(item: item, fence: fence, until: until)
        ends.append((until, key))
        let planned = lanes[number]?.takeFacts(of: item.event)
        factRoom += planned?.weight ?? 0
        return Board.Grant(key: key, endpoint: endpoint, item: item, planned: planned, fence: fence)
    }

    /// Items whose lease ran out are due again: whoever held it may have died.
    private mutating func endLeases(_ uptime: UInt64) {
        while firstEnd < ends.count, ends[firstEnd].until <= uptime {
            let key = ends[firstEnd].key
            firstEnd += 1
            guard let held = leases[key], held.until <= uptime, !held.isFinishing else { continue }
            release(key, held, isGone: false)
        }
        if firstEnd > 1024, firstEnd > ends.count / 2 {
            ends.removeFirst(firstEnd)
            firstEnd = 0
        }
    }

    mutating func release(_ key: DeliveryKey, _ held: Board.Held, isGone: Bool) {
        leases[key] = nil
        count(-1, key.endpoint)
        if isGone {
            lanes[key.endpoint]?.waiting -= 1
        } else if lanes[key.endpoint]?.state != .closed {
            lanes[key.endpoint]?.add(held.item)
        }
        enlist(key.endpoint)
    }
}

extension PlannedDelivery {
    /// What it costs to keep, about.
    fileprivate var weight: Int { 256 + (body?.count ?? 0) }
}
