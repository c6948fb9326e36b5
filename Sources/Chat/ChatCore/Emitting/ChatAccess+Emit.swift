public import ChatModel
import JSON

extension ChatAccess {
    /// Appends all the events to their channels, or none. When this method returns, the durable events are stored, and
    /// the ephemeral events are visible to readers.
    ///
    /// - Parameters:
    ///   - drafts: the events as the sender wrote them. This method checks and completes them.
    ///   - claim: an idempotency key (`Idempotency-Key`) of the whole call. A repeated call with the same claim returns
    ///     the first outcome, even if changed rights or schemas would now reject the drafts.
    /// - Throws: before anything is stored: `.malformed` for a bad name or field, `.forbidden` without the right to
    ///   emit to the channel, `.tooLarge` for a payload above the limit, `.invalid` when the payload does not match the
    ///   schema of its type. Also the errors of ``emit(prepared:claim:)``.
    @discardableResult
    public nonisolated(nonsending) func emit(
        _ drafts: [EventDraft], claim: Claim? = nil
    ) async throws(ChatError) -> AppendOutcome {
        var drafts = drafts
        do throws(ChatError) {
            // A repeated call does not count against the rate limits again.
            if caller.meters != nil, let claim, let earlier = try await earlier(claim) {
                return outcome(of: earlier, asking: drafts)
            }
            return try await finish(try start(&drafts, claim: claim), claim: claim)
        } catch {
            guard let claim, error.isRefusal, let earlier = try await earlier(claim) else { throw error }
            return outcome(of: earlier, asking: drafts)
        }
    }

    /// Begins ``emit(_:claim:)``: checks the drafts, and appends ephemeral events if no step has to wait. Pass the result
    /// to ``finish(_:claim:)``, unless it is ``StartedEmit/emitted(_:)``. If it is ``StartedEmit/appendable(_:)``, the
    /// drafts can also be appended without a task.
    ///
    /// - Parameters:
    ///   - drafts: the events as the sender wrote them. This method checks and completes them in place, and may move them
    ///     into the events. Do not use the array afterwards.
    ///   - claim: see ``emit(_:claim:)``. With a claim, no event is appended.
    /// - Throws: the errors of ``emit(_:claim:)``. Then no event is appended.
    public func start(_ drafts: inout [EventDraft], claim: Claim? = nil) throws(ChatError) -> StartedEmit {
        var quick = ValidationBudget.onLoop
        do throws(ChatError) {
            guard try check(&drafts, within: &quick) else { return .unchecked(drafts) }
        } catch {
            // Another node may have declared the type a moment ago. `finish` checks again.
            guard service.isShared, error.code == .invalid else { throw error }
            return .unchecked(drafts)
        }
        try admit(&drafts)
        // An event log that several nodes share cannot append at once.
        guard claim == nil, !service.isShared else { return .checked(drafts) }
        // The drafts without the rules of their channels, for `store`; nil if there are no rules.
        var checked: [EventDraft]?
        let revision: Revision
        if let known = service.accessCache.revisionIfNoRules(of: app) {
            revision = known
        } else {
            let unchanged = drafts
            guard let known = try applyKnownRules(to: &drafts) else { return .checked(unchanged) }
            (checked, revision) = (unchanged, known)
        }
        let log = log  // A copy for the closure, which would otherwise copy the whole `ChatAccess`.
        if !drafts.contains(where: { $0.retention == .kept }),
            let events = try service.traced("append", { log.appendAtOnce(&drafts, unlessChangedSince: revision) })
        {
            let outcome = AppendOutcome(events: AppendedEvents(new: events))
            service.eventTypes.inspectAppended(outcome)
            return .emitted(outcome)
        }
        // A traced append runs in a task, which measures its time.
        guard service.tracer == nil else { return .checked(checked ?? drafts) }
        return .appendable(
            DraftAppend(
                drafts, to: log, unlessChangedSince: revision, checked: checked ?? drafts,
                eventTypes: service.eventTypes))
    }

