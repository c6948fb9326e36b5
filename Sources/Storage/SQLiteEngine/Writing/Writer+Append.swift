import ChatModel
import JSON
import SQLite
import StorageCore

extension Writer {
    /// Assigns timetokens to all drafts and stores them as events. Stores nothing if the idempotency key of `claim` was
    /// already used; the result is then the result that is stored for the key, or a conflict. Also stores nothing if a
    /// record that determines who may write has changed after `revision`.
    func append(
        _ drafts: [EventDraft], claim: Claim?, unlessChangedSince revision: Revision? = nil
    ) throws(SQLiteFailure) -> Result<AppendOutcome, ChatError> {
        if let claim, let earlier = try find(claim) {
            guard earlier.fingerprint == claim.fingerprint else { return .failure(.claimConflict) }
            return .success(try repeated(earlier, drafts))
        }
        if let revision, self.revision > revision {
            let keys = drafts.reduce(into: Set<RecordKey>()) { $0.formUnion($1.rightsKeys) }
            guard try !haveChanged(keys, since: revision) else {
                return .failure(.permissionsChanged)
            }
        }
        if drafts.hasPast {
            let end = endMovingOn()
            guard drafts.allSatisfy({ $0.past.map { $0 < end } ?? true }) else {
                return .failure(.importNotInPast)
            }
        }
        var placed: [Appended] = []
        placed.reserveCapacity(drafts.count)
        let span = drafts.span
        for index in span.indices {
            let past = span[index].past
            // Makes the event at once. Each call with a draft would copy its fields.
            let event = Event(timetoken: past ?? Timetoken(mark.next(now: now)), draft: span[index])
            placed.append(past == nil ? try place(event) : try placeInPast(event))
        }
        if let claim { try remember(claim, placed.map(\.event.timetoken)) }
        return .success(AppendOutcome(events: AppendedEvents(placed)))
    }

    /// Adds a new event to the commit, and stores it if it is durable. For a deduplication key that was already used,
    /// returns the earlier event instead.
    private func place(_ event: Event) throws(SQLiteFailure) -> Appended {
        if let key = event.draft.deduplicationKey,
            let first = try firstSighting(of: key, event.draft.channel, event.timetoken.rawValue)
        {
            return Appended(event: try self.event(at: first, insteadOf: event.draft), isDuplicate: true)
        }
        if event.retention == .kept { try insert(event) }
        add(event)
        return Appended(event: event, isDuplicate: false)
    }

    /// Stores an imported event with its original timetoken, or with the next free timetoken if another event has the
    /// original one. Events of two sources, or of two channels of one source, may have the same timetoken.
    private func placeInPast(_ imported: Event) throws(SQLiteFailure) -> Appended {
        var event = imported
        // Retention already hides events with this timetoken and does not examine them again. An event that is stored
        // here would never be removed.
        guard event.timetoken > engineState.retention.cutoff(of: event.channel.app, now: now) else {
            return Appended(event: event, isDuplicate: false)
        }
        while let present = try self.event(at: event.timetoken) {
            if present.channel == event.channel, present.user == event.user, present.data == event.data {
                return Appended(event: present, isDuplicate: true)
            }
            event = Event(timetoken: Timetoken(event.timetoken.rawValue + 1), draft: event.draft)
        }
        try insert(event)
        return Appended(event: event, isDuplicate: false)
    }

    /// Returns the event with this timetoken, in any app; nil when there is none.
    private func event(at timetoken: Timetoken) throws(SQLiteFailure) -> Event? {
        if let event = events.event(at: timetoken) ?? engineState.tail.event(at: timetoken) { return event }
        statements.findEvent.bind(Int64(timetoken.rawValue), at: 1)
        defer { statements.findEvent.reset() }
        return try statements.findEvent.step() ? try EventRow.read(statements.findEvent, names) : nil
    }

    private func insert(_ event: Event) throws(SQLiteFailure) {
        let schemaType: Int64? =
            if let schema = event.draft.schema { try id(ofType: schema.type) } else { nil }
        try EventRow.write(
            event, channel: try id(of: event.draft.channel), type: try id(ofType: event.draft.type),
            schemaType: schemaType, with: statements.insertEvent)
    }

    // MARK: Repeats

    /// Stores an idempotency key with the timetoken of its event. If the key was already used within the time window,
    /// stores nothing and returns the timetoken of the first use; otherwise returns nil.
    private func firstSighting(
        of key: String, _ channel: ChannelID, _ timetoken: UInt64
    ) throws(SQLiteFailure) -> Timetoken? {
        let channel = try id(of: channel)
        statements.see.bind(channel, at: 1)
        statements.see.bind(key, at: 2)
        statements.see.bind(Int64(timetoken), at: 3)
        statements.see.bind(Int64(Timetoken(timetoken).adding(engineState.limits.repeatWindow).rawValue), at: 4)
        statements.see.bind(Int64(now.rawValue), at: 5)
        try statements.see.run()
        guard database.changes == 0 else { return nil }
        statements.findSeen.bind(channel, at: 1)
        statements.findSeen.bind(key, at: 2)
        return try statements.findSeen.firstInteger().map { Timetoken(UInt64($0)) }
    }

