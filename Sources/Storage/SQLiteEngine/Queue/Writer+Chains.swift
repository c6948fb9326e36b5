import ChatModel
import SQLite
import StorageCore

extension Writer {
    /// Returns the first delivery of a chain; nil when the chain is empty.
    private func head(of chain: Chain) throws(SQLiteFailure) -> DueItem? {
        let find = statements.deliveries.head
        find.bind(chain.subscriber, at: 1)
        find.bind(chain.number, at: 2)
        defer { find.reset() }
        return try find.step() ? DueItem(event: UInt64(find.integer(0)), due: UInt64(find.integer(1))) : nil
    }

    /// Returns the delivery of a chain that is due or being attempted; nil when there is none. All other deliveries of
    /// the chain are in line (they wait). The returned delivery is the first of the chain, except after a replay has
    /// added an earlier delivery.
    private func leader(of chain: Chain) throws(SQLiteFailure) -> DeliveryKey? {
        let find = statements.deliveries.leader
        find.bind(chain.subscriber, at: 1)
        find.bind(chain.number, at: 2)
        return try find.firstInteger().map { DeliveryKey(event: UInt64($0), subscriber: chain.subscriber) }
    }

    func isEmpty(_ chain: Chain) throws(SQLiteFailure) -> Bool { try head(of: chain) == nil }

    /// True when no delivery of the chain waits before this event.
    func isFirst(_ event: UInt64, of chain: Chain) throws(SQLiteFailure) -> Bool {
        try head(of: chain).map { event <= $0.event } ?? true
    }

    /// Makes the first delivery of a chain due after the chain has changed. If another delivery of the chain is due,
    /// that delivery waits again. If another delivery is being attempted, the first delivery waits for it.
    func advance(_ chain: Chain, scheduler: DeliveryScheduler) throws(SQLiteFailure) {
        guard let first = try head(of: chain), first.due == UInt64(Chain.inLine) else { return }
        if let leader = try leader(of: chain) {
            guard !scheduler.isLeased(leader) else { return }
            try setDue(Chain.inLine, of: leader)
            effects.append { scheduler.forget([chain.subscriber: 0]) }
        }
        let key = DeliveryKey(event: first.event, subscriber: chain.subscriber)
        try setDue(Int64(now.rawValue), of: key)
        effects.append { [now] in scheduler.promote(key, due: now.rawValue) }
    }

    private func setDue(_ due: Int64, of key: DeliveryKey) throws(SQLiteFailure) {
        let lead = statements.deliveries.lead
        lead.bind(Int64(key.event), at: 1)
        lead.bind(key.subscriber, at: 2)
        lead.bind(due, at: 3)
        try lead.run()
    }

    // MARK: Reordering

    /// The progress of ``reorder(_:scheduler:)``.
    struct ReorderingPlace: Sendable {
        let subscriber: Int64
        /// The number of the last chain whose first delivery was made due. Chains are processed in the order of their
        /// numbers.
        var chain: Int64 = -1
    }

    /// Reorders one batch of a subscriber's waiting deliveries according to its settings. Returns the progress, or nil
    /// when reordering is complete.
    func reorder(_ place: ReorderingPlace, scheduler: DeliveryScheduler) throws(SQLiteFailure) -> ReorderingPlace? {
        let find = statements.deliveries.subscriber
        find.bind(place.subscriber, at: 1)
        let isThere = try find.step()
        let stored = isThere ? find.storedSubscriber : nil
        find.reset()
        guard let stored else { return nil }
        switch stored.reordering {
        case .done: return nil
        case .release:
            if try release(stored) { return place }
            return try record(stored.settings.ordering == .none ? .done : .chain, place, scheduler)
        case .chain: return try chain(stored) ? place : try record(.lead, place, scheduler)
        case .lead:
            var place = place
            for _ in 0..<Self.turnRows {
                guard let next = try nextChain(after: place) else { return try record(.done, place, scheduler) }
                place.chain = next
                try advance(Chain(subscriber: place.subscriber, number: next), scheduler: scheduler)
            }
            return place
        }
    }

    private func record(
        _ step: Reordering, _ place: ReorderingPlace, _ scheduler: DeliveryScheduler
    ) throws(SQLiteFailure) -> ReorderingPlace? {
        let update = statements.deliveries.setReordering
        update.bind(place.subscriber, at: 1)
        update.bind(step.rawValue, at: 2)
        defer { update.reset() }
        guard try update.step() else { return nil }
        let stored = update.storedSubscriber
        guard step == .done else { return place }
        effects.append {
            scheduler.set(stored)
            scheduler.forget([stored.number: 0])
        }
        return nil
    }

    /// Removes one batch of deliveries from the chains of an earlier ordering.
    ///
    /// - Returns: true when there may be further deliveries to process.
    private func release(_ stored: StoredSubscriber) throws(SQLiteFailure) -> Bool {
        let loosen = statements.deliveries.release
        loosen.bind(stored.number, at: 1)
        loosen.bind(Int64(now.rawValue), at: 2)
        try loosen.run()
        return database.changes == Self.turnRows
    }

    /// Assigns one batch of deliveries to chains.
    ///
    /// - Returns: true when there may be further deliveries to process.
    private func chain(_ stored: StoredSubscriber) throws(SQLiteFailure) -> Bool {
        let find = statements.deliveries.findUnchained
        find.bind(stored.number, at: 1)
        var found: [(event: Int64, channel: String)] = []
        try find.forEachRow { row in
            found.append((row.integer(0), row.text(1)))
            return true
        }
        let put = statements.deliveries.putInLine
        for row in found {
            let chain = Chain(stored.settings.ordering, subscriber: stored.number, channel: row.channel)
            put.bind(row.event, at: 1)
            put.bind(stored.number, at: 2)
            put.bind(chain?.number, at: 3)
            try put.run()
        }
        return found.count == Self.turnRows
    }

    private func nextChain(after place: ReorderingPlace) throws(SQLiteFailure) -> Int64? {
        let next = statements.deliveries.nextChain
        next.bind(place.subscriber, at: 1)
        next.bind(place.chain, at: 2)
        return try next.firstInteger()
    }
}
