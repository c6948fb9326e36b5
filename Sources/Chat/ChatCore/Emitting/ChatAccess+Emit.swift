public import ChatModel
import JSON

extension ChatAccess {
    /// Appends events to their channels, all or none. When it returns, they are durable (ephemeral ones: visible).
    ///
    /// - Parameters:
    ///   - drafts: the events as the sender asks for them; this prepares them.
    ///   - claim: makes the whole call repeatable with the same answer (`Idempotency-Key`), even when the repeat would
    ///     be refused because rights or schemas have changed since.
    /// - Throws: before anything is stored: `.malformed` for a bad name or field, `.forbidden` without the right to
    ///   emit there, `.tooLarge` for a long payload, `.invalid` when the payload does not match the type's schema.
    ///   Otherwise what `EventLog.append` throws.
    @discardableResult
    public nonisolated(nonsending) func emit(
        _ drafts: [EventDraft], claim: Claim? = nil
    ) async throws(ChatError) -> AppendOutcome {
        do throws(ChatError) {
            // A repeat does not count against rates again.
            if caller.meters != nil, let claim, let earlier = try await earlier(claim) {
                return outcome(of: earlier, asking: drafts)
            }
            return try await emit(prepared: try await checked(drafts), claim: claim)
        } catch {
            guard let claim, error.isRefusal, let earlier = try await earlier(claim) else { throw error }
            return outcome(of: earlier, asking: drafts)
        }
    }

