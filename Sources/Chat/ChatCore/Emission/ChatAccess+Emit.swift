public import ChatModel
import JSON

extension ChatAccess {
    /// Appends events to their channels, all or none. When it returns, they are durable (ephemeral ones: visible).
    ///
    /// - Parameter claim: makes the whole call repeatable with the same answer (`Idempotency-Key`), even when the
    ///   repeat would be refused because rights or schemas have changed since.
    /// - Throws: `.malformed`, `.forbidden`, `.tooLarge`, `.invalid` before anything is stored; what `EventLog.append`
    ///   throws.
    @discardableResult
    public nonisolated(nonsending) func emit(
        _ emissions: [Emission], claim: Claim? = nil
    ) async throws(ChatError) -> AppendOutcome {
        do throws(ChatError) {
            // A repeat does not count against rates again.
            if caller.meters != nil, let claim, let earlier = try await earlier(claim) {
                return outcome(of: earlier, asking: emissions)
            }
            return try await emit(admitted: try await drafts(of: emissions), claim: claim)
        } catch {
            guard let claim, error.isRefusal, let earlier = try await earlier(claim) else { throw error }
            return outcome(of: earlier, asking: emissions)
        }
    }

    /// Appends drafts that `admit(_:)` returned, all or none.
    ///
    /// - Throws: `.tooMany` past the caller's rates; `.forbidden`; `.overloaded` when rights change too often; what
    ///   `EventLog.append` throws.
    public nonisolated(nonsending) func emit(
        admitted drafts: [EventDraft], claim: Claim? = nil
    ) async throws(ChatError) -> AppendOutcome {
        if let meters = caller.meters { try meters.admit(events: drafts.count, at: service.clock.now) }
        for _ in 0..<Self.settlings {
            do throws(ChatError) {
                // Checked here, so that an app whose channels restrict nobody does not wait for anything.
                if let revision = service.accessCache.revisionWithoutConcern(of: app) {
                    return try await append(drafts, claim, unlessChangedSince: revision)
                }
                let (settled, revision) = try await settled(drafts)
                return try await append(settled, claim, unlessChangedSince: revision)
            } catch {
                // A user was banned meanwhile, or the channel changed: check again.
                guard error.code == .stale else { throw error }
            }
        }
        throw ChatError(
            .overloaded, "the channel's permissions change too often to be checked; nothing was stored",
            retryAfter: .seconds(1))
    }

    /// The maximum number of attempts when the rights to write change before each commit.
    private static var settlings: Int { 8 }

    private nonisolated(nonsending) func append(
        _ drafts: [EventDraft], _ claim: Claim?, unlessChangedSince revision: Revision
    ) async throws(ChatError) -> AppendOutcome {
        guard let tracer = service.tracer else {
            return service.eventTypes.seen(
                try await log.append(drafts, claim: claim, unlessChangedSince: revision))
        }
        return service.eventTypes.seen(
            try await tracer.traced("store commit") { () async throws(ChatError) in
                try await log.append(drafts, claim: claim, unlessChangedSince: revision)
            })
    }

    /// Returns what an earlier emit with this claim stored; see `EventLog.earlier(_:)`.
    public func earlier(_ claim: Claim) async throws(ChatError) -> RepeatedAppend? { try await log.earlier(claim) }

    /// The outcome of the earlier emit, for a caller that repeats it with the same emissions. The emissions replace
    /// events that are no longer stored.
    public func outcome(of earlier: RepeatedAppend, asking emissions: [Emission]) -> AppendOutcome {
        var events: [Appended] = []
        for (index, emission) in emissions.enumerated() where index < earlier.timetokens.count {
            let draft = EventDraft(channel: channel(emission.channel), type: emission.type, data: emission.data)
            let event = earlier.events[index] ?? Event(timetoken: earlier.timetokens[index], draft: draft)
            events.append(Appended(event: event, isDuplicate: true))
        }
        return AppendOutcome(events: events, repeatedNote: earlier.note)
    }

    private var isHeldBack: Bool { service.accessCache.concern(app) }

    private func settled(_ drafts: [EventDraft]) async throws(ChatError) -> (drafts: [EventDraft], Revision) {
        var drafts = drafts
        var oldest = Revision.max
        for index in drafts.indices { oldest = min(oldest, try await settle(&drafts[index])) }
        return (drafts, oldest)
    }