    /// Completes an emit that ``start(_:claim:)`` began. When this method returns, the durable events are stored, and
    /// the ephemeral events are visible to readers.
    ///
    /// - Parameter claim: the claim that was passed to ``start(_:claim:)``.
    /// - Throws: the errors of ``emit(_:claim:)``.
    public nonisolated(nonsending) func finish(
        _ emit: StartedEmit, claim: Claim? = nil
    ) async throws(ChatError) -> AppendOutcome {
        switch emit {
        case .emitted(let outcome): return outcome
        case .appendable(let append):
            await withUnsafeContinuation { continuation in append.begin { continuation.resume() } }
            if let outcome = try append.outcome() { return outcome }
            return try await finish(append.beforeRules)
        case .checked(let drafts): return try await store(drafts, claim: claim)
        case .unchecked(let drafts):
            var checked = try await service.confirmingRefusal { () async throws(ChatError) in
                try await service.eventTypes.runInTurn(for: app) { () async throws(ChatError) in
                    var (drafts, budget) = (drafts, ValidationBudget())
                    _ = try check(&drafts, within: &budget)
                    return drafts
                }
            }
            try admit(&checked)
            return try await store(checked, claim: claim)
        }
    }

    /// Appends all drafts, or none. The drafts must have passed all checks except the rules of their channels. This
    /// method applies those rules.
    ///
    /// - Parameter revision: ``PreparedDrafts/revision``, for drafts that ``prepare(_:within:)`` returned. The rules of
    ///   their channels are applied again only if records have changed after this revision. Nil for drafts that were
    ///   not prepared.
    /// - Throws: `.tooMany` when the caller exceeds its rate limits; `.forbidden` when a user may not write in a
    ///   channel; `.overloaded` when the rights to write change during every attempt to commit; the errors of
    ///   `EventLog.append`.
    public nonisolated(nonsending) func emit(
        prepared drafts: [EventDraft], asOf revision: Revision? = nil, claim: Claim? = nil
    ) async throws(ChatError) -> AppendOutcome {
        var drafts = drafts
        try admit(&drafts)
        return try await store(drafts, asOf: revision, claim: claim)
    }

    /// Counts the events of a request against the caller's rate limits. If there are several events, sets the id of the
    /// request as the cause of each event that has no cause.
    ///
    /// - Throws: `.tooMany` when the caller exceeds its rate limits.
    private func admit(_ drafts: inout [EventDraft]) throws(ChatError) {
        if let meters = caller.meters { try meters.admit(events: drafts.count, at: service.clock.now) }
        guard drafts.count > 1, let cause else { return }
        for index in drafts.indices where drafts[index].cause == nil { drafts[index].cause = cause }
    }

    /// Appends drafts that were checked and counted. Applies the rules of their channels.
    private nonisolated(nonsending) func store(
        _ drafts: [EventDraft], asOf revision: Revision? = nil, claim: Claim?
    ) async throws(ChatError) -> AppendOutcome {
        var known = revision
        for _ in 0..<Self.attemptsMost {
            do throws(ChatError) {
                // An app without channel rules skips the asynchronous check.
                if let revision = known ?? service.accessCache.revisionIfNoRules(of: app) {
                    return try await append(drafts, claim, unlessChangedSince: revision)
                }
                let (ruled, revision) = try await service.confirmingRefusal { () async throws(ChatError) in
                    var drafts = drafts
                    let revision = try await applyChannelRules(to: &drafts)
                    return (drafts, revision)
                }
                return try await append(ruled, claim, unlessChangedSince: revision)
            } catch {
                // A restriction or a channel changed before the commit, maybe on another node: check again.
                guard error.code == .stale else { throw error }
                try await service.catchUp()
                known = nil
            }
        }
        throw ChatError(
            .overloaded,
            "the channel's permissions change too often to be checked; nothing was stored, so repeat the request",
            retryAfter: .seconds(1))
    }

    /// The maximum number of attempts to commit. An attempt fails when the rights to write change between the check and
    /// the commit.
    private static var attemptsMost: Int { 8 }