    /// Returns the original event of a repeated request. If that event no longer exists (deleted, expired, or an old
    /// ephemeral event), returns an event with the original timetoken and the content of the repeated request. This is
    /// sufficient, because the sender needs only the timetoken.
    private func event(at timetoken: Timetoken, insteadOf draft: EventDraft) throws(SQLiteFailure) -> Event {
        try event(at: timetoken, in: draft.channel.app) ?? Event(timetoken: timetoken, draft: draft)
    }

    private func event(at timetoken: Timetoken, in app: AppID) throws(SQLiteFailure) -> Event? {
        try event(at: timetoken) ?? engineState.allocator.passingEvent(at: timetoken, in: app)
    }

    // MARK: Claims

    private struct EarlierClaim {
        let fingerprint: [UInt8]
        let timetokens: [Timetoken]
        let note: JSONText
    }

    private func find(_ claim: Claim) throws(SQLiteFailure) -> EarlierClaim? {
        // No claim of an app without a number is stored.
        guard let app = try names.id(of: claim.app) else { return nil }
        let find = statements.findClaim
        find.bind(app, at: 1)
        find.bind(claim.key, at: 2)
        find.bind(Int64(now.rawValue), at: 3)
        defer { find.reset() }
        guard try find.step() else { return nil }
        return EarlierClaim(
            fingerprint: find.bytes(0), timetokens: [Timetoken](packed: find.bytes(1)),
            note: JSONText(trusted: find.bytes(2)))
    }

    /// Returns the result that is stored for the claim's idempotency key; nil when there is none.
    func earlier(_ claim: Claim) throws(SQLiteFailure) -> Result<RepeatedAppend?, ChatError> {
        guard let earlier = try find(claim) else { return .success(nil) }
        guard earlier.fingerprint == claim.fingerprint else { return .failure(.claimConflict) }
        var events: [Event?] = []
        for timetoken in earlier.timetokens { events.append(try event(at: timetoken, in: claim.app)) }
        return .success(RepeatedAppend(timetokens: earlier.timetokens, events: events, note: earlier.note))
    }

    private func remember(_ claim: Claim, _ timetokens: [Timetoken]) throws(SQLiteFailure) {
        let insert = statements.insertClaim
        insert.bind(try id(of: claim.app), at: 1)
        insert.bind(claim.key, at: 2)
        insert.bind(claim.fingerprint, at: 3)
        insert.bind(timetokens.packed, at: 4)
        insert.bind(claim.note.bytes, at: 5)
        insert.bind(Int64(claim.until.rawValue), at: 6)
        try insert.run()
    }

    /// Returns the result of a repeated request. Events that no longer exist are replaced by the drafts of the repeated
    /// request.
    private func repeated(_ claim: EarlierClaim, _ drafts: [EventDraft]) throws(SQLiteFailure) -> AppendOutcome {
        var events: [Appended] = []
        for (timetoken, draft) in zip(claim.timetokens, drafts) {
            events.append(Appended(event: try event(at: timetoken, insteadOf: draft), isDuplicate: true))
        }
        return AppendOutcome(events: AppendedEvents(events), repeatedNote: claim.note)
    }

    // MARK: Names

    /// Returns the number of a channel. Assigns a number to a new channel.
    func id(of channel: ChannelID) throws(SQLiteFailure) -> Int64 {
        if let known = try names.id(of: channel) { return known }
        statements.insertChannel.bind(try id(of: channel.app), at: 1)
        statements.insertChannel.bind(channel.name, at: 2)
        try statements.insertChannel.run()
        names.remember(database.lastInsertedRow, for: channel)
        return database.lastInsertedRow
    }

    func id(of app: AppID) throws(SQLiteFailure) -> Int64 {
        if let known = try names.id(of: app) { return known }
        statements.insertApp.bind(app.name, at: 1)
        try statements.insertApp.run()
        names.remember(database.lastInsertedRow, for: app)
        return database.lastInsertedRow
    }

    func id(ofType name: String) throws(SQLiteFailure) -> Int64 {
        if let known = try names.id(ofType: name) { return known }
        statements.insertType.bind(name, at: 1)
        try statements.insertType.run()
        names.remember(database.lastInsertedRow, forType: name)
        return database.lastInsertedRow
    }
}