    /// Applies what depends on the channel: checks that the user may write there, and sets the audience of a message.
    ///
    /// - Returns: the revision of the directory for which this holds.
    /// - Throws: `.forbidden`; what the store throws.
    @discardableResult
    private func settle(_ draft: inout EventDraft) async throws(ChatError) -> Revision {
        let channelAccess = try await service.accessCache.channelAccess(of: draft.user, in: draft.channel)
        if let user = draft.user,
            let obstacle = obstacle(
                to: .writing, of: user, in: draft.channel.name, channel: channelAccess.channel, channelAccess.user)
        {
            throw obstacle
        }
        draft.audience = Self.audience(of: draft, in: channelAccess.channel)
        guard let thread = MappedThread(draft.channel.name) else { return channelAccess.revision }
        // Restrictions of a channel also apply to its threads.
        let parent = try await service.accessCache.channelAccess(of: draft.user, in: channel(thread.parent))
        if let user = draft.user,
            let obstacle = obstacle(
                to: .writing, of: user, in: thread.parent, channel: parent.channel, parent.user)
        {
            throw obstacle
        }
        if parent.channel.isPrivate, draft.audience == .subscribers { draft.audience = .insiders }
        return min(channelAccess.revision, parent.revision)
    }

    /// The audience of a draft, determined as for emitted events.
    func audience(of draft: EventDraft) async throws(ChatError) -> Audience {
        guard isHeldBack else { return draft.audience }
        return Self.audience(
            of: draft, in: try await service.accessCache.channelAccess(of: nil, in: draft.channel).channel)
    }

    private static func audience(of draft: EventDraft, in channel: ChannelRules) -> Audience {
        guard draft.audience == .subscribers else { return draft.audience }
        if draft.type == BuiltInTypes.messageCreated {
            return channel.kind.audience(members: .joinedButOrigin, inside: .participantsButOrigin)
        }
        return channel.isPrivate ? .insiders : .subscribers
    }

    /// Validates each emission against the schema of its type: on the loop while that is little work, otherwise away
    /// from it.
    private nonisolated(nonsending) func drafts(of emissions: [Emission]) async throws(ChatError) -> [EventDraft] {
        var quick = ValidationBudget.onLoop
        if let drafts = try drafts(of: emissions, within: &quick) { return drafts }
        return try await service.eventTypes.judge(for: app) { () async throws(ChatError) in
            var work = ValidationBudget()
            return try drafts(of: emissions, within: &work) ?? []
        }
    }

    /// Returns nil when some work was postponed.
    ///
    /// Never inlined: an async function keeps everything it has touched in memory allocated with its task until it
    /// returns, and drafts are large.
    @inline(never)
    private func drafts(
        of emissions: [Emission], within work: inout ValidationBudget
    ) throws(ChatError) -> [EventDraft]? {
        var drafts: [EventDraft] = []
        drafts.reserveCapacity(emissions.count)
        for emission in emissions {
            drafts.append(try self.draft(of: emission, within: &work))
            guard !work.isPutOff else { return nil }
        }
        return drafts
    }

    /// Emits one event; see `emit(_:claim:)`.
    @discardableResult
    public func emit(_ emission: Emission) async throws(ChatError) -> Appended {
        try await emit([emission]).events[0]
    }

    /// Makes all checks that precede the append: rights, names, sizes, the schema of the type, and whether the user may
    /// write in the channel. Every interface uses it.
    ///
    /// - Throws: `.malformed`, `.forbidden`, `.tooLarge`, `.invalid`; what the store throws.
    public func admit(_ emission: Emission) async throws(ChatError) -> EventDraft {
        var work = ValidationBudget()
        return try await admit([.success(emission)], within: &work)[0].get()
    }

    /// Checks the events of one request, each on its own. Together they share the validation budget of one request.
    ///
    /// - Parameters:
    ///   - emissions: an emission that could not be read keeps its position and its error.
    ///   - left: the remaining validation budget, for a caller that checks more events of the same request.
    public func admit(
        _ emissions: [Result<Emission, ChatError>], within left: inout ValidationBudget
    ) async throws(ChatError) -> [Result<EventDraft, ChatError>] {
        var quick = ValidationBudget.onLoop
        var results: [Result<EventDraft, ChatError>]
        if let done = each(of: emissions, within: &quick) {
            results = done
        } else {
            (results, left) = try await service.eventTypes.judge(for: app) { [left] () async throws(ChatError) in
                var work = left
                return (each(of: emissions, within: &work) ?? [], work)
            }
        }
        guard isHeldBack else { return results }
        for index in results.indices {
            guard case .success(var draft) = results[index] else { continue }
            do throws(ChatError) {
                try await settle(&draft)
                results[index] = .success(draft)
            } catch {
                results[index] = .failure(error)
            }
        }
        return results
    }

