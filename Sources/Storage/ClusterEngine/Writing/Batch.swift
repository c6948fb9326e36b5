import ChatModel
import StorageCore

/// The requests of one transaction, carried out in memory on what was read from the store. The transaction then writes
/// the result at once.
///
/// A request runs in two steps. `missing…` returns what must be read before the request can run, as far as that is known.
/// When nothing is missing any more, the request runs, and sees the effects of the requests before it.
final class Batch {
    /// The head before the batch.
    let start: Head
    /// The time of the batch. The clock is read once per batch.
    let now: Timetoken
    private let retention: RetentionTable
    private let limits: Limits
    private var found = Found()
    /// The effects of the batch on what was read.
    private var overlay = Found()
    /// The changes that the transaction will write. ``finish()`` sets their head.
    private(set) var changes: StoreChanges
    private var last: UInt64
    private var revision: Revision
    /// The changes of records, in order, one for each write.
    private(set) var recordChanges: [RecordChanges] = []

    init(start: Head, memory: NodeMemory) {
        self.start = start
        retention = memory.retention
        limits = memory.limits
        last = start.timetoken.rawValue
        revision = start.revision
        now = max(memory.clock.now, start.timetoken)
        changes = StoreChanges(head: start, now: now)
    }

    /// True if nothing must be written.
    var isEmpty: Bool {
        !hasRemovals && changes.head == start && changes.notices.isEmpty && changes.deletions.isEmpty
            && changes.removedBodies.isEmpty
            && last == start.timetoken.rawValue
    }

    /// Adds what was read from the store.
    func add(_ more: Found) { found.merge(more) }

    /// The part of a lookup that is not known yet.
    func unknown(of lookup: Lookup) -> Lookup {
        var rest = lookup
        rest.records = lookup.records.filter { overlay.records[$0] == nil && found.records[$0] == nil }
        rest.changed = lookup.changed.filter { overlay.changed[$0] == nil && found.changed[$0] == nil }
        rest.repeats = lookup.repeats.filter { overlay.repeats[$0] == nil && found.repeats[$0] == nil }
        rest.claims = lookup.claims.filter { overlay.claims[$0] == nil && found.claims[$0] == nil }
        rest.events = lookup.events.filter { overlay.events[$0] == nil && found.events[$0] == nil }
        return rest
    }

    /// Sets the head of ``changes``, and returns the frame for the nodes. Nil if nothing must be written.
    func finish() -> Frame? {
        guard !isEmpty else { return nil }
        changes.head = Head(
            commit: start.commit + 1, timetoken: Timetoken(last), revision: revision, time: start.time)
        if !changes.deletions.isEmpty { changes.notices.append(.deleted(changes.deletions.sorted())) }
        return Frame(
            after: start.commit, head: changes.head, changes: recordChanges, events: changes.events,
            notices: changes.notices)
    }

    /// True if the transaction has removed rows that need no notice.
    var hasRemovals = false

    /// Adds a notice for the other nodes.
    func add(_ notice: Notice) { changes.notices.append(notice) }

    // MARK: State

    /// The timetoken of the next event.
    var next: Timetoken { Timetoken(max(last + 1, now.rawValue)) }

    private func record(_ key: RecordKey) -> Record? { (overlay.records[key] ?? found.records[key]) ?? nil }

    private func event(at timetoken: Timetoken) -> Event? {
        (overlay.events[timetoken] ?? found.events[timetoken]) ?? nil
    }

    private func isKept(_ timetoken: Timetoken, in channel: ChannelID) -> Bool {
        guard let event = event(at: timetoken) else { return false }
        return event.retention == .kept && event.channel == channel
    }

    private func isKnown(_ timetoken: Timetoken) -> Bool {
        overlay.events[timetoken] != nil || found.events[timetoken] != nil
    }

    private func assign() -> UInt64 {
        last = next.rawValue
        return last
    }

    // MARK: Appends

    /// Returns the state that an append needs and the batch does not know. When this state is known, the append may need
    /// more, for instance the events of earlier requests.
    func missing(for drafts: [EventDraft], claim: Claim?, unlessChangedSince since: Revision?) -> Lookup {
        var lookup = Lookup()
        if let claim {
            let key = ClaimKey(claim)
            lookup.claims.insert(key)
            if let earlier = stored(key) { lookup.events.formUnion(earlier.timetokens) }
        }
        if let since, revision > since {
            for draft in drafts { lookup.changed.formUnion(draft.rightsKeys) }
        }
        for draft in drafts {
            guard let key = draft.deduplicationKey else { continue }
            let repeated = RepeatKey(draft.channel, key)
            lookup.repeats.insert(repeated)
            if let first = first(repeated) { lookup.events.insert(first.timetoken) }
        }
        addPlaces(of: drafts, to: &lookup)
        return unknown(of: lookup)
    }

