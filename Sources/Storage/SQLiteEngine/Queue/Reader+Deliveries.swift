import ChatModel
import SQLite
import StorageCore

/// One delivery with its attempts.
struct FullDelivery: Sendable {
    let delivery: Delivery
    let attempts: [DeliveryAttempt]
}

extension Reader {
    /// Reads the data of these leased deliveries from the database. The result contains no lease for a delivery that is
    /// no longer waiting.
    func leases(_ grants: [DeliveryScheduler.Grant]) throws(SQLiteFailure) -> [DeliveryKey: Lease] {
        // All reads share one snapshot, because each separate read would lock the database again.
        try inSnapshot { () throws(SQLiteFailure) in
            var leases: [DeliveryKey: Lease] = [:]
            for grant in grants where grant.planned == nil { leases[grant.key] = try lease(grant) }
            return leases
        }
    }

    private func lease(_ grant: DeliveryScheduler.Grant) throws(SQLiteFailure) -> Lease? {
        let find = statements.leasedDelivery
        find.bind(Int64(grant.key.event), at: 1)
        find.bind(grant.key.subscriber, at: 2)
        defer { find.reset() }
        guard try find.step() else { return nil }
        let (tries, isManual) = (Int(find.integer(1)), find.integer(2) != 0)
        let delivery = Delivery(
            id: find.text(0), subscriber: grant.subscriber, event: Timetoken(grant.key.event),
            type: try names.type(find.integer(4)), channel: find.text(5),
            status: tries == 0 || isManual ? .pending : .failed, attempts: tries,
            due: find.integer(3) != Chain.inLine ? Timetoken(UInt64(find.integer(3))) : nil)
        return Lease(
            delivery: delivery, fence: grant.fence, body: find.isNull(6) ? nil : find.bytes(6), isManual: isManual,
            attempt: grant.attempt)
    }

    func delivery(_ id: String, in app: AppID) throws(SQLiteFailure) -> FullDelivery? {
        let find = statements.fullDelivery
        find.bind(id, at: 1)
        find.bind(app.name, at: 2)
        defer { find.reset() }
        guard try find.step() else { return nil }
        return FullDelivery(
            delivery: try find.delivery(names),
            attempts: AttemptLog(packed: find.bytes(Statement.deliveryEnd)).attempts)
    }

    /// Returns, for each leased delivery, the deliveries that follow it in the required order and may be part of the
    /// same attempt.
    func followers(of grants: [DeliveryScheduler.Grant]) throws(SQLiteFailure) -> [DeliveryKey: [DueItem]] {
        var followers: [DeliveryKey: [DueItem]] = [:]
        var room: [UInt64: Int] = [:]
        for grant in grants where grant.freeCapacity > 0 { room[grant.attempt] = grant.freeCapacity }
        let find = statements.followers
        for grant in grants {
            guard let left = room[grant.attempt], left > 0 else { continue }
            find.bind(Int64(grant.key.event), at: 1)
            find.bind(grant.key.subscriber, at: 2)
            find.bind(left, at: 3)
            try find.forEachRow { row in
                followers[grant.key, default: []].append(DueItem(event: UInt64(row.integer(0)), due: .max))
                return true
            }
            room[grant.attempt] = left - (followers[grant.key]?.count ?? 0)
        }
        return followers
    }
}

extension Statement {
    /// The columns of a delivery. ``deliveryEnd`` is the index of the first column after them.
    static let deliveryColumns = """
        d.tt, d.id, e.app, e.name, e.state, d.state, d.tries, d.manual, d.due, d.type, d.channel, d.reason, d.created
        """
    static let deliveryEnd: Int32 = 13

    func delivery(_ names: NameTable) throws(SQLiteFailure) -> Delivery {
        let status = deliveryStatus
        return Delivery(
            id: text(1), subscriber: SubscriberID(text(3), in: AppID(text(2))), event: Timetoken(UInt64(integer(0))),
            type: try names.type(integer(9)), channel: text(10), status: status, attempts: Int(integer(6)),
            due: (status == .pending || status == .failed) && integer(8) != Chain.inLine
                ? Timetoken(UInt64(integer(8))) : nil,
            reason: optionalText(11).flatMap { DeadReason(rawValue: $0) }, created: Timetoken(UInt64(integer(12))))
    }

    private var deliveryStatus: DeliveryStatus {
        switch StoredState(rawValue: Int(integer(5))) {
        case .delivered: .delivered
        case .dead: .dead
        case .waiting, nil:
            if integer(4) != 0 { .held } else { integer(6) == 0 || integer(7) != 0 ? .pending : .failed }
        }
    }
}