    /// Returns nil when some work was postponed.
    private func each(
        of emissions: [Result<Emission, ChatError>], within work: inout ValidationBudget
    ) -> [Result<EventDraft, ChatError>]? {
        var results: [Result<EventDraft, ChatError>] = []
        results.reserveCapacity(emissions.count)
        for emission in emissions {
            do throws(ChatError) {
                results.append(.success(try draft(of: try emission.get(), within: &work)))
            } catch {
                results.append(.failure(error))
            }
            guard !work.isPutOff else { return nil }
        }
        return results
    }

    private func draft(of emission: Emission, within work: inout ValidationBudget) throws(ChatError) -> EventDraft {
        var draft = try unjudged(emission)
        let judged = try judged(emission, within: &work)
        draft.schema = judged.schema
        if let life = [emission.timeToLive, judged.retention].compactMap(\.self).min() {
            draft.expires = service.clock.now.adding(life)
            draft.isEndedByType = life != emission.timeToLive
        }
        return draft
    }

    /// The draft of an emission before its schema is checked, with its retention.
    func unjudged(_ emission: Emission) throws(ChatError) -> EventDraft {
        try caller.demand(.emit)
        try Names.check(channel: emission.channel)
        guard emission.channel != ChannelID.systemName else {
            throw ChatError(.forbidden, "'\(ChannelID.systemName)' is written by the gateway only")
        }
        try caller.demand(channel: emission.channel)
        if !emission.allowsBuiltInType {
            do throws(ChatError) { try Names.check(customType: emission.type) } catch { throw error.about("type") }
        }
        try caller.demand(type: emission.type)
        try check(sizesOf: emission)
        var draft = EventDraft(
            channel: channel(emission.channel), type: emission.type, kind: emission.kind,
            retention: emission.retention, data: emission.data, user: try user(of: emission), meta: emission.meta)
        draft.customType = emission.customType
        draft.wire = emission.wire
        draft.audience = emission.audience
        draft.originDevice = device
        draft.trace = TraceContext.current
        draft.deduplicationKey = emission.deduplicationKey
        draft.cause = emission.cause
        return draft
    }

    private func judged(
        _ emission: Emission, within work: inout ValidationBudget
    ) throws(ChatError) -> (schema: SchemaReference?, retention: Duration?) {
        guard let tracer = service.tracer else {
            return try service.eventTypes.admit(emission, in: app, within: &work)
        }
        return try tracer.traced("schema gate") { () throws(ChatError) in
            try service.eventTypes.admit(emission, in: app, within: &work)
        }
    }

    /// The user of an emission. A user's credential speaks for that user only; any other may name any user or none.
    private func user(of emission: Emission) throws(ChatError) -> String? {
        if let named = emission.user { try Names.check(user: named) }
        guard let own = caller.user else { return emission.user }
        guard emission.user.map({ ExactText($0) == ExactText(own) }) ?? true else {
            throw ChatError(.forbidden, "this credential speaks for user '\(own)' only")
        }
        return own
    }

    private func check(sizesOf emission: Emission) throws(ChatError) {
        let dataLimit = emission.kind == .signal ? limits.signalDataBytes : limits.dataBytes
        try Self.check(emission.wire ?? emission.data, "data", dataLimit)
        if let meta = emission.meta { try Self.check(meta, "meta", limits.metaBytes) }
        if let custom = emission.customType, !(1...64).contains(custom.utf8.count) {
            throw ChatError(.malformed, "custom_type must be 1 to 64 bytes long", field: "custom_type")
        }
        if let key = emission.deduplicationKey, !(1...255).contains(key.utf8.count) {
            throw ChatError(.malformed, "the deduplication key must be 1 to 255 bytes long")
        }
    }

    private static func check(_ text: JSONText, _ what: String, _ limit: Int) throws(ChatError) {
        guard text.count <= limit else {
            throw .over(
                .tooLarge, "\(what) is \(text.count) bytes of JSON; at most \(limit) are accepted", name: "limit_bytes",
                limit: limit, field: what)
        }
    }
}

extension ChatError {
    /// True when the event itself was refused, before the log was called.
    fileprivate var isRefusal: Bool {
        switch code {
        case .malformed, .forbidden, .tooLarge, .invalid, .tooMany: true
        case .unauthorized, .notFound, .conflict, .gone, .stale, .overloaded, .unavailable, .outcomeUnknown,
            .storageFull:
            false
        }
    }
}