    private nonisolated(nonsending) func append(
        _ drafts: [EventDraft], _ claim: Claim?, unlessChangedSince revision: Revision
    ) async throws(ChatError) -> AppendOutcome {
        let outcome =
            if let tracer = service.tracer {
                try await tracer.traced("store commit") { () async throws(ChatError) in
                    try await log.append(drafts, claim: claim, unlessChangedSince: revision)
                }
            } else {
                try await log.append(drafts, claim: claim, unlessChangedSince: revision)
            }
        service.eventTypes.inspectAppended(outcome)
        return outcome
    }

    /// Returns the events that an earlier emit with this claim stored; nil when there was none. See
    /// `EventLog.earlier(_:)`.
    ///
    /// - Throws: the errors of the store.
    public func earlier(_ claim: Claim) async throws(ChatError) -> RepeatedAppend? { try await log.earlier(claim) }

    /// Returns the outcome of an earlier emit, for a repeated call with the same drafts. For an event that is no longer
    /// stored, the outcome contains an event made from its draft.
    public func outcome(of earlier: RepeatedAppend, asking drafts: [EventDraft]) -> AppendOutcome {
        var events: [Appended] = []
        for (index, asked) in drafts.enumerated() where index < earlier.timetokens.count {
            var draft = asked
            draft.channel = channel(asked.channel.name)
            draft.user = asked.user ?? caller.user
            let event = earlier.events[index] ?? Event(timetoken: earlier.timetokens[index], draft: draft)
            events.append(Appended(event: event, isDuplicate: true))
        }
        return AppendOutcome(events: AppendedEvents(events), repeatedNote: earlier.note)
    }

    private var hasChannelRules: Bool { service.accessCache.hasRules(app) }

    /// Applies the rules of the channel of each draft, and returns the oldest directory revision at which a rule was
    /// read.
    private func applyChannelRules(to drafts: inout [EventDraft]) async throws(ChatError) -> Revision {
        var oldest = Revision.max
        for index in drafts.indices { oldest = min(oldest, try await applyChannelRules(to: &drafts[index])) }
        return oldest
    }

    /// Applies the rules of the channel of each draft if they are in memory. Returns the oldest directory revision at
    /// which a rule was read, or nil when a rule must be read from the store; ``applyChannelRules(to:)-([EventDraft])``
    /// then applies all rules.
    ///
    /// - Throws: `.forbidden`.
    private func applyKnownRules(to drafts: inout [EventDraft]) throws(ChatError) -> Revision? {
        let cache = service.accessCache
        var oldest = Revision.max
        for index in drafts.indices {
            let (user, place) = (drafts[index].user, drafts[index].channel)
            guard let access = cache.knownAccess(of: user, in: place) else { return nil }
            var parent: ChannelAccess?
            if let thread = MappedThread(place.name) {
                guard let known = cache.knownAccess(of: user, in: channel(thread.parent)) else { return nil }
                parent = known
            }
            oldest = min(oldest, try apply(access, ofParent: parent, to: &drafts[index]))
        }
        return oldest
    }

    /// Applies the rules of a draft's channel, and reads them if necessary.
    ///
    /// - Returns: the revision of the directory of records at which the rules were read.
    /// - Throws: `.forbidden`; the errors of the store.
    @discardableResult
    private func applyChannelRules(to draft: inout EventDraft) async throws(ChatError) -> Revision {
        let access = try await service.accessCache.channelAccess(of: draft.user, in: draft.channel)
        var parent: ChannelAccess?
        if let thread = MappedThread(draft.channel.name) {
            parent = try await service.accessCache.channelAccess(of: draft.user, in: channel(thread.parent))
        }
        return try apply(access, ofParent: parent, to: &draft)
    }

    /// Checks that the user of a draft may write in its channel, and sets the audience of the draft.
    ///
    /// - Parameter parent: the rules of the channel to which a thread belongs; nil for a channel that is no thread.
    ///   Restrictions of a channel also apply to its threads.
    /// - Returns: the older revision of both rules.
    /// - Throws: `.forbidden`.
    private func apply(
        _ access: ChannelAccess, ofParent parent: ChannelAccess?, to draft: inout EventDraft
    ) throws(ChatError) -> Revision {
        try requireWriting(of: draft.user, in: draft.channel.name, access)
        draft.audience = Self.audience(of: draft, in: access.channel)
        guard let parent, let thread = MappedThread(draft.channel.name) else { return access.revision }
        try requireWriting(of: draft.user, in: thread.parent, parent)
        if parent.channel.isPrivate, draft.audience == .subscribers { draft.audience = .insiders }
        return min(access.revision, parent.revision)
    }