    /// Adds the timetokens that imported events might get. If another event has a timetoken, the next one is tried.
    private func addPlaces(of drafts: [EventDraft], to lookup: inout Lookup) {
        var taken: Set<Timetoken> = []
        for draft in drafts {
            guard var place = draft.past else { continue }
            while true {
                guard isKnown(place) else {
                    lookup.events.insert(place)
                    break
                }
                if let event = event(at: place) {
                    if event.isSame(as: draft) { break }
                } else if taken.insert(place).inserted {
                    break
                }
                place = Timetoken(place.rawValue + 1)
            }
        }
    }

    /// Assigns timetokens to all drafts. Stores nothing if the idempotency key of `claim` was already used: the result is
    /// then the stored one, or a conflict. Also stores nothing if a record that determines who may write has changed
    /// after `since`. Nothing may be missing.
    func append(
        _ drafts: [EventDraft], claim: Claim?, unlessChangedSince since: Revision? = nil
    ) -> Result<AppendOutcome, ChatError> {
        if let claim, let earlier = stored(ClaimKey(claim)) {
            guard earlier.fingerprint == claim.fingerprint else { return .failure(.claimConflict) }
            let events = zip(earlier.timetokens, drafts).map { timetoken, draft in
                Appended(event: event(at: timetoken, insteadOf: draft), isDuplicate: true)
            }
            return .success(AppendOutcome(events: AppendedEvents(events), repeatedNote: earlier.note))
        }
        if let since, revision > since, drafts.contains(where: { hasChanged($0.rightsKeys, since: since) }) {
            return .failure(
                .permissionsChanged)
        }
        if drafts.contains(where: { $0.past != nil }) {
            // The watermark moves, so that the imported events become visible.
            let end = Timetoken(assign())
            guard drafts.allSatisfy({ $0.past.map { $0 < end } ?? true }) else {
                return .failure(.importNotInPast)
            }
        }
        let placed = drafts.map { place($0) }
        if let claim {
            let timetokens = placed.map(\.event.timetoken)
            changes.claims.append((claim, timetokens))
            overlay.claims[ClaimKey(claim)] = StoredClaim(
                fingerprint: claim.fingerprint, timetokens: timetokens, note: claim.note, until: claim.until)
        }
        return .success(AppendOutcome(events: AppendedEvents(placed)))
    }

    private func place(_ draft: EventDraft) -> Appended {
        if let past = draft.past { return place(draft, in: past) }
        if let key = draft.deduplicationKey {
            let repeated = RepeatKey(draft.channel, key)
            if let first = first(repeated) {
                return Appended(event: event(at: first.timetoken, insteadOf: draft), isDuplicate: true)
            }
            let stored = StoredRepeat(timetoken: next, until: next.adding(limits.repeatWindow))
            changes.repeats[repeated] = stored
            overlay.repeats[repeated] = stored
        }
        let event = Event(timetoken: Timetoken(assign()), draft: draft)
        changes.events.append(event)
        overlay.events[event.timetoken] = event
        return Appended(event: event, isDuplicate: false)
    }

    /// Stores an imported event with its original timetoken, or with the next free timetoken if another event has the
    /// original one.
    private func place(_ draft: EventDraft, in past: Timetoken) -> Appended {
        // Retention already hides events with this timetoken and does not examine them again. An event that is stored
        // here would never be removed.
        guard past > retention.cutoff(of: draft.channel.app, now: now) else {
            return Appended(event: Event(timetoken: past, draft: draft), isDuplicate: false)
        }
        var place = past
        while let present = event(at: place) {
            if present.isSame(as: draft) { return Appended(event: present, isDuplicate: true) }
            place = Timetoken(place.rawValue + 1)
        }
        let event = Event(timetoken: place, draft: draft)
        changes.imported.append(event)
        overlay.events[place] = event
        return Appended(event: event, isDuplicate: false)
    }

    /// The first event of a repeated request. If it no longer exists, an event with its timetoken and the content of the
    /// repeated request, because the sender needs only the timetoken.
    private func event(at timetoken: Timetoken, insteadOf draft: EventDraft) -> Event {
        if let event = event(at: timetoken), event.channel.app == draft.channel.app { return event }
        return Event(timetoken: timetoken, draft: draft)
    }

    private func first(_ key: RepeatKey) -> StoredRepeat? {
        guard let stored = (overlay.repeats[key] ?? found.repeats[key]) ?? nil, stored.until > now else { return nil }
        return stored
    }