    /// Appends drafts that have passed the checks, except for the rules of their channels, all or none. Applies those
    /// rules, also to drafts that ``prepare(_:within:)`` returned: they may have changed since.
    ///
    /// - Throws: `.tooMany` past the caller's rates; `.forbidden` when a user may not write in a channel; `.overloaded`
    ///   when rights change too often; what `EventLog.append` throws.
    public nonisolated(nonsending) func emit(
        prepared drafts: [EventDraft], claim: Claim? = nil
    ) async throws(ChatError) -> AppendOutcome {
        if let meters = caller.meters { try meters.admit(events: drafts.count, at: service.clock.now) }
        for _ in 0..<Self.attemptsMost {
            do throws(ChatError) {
                // Checked here, so that an app whose channels restrict nobody does not wait for anything.
                if let revision = service.accessCache.revisionIfNoRules(of: app) {
                    return try await append(drafts, claim, unlessChangedSince: revision)
                }
                var drafts = drafts
                let revision = try await applyChannelRules(to: &drafts)
                return try await append(drafts, claim, unlessChangedSince: revision)
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
    private static var attemptsMost: Int { 8 }

    private nonisolated(nonsending) func append(
        _ drafts: [EventDraft], _ claim: Claim?, unlessChangedSince revision: Revision
    ) async throws(ChatError) -> AppendOutcome {
        guard let tracer = service.tracer else {
            return service.eventTypes.inspectStored(
                try await log.append(drafts, claim: claim, unlessChangedSince: revision))
        }
        return service.eventTypes.inspectStored(
            try await tracer.traced("store commit") { () async throws(ChatError) in
                try await log.append(drafts, claim: claim, unlessChangedSince: revision)
            })
    }

    /// Returns what an earlier emit with this claim stored; see `EventLog.earlier(_:)`.
    ///
    /// - Throws: the errors of the store.
    public func earlier(_ claim: Claim) async throws(ChatError) -> RepeatedAppend? { try await log.earlier(claim) }

    /// The outcome of the earlier emit, for a caller that repeats it with the same drafts. The drafts replace events
    /// that are no longer stored.
    public func outcome(of earlier: RepeatedAppend, asking drafts: [EventDraft]) -> AppendOutcome {
        var events: [Appended] = []
        for (index, asked) in drafts.enumerated() where index < earlier.timetokens.count {
            var draft = asked
            draft.channel = channel(asked.channel.name)
            draft.user = asked.user ?? caller.user
            let event = earlier.events[index] ?? Event(timetoken: earlier.timetokens[index], draft: draft)
            events.append(Appended(event: event, isDuplicate: true))
        }
        return AppendOutcome(events: events, repeatedNote: earlier.note)
    }

    private var hasChannelRules: Bool { service.accessCache.hasRules(app) }

    /// Returns the revision of the directory for which the rules of all channels hold.
    private func applyChannelRules(to drafts: inout [EventDraft]) async throws(ChatError) -> Revision {
        var oldest = Revision.max
        for index in drafts.indices { oldest = min(oldest, try await applyChannelRules(to: &drafts[index])) }
        return oldest
    }

    /// Applies what depends on the channel: checks that the user may write there, and sets the audience of a message.
    ///
    /// - Returns: the revision of the directory for which this holds.
    /// - Throws: `.forbidden`; the errors of the store.
    @discardableResult
    private func applyChannelRules(to draft: inout EventDraft) async throws(ChatError) -> Revision {
        let channelAccess = try await service.accessCache.channelAccess(of: draft.user, in: draft.channel)
        if let user = draft.user,
            let obstacle = refusal(
                to: .writing, of: user, in: draft.channel.name, channel: channelAccess.channel, channelAccess.user)
        {
            throw obstacle
        }
        draft.audience = Self.audience(of: draft, in: channelAccess.channel)
        guard let thread = MappedThread(draft.channel.name) else { return channelAccess.revision }
        // Restrictions of a channel also apply to its threads.
        let parent = try await service.accessCache.channelAccess(of: draft.user, in: channel(thread.parent))
        if let user = draft.user,
            let obstacle = refusal(
                to: .writing, of: user, in: thread.parent, channel: parent.channel, parent.user)
        {
            throw obstacle
        }
        if parent.channel.isPrivate, draft.audience == .subscribers { draft.audience = .insiders }
        return min(channelAccess.revision, parent.revision)
    }

    /// The audience of a draft, determined as for emitted events.
    func audience(of draft: EventDraft) async throws(ChatError) -> Audience {
        guard hasChannelRules else { return draft.audience }
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

    /// Emits one event; see `emit(_:claim:)`.
    ///
    /// - Throws: as ``emit(_:claim:)``.
    @discardableResult
    public func emit(_ draft: EventDraft) async throws(ChatError) -> Appended {
        try await emit([draft]).events[0]
    }
}

// MARK: - Preparing

extension ChatAccess {
    /// Makes all checks that precede the append: rights, names, sizes, the schema of the type, and whether the user may
    /// write in the channel. For messages with links, which a decision emits.
    ///
    /// - Throws: `.malformed` for a bad name or field; `.forbidden` without the right to emit there; `.tooLarge` for a
    ///   long payload; `.invalid` when the payload does not match the type's schema; the errors of the store.
    public func prepare(_ draft: EventDraft) async throws(ChatError) -> EventDraft {
        var budget = ValidationBudget()
        return try await prepare([.success(draft)], within: &budget)[0].get()
    }

    /// Prepares the events of one request, each on its own. Together they share the validation budget of one request.
    ///
    /// - Parameters:
    ///   - drafts: a draft that could not be read keeps its position and its error.
    ///   - left: the remaining validation budget, for a caller that checks more events of the same request.
    /// - Throws: `.unavailable` when the task is cancelled while it waits for its turn. The error of a draft is in its
    ///   result.
    public func prepare(
        _ drafts: [Result<EventDraft, ChatError>], within left: inout ValidationBudget
    ) async throws(ChatError) -> [Result<EventDraft, ChatError>] {
        var quick = ValidationBudget.onLoop
        var results = drafts
        if !checkEach(&results, within: &quick) {
            (results, left) = try await service.eventTypes.runInTurn(for: app) { [left] () async throws(ChatError) in
                var (results, budget) = (drafts, left)
                _ = checkEach(&results, within: &budget)
                return (results, budget)
            }
        }
        guard hasChannelRules else { return results }
        for index in results.indices {
            guard case .success(var draft) = results[index] else { continue }
            do throws(ChatError) {
                try await applyChannelRules(to: &draft)
                results[index] = .success(draft)
            } catch {
                results[index] = .failure(error)
            }
        }
        return results
    }

    /// Returns false when some work was postponed.
    private func checkEach(
        _ drafts: inout [Result<EventDraft, ChatError>], within budget: inout ValidationBudget
    ) -> Bool {
        for index in drafts.indices {
            do throws(ChatError) {
                var draft = try drafts[index].get()
                try checkOne(&draft, within: &budget)
                drafts[index] = .success(draft)
            } catch {
                drafts[index] = .failure(error)
            }
            guard !budget.isPutOff else { return false }
        }
        return true
    }

    /// Checks all drafts or throws: on the loop while validation is little work, otherwise away from it. The rules of
    /// the channels are applied later, with the revision for which they hold.
    private nonisolated(nonsending) func checked(_ drafts: [EventDraft]) async throws(ChatError) -> [EventDraft] {
        var quick = ValidationBudget.onLoop
        if let checked = try checkedAll(drafts, within: &quick) { return checked }
        return try await service.eventTypes.runInTurn(for: app) { () async throws(ChatError) in
            var budget = ValidationBudget()
            return try checkedAll(drafts, within: &budget) ?? []
        }
    }

    /// Returns nil when some work was postponed.
    ///
    /// Never inlined: an async function keeps everything it has touched in memory allocated with its task until it
    /// returns, and drafts are large.
    @inline(never)
    private func checkedAll(
        _ drafts: [EventDraft], within budget: inout ValidationBudget
    ) throws(ChatError) -> [EventDraft]? {
        var drafts = drafts
        for index in drafts.indices {
            try checkOne(&drafts[index], within: &budget)
            guard !budget.isPutOff else { return nil }
        }
        return drafts
    }

    /// Checks one draft and completes it, except for the rules of its channel.
    private func checkOne(_ draft: inout EventDraft, within budget: inout ValidationBudget) throws(ChatError) {
        try check(&draft)
        let retention: Duration?
        if let tracer = service.tracer {
            (draft.schema, retention) = try tracer.traced("schema gate") { () throws(ChatError) in
                try service.eventTypes.admit(draft, in: app, within: &budget)
            }
        } else {
            (draft.schema, retention) = try service.eventTypes.admit(draft, in: app, within: &budget)
        }
        draft.parsedData = nil
        let asked = draft.timeToLive
        guard let life = asked.map({ min($0, retention ?? $0) }) ?? retention else { return }
        draft.expires = service.clock.now.adding(life)
        draft.isEndedByType = life != asked
    }

    /// Checks the caller's rights and the names and sizes of a draft, before its schema, and sets what follows from the
    /// call: app, user, device and trace. Names and sizes are checked here only; the log relies on it.
    func check(_ draft: inout EventDraft) throws(ChatError) {
        try caller.require(.emit)
        let name = draft.channel.name
        try Names.check(channel: name)
        guard name != ChannelID.systemName else {
            throw ChatError(.forbidden, "'\(ChannelID.systemName)' is written by the gateway only")
        }
        try caller.require(channel: name)
        if !draft.allowsBuiltInType {
            do throws(ChatError) { try Names.check(customType: draft.type) } catch { throw error.about("type") }
        }
        try caller.require(type: draft.type)
        let dataLimit = draft.kind == .signal ? limits.signalDataBytes : limits.dataBytes
        try Self.check(draft.wire ?? draft.data, "data", dataLimit)
        if let meta = draft.meta { try Self.check(meta, "meta", limits.metaBytes) }
        if let custom = draft.customType, !(1...64).contains(custom.utf8.count) {
            throw ChatError(.malformed, "custom_type must be 1 to 64 bytes long", field: "custom_type")
        }
        if let key = draft.deduplicationKey, !(1...255).contains(key.utf8.count) {
            throw ChatError(.malformed, "the deduplication key must be 1 to 255 bytes long")
        }
        if let user = draft.user { try Names.check(user: user) }
        // A user's credential speaks for that user only; any other may name any user or none.
        if let own = caller.user {
            guard draft.user.map({ ExactText($0) == ExactText(own) }) ?? true else {
                throw ChatError(.forbidden, "this credential speaks for user '\(own)' only")
            }
            draft.user = own
        }
        draft.channel = channel(name)
        draft.originDevice = device
        draft.trace = TraceContext.current
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