    private func requireWriting(
        of user: String?, in name: String, _ access: ChannelAccess
    ) throws(ChatError) {
        guard let user, let obstacle = refusal(to: .writing, of: user, in: name, channel: access.channel, access.user)
        else { return }
        throw obstacle
    }

    /// Returns the audience that the event of a draft gets, from the draft and from the rules of its channel.
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

    /// Emits one event.
    ///
    /// - Throws: the errors of ``emit(_:claim:)``.
    @discardableResult
    public func emit(_ draft: EventDraft) async throws(ChatError) -> Appended {
        try await emit([draft]).events[0]
    }
}

/// The events of one request after their checks; see ``ChatAccess/prepare(_:within:)``.
public struct PreparedDrafts: Sendable {
    /// One result per draft, in the order of the request. The error of a rejected draft is in its result.
    public var results: [Result<EventDraft, ChatError>]
    /// The oldest revision of the directory of records at which the rules of the channels were read.
    public var revision: Revision
}

// MARK: - Preparing

extension ChatAccess {
    /// Makes all checks that precede the append: rights, names, sizes, the schema of the type, and whether the user may
    /// write in the channel. Used for messages with links, which are stored in a decision together with other records.
    ///
    /// - Throws: `.malformed` for a bad name or field; `.forbidden` without the right to emit to the channel;
    ///   `.tooLarge` for a payload above the size limit; `.invalid` when the payload does not match the schema of its
    ///   type; the errors of the store.
    public func prepare(_ draft: EventDraft) async throws(ChatError) -> EventDraft {
        var budget = ValidationBudget()
        return try await prepare([.success(draft)], within: &budget).results[0].get()
    }

    /// Prepares the events of one request. Each event is checked on its own, but all share the validation budget of the
    /// request.
    ///
    /// - Parameters:
    ///   - drafts: one result for each event of the request: its draft, or the error if it could not be parsed.
    ///   - left: the remaining validation budget of the request. The call reduces it, because the caller may check more
    ///     events of the same request.
    /// - Throws: `.unavailable` when the task is cancelled while it waits to run.
    public func prepare(
        _ drafts: [Result<EventDraft, ChatError>], within left: inout ValidationBudget
    ) async throws(ChatError) -> PreparedDrafts {
        let budget = left
        let prepared = try await prepareFromMemory(drafts, within: &left)
        guard service.isShared, prepared.results.contains(where: { $0.isRefusal }) else { return prepared }
        // Another node may have changed the types or rights a moment ago.
        try await service.catchUp()
        left = budget
        return try await prepareFromMemory(drafts, within: &left)
    }

    private func prepareFromMemory(
        _ drafts: [Result<EventDraft, ChatError>], within left: inout ValidationBudget
    ) async throws(ChatError) -> PreparedDrafts {
        var quick = ValidationBudget.onLoop
        var results = drafts
        if !checkEach(&results, within: &quick) {
            (results, left) = try await service.eventTypes.runInTurn(for: app) { [left] () async throws(ChatError) in
                var (results, budget) = (drafts, left)
                _ = checkEach(&results, within: &budget)
                return (results, budget)
            }
        }
        if let revision = service.accessCache.revisionIfNoRules(of: app) {
            return PreparedDrafts(results: results, revision: revision)
        }
        var oldest = Revision.max
        for index in results.indices {
            guard case .success(var draft) = results[index] else { continue }
            do throws(ChatError) {
                oldest = min(oldest, try await applyChannelRules(to: &draft))
                results[index] = .success(draft)
            } catch {
                results[index] = .failure(error)
            }
        }
        return PreparedDrafts(results: results, revision: oldest)
    }