    private func stored(_ key: ClaimKey) -> StoredClaim? {
        guard let stored = (overlay.claims[key] ?? found.claims[key]) ?? nil, stored.until > now else { return nil }
        return stored
    }

    private func hasChanged(_ keys: [RecordKey], since revision: Revision) -> Bool {
        keys.contains { (overlay.changed[$0] ?? found.changed[$0] ?? 0) > revision }
    }

    // MARK: Records

    /// Returns the state that a write of records and events needs and the batch does not know.
    func missing(for changes: [RecordChange], events: [EventDraft], claim: Claim? = nil) -> Lookup {
        var lookup = Lookup(records: Set(changes.map(\.key)))
        lookup.formUnion(missing(for: events, claim: claim, unlessChangedSince: nil))
        return unknown(of: lookup)
    }

    /// Writes all record changes and all events, or nothing. Nothing may be missing.
    func write(
        _ changes: [RecordChange], events drafts: [EventDraft], claim: Claim? = nil, tag: Int64 = ETag.random()
    ) -> Result<(records: [Record], events: [Event]), ChatError> {
        let plan: RecordPlan
        switch RecordPlan.make(changes, tag: tag, now: now, stored: { record($0) }) {
        case .success(let made): plan = made
        case .failure(let refusal): return .failure(refusal)
        }
        var events: [Event] = []
        if !drafts.isEmpty {
            switch append(drafts, claim: claim) {
            case .success(let appended) where appended.repeatedNote == nil: events = appended.events.map(\.event)
            case .success: return .failure(.claimConflict)
            case .failure(let refusal): return .failure(refusal)
            }
        }
        let written = plan.stamped(events.first?.timetoken ?? now)
        if !written.steps.isEmpty { apply(written) }
        return .success((written.results, events))
    }

    private func apply(_ plan: RecordPlan) {
        revision += 1
        changes.head.revision = revision
        var keys: [RecordKey] = []
        for step in plan.steps {
            switch step {
            case .put(let record):
                keys.append(record.key)
                overlay.records[record.key] = .some(record)
                changes.records[record.key] = .put(record, tag: plan.tag, revision: revision)
            case .remove(let record):
                keys.append(record.key)
                overlay.records[record.key] = .some(nil)
                changes.records[record.key] = .remove(revision: revision)
            }
        }
        for key in keys { overlay.changed[key] = revision }
        recordChanges.append(RecordChanges(keys: keys, revision: revision))
    }

    /// The input of a decision, when all its records are known.
    func snapshot(_ keys: [RecordKey], tag: Int64) -> RecordSnapshot {
        var records: [RecordKey: Record] = [:]
        for key in keys { records[key] = record(key) }
        return RecordSnapshot(now: now, next: next, etag: ETag.text(tag), records: records)
    }

    /// Returns the state that the commit of a decision needs and the batch does not know.
    func missing<Value>(for decision: Decision<Value>) -> Lookup {
        var lookup = Lookup(events: Set((decision.requires + decision.removals).map(\.timetoken)))
        lookup.formUnion(missing(for: decision.changes, events: decision.events, claim: decision.claim))
        return unknown(of: lookup)
    }

    /// Carries out a decision. Nothing may be missing.
    func perform<Value>(_ decision: Decision<Value>, tag: Int64) -> Result<Decided<Value>, ChatError> {
        for place in decision.requires where !isKept(place.timetoken, in: place.channel) {
            return .failure(.eventGone(place.timetoken))
        }
        return write(decision.changes, events: decision.events, claim: decision.claim, tag: tag).map { written in
            remove(decision.removals)
            return Decided(
                value: decision.value, records: written.records, events: written.events, changes: decision.changes)
        }
    }

    private func remove(_ removals: [(channel: ChannelID, timetoken: Timetoken)]) {
        for removal in removals {
            if isKept(removal.timetoken, in: removal.channel) {
                overlay.events[removal.timetoken] = .some(nil)
                changes.events.removeAll { $0.timetoken == removal.timetoken }
                changes.imported.removeAll { $0.timetoken == removal.timetoken }
                changes.deletions.insert(removal.timetoken)
            }
            changes.removedBodies.insert(removal.timetoken)
        }
    }

    /// Moves the watermark without an event.
    func moveOn() { _ = assign() }

    /// Sets the retention of an app.
    func setRetention(_ age: Duration?, of app: AppID) {
        changes.retention[app] = .some(age?.timetokenTicks)
        changes.notices.append(.retention(app: app.name, ticks: age?.timetokenTicks))
    }
}

extension Event {
    /// True if an imported draft is this event.
    fileprivate func isSame(as draft: EventDraft) -> Bool {
        channel == draft.channel && user == draft.user && data == draft.data
    }
}