    /// Checks each draft. Returns false when a draft must be validated away from the event loop; the later drafts are
    /// then not checked.
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

    /// Checks all drafts, or throws the first error. Returns false when a draft must be validated away from the event
    /// loop; the later drafts are then not checked. The rules of the channels are applied later.
    private func check(
        _ drafts: inout [EventDraft], within budget: inout ValidationBudget
    ) throws(ChatError) -> Bool {
        for index in drafts.indices {
            try checkOne(&drafts[index], within: &budget)
            guard !budget.isPutOff else { return false }
        }
        return true
    }

    /// Checks one draft and completes it. Does not apply the rules of its channel.
    private func checkOne(_ draft: inout EventDraft, within budget: inout ValidationBudget) throws(ChatError) {
        try check(&draft)
        let typeRetention: Duration?
        if let tracer = service.tracer {
            (draft.schema, typeRetention) = try tracer.traced("schema gate") { () throws(ChatError) in
                try service.eventTypes.admit(draft, in: app, within: &budget)
            }
        } else {
            (draft.schema, typeRetention) = try service.eventTypes.admit(draft, in: app, within: &budget)
        }
        // If a draft is put off, all drafts of the request are checked again.
        guard !budget.isPutOff else { return }
        // An earlier check of the same draft may have set these fields.
        (draft.expires, draft.isEndedByType) = (nil, false)
        let asked = draft.timeToLive
        guard let life = asked.map({ min($0, typeRetention ?? $0) }) ?? typeRetention else { return }
        draft.expires = service.clock.now.adding(life)
        draft.isEndedByType = life != asked
    }

    /// Checks the caller's rights, and the names and sizes of a draft. Sets the fields of the draft that follow from
    /// the call: app, user, device and trace. The event log relies on these checks and does not repeat them.
    ///
    /// - Throws: `.malformed`, `.forbidden` or `.tooLarge`.
    func check(_ draft: inout EventDraft) throws(ChatError) {
        try caller.require(.emit)
        let name = draft.channel.name
        try Names.check(channel: name)
        guard name != ChannelID.systemName else {
            throw ChatError(
                .forbidden, "only the gateway may write to channel '\(ChannelID.systemName)'; send to another channel")
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
            throw ChatError(.malformed, "'custom_type' must be 1 to 64 bytes long", field: "custom_type")
        }
        if let key = draft.deduplicationKey, !(1...255).contains(key.utf8.count) {
            throw ChatError(.malformed, "the deduplication key, such as a CloudEvent's id, must be 1 to 255 bytes long")
        }
        if let user = draft.user { try Names.check(user: user) }
        // The credential of a user may act for that user only. Any other credential may name any user, or none.
        if let own = caller.user {
            guard draft.user.map({ ExactText($0) == ExactText(own) }) ?? true else {
                throw ChatError(.forbidden, "this credential may act for user '\(own)' only")
            }
            draft.user = own
        }
        draft.channel = channel(name)
        draft.originDevice = device
        draft.trace = TraceContext.current
    }

    /// Checks the size of a text of a draft.
    ///
    /// - Throws: `.tooLarge` when the text is longer than `limit` bytes.
    static func check(_ text: JSONText, _ what: String, _ limit: Int) throws(ChatError) {
        guard text.count <= limit else {
            throw .over(
                .tooLarge, "\(what) is \(text.count) bytes of JSON; at most \(limit) are accepted", name: "limit_bytes",
                limit: limit, field: what)
        }
    }
}

extension Result where Failure == ChatError {
    fileprivate var isRefusal: Bool {
        guard case .failure(let error) = self else { return false }
        return error.mayBeOutdated
    }
}

extension ChatError {
    /// True for the codes of errors with which a check rejects an event before the event is passed to the event log.
    fileprivate var isRefusal: Bool {
        switch code {
        case .malformed, .forbidden, .tooLarge, .invalid, .tooMany: true
        case .unauthorized, .notFound, .conflict, .gone, .stale, .overloaded, .unavailable, .outcomeUnknown,
            .storageFull:
            false
        }
    }
}
