import ChatModel
import JSON
import StorageCore

/// The event log (`EventLog`) of a cluster, as one node offers it.
struct ClusterLog: EventLog {
    let store: any ClusterStore
    let memory: NodeMemory
    let follower: Follower
    let writer: WriterHandle

    nonisolated(nonsending) func append(
        _ drafts: [EventDraft], claim: Claim?, unlessChangedSince revision: Revision?
    ) async throws(ChatError) -> AppendOutcome {
        try await writer.run { AppendRequest(drafts, claim: claim, revision: revision, since: $0, completion: $1) }
    }

    func earlier(_ claim: Claim) async throws(ChatError) -> RepeatedAppend? {
        let now = memory.now
        guard let earlier = try await asking({ () throws(StoreFailure) in try await store.earlier(claim, now: now) })
        else { return nil }
        guard earlier.fingerprint == claim.fingerprint else { throw .claimConflict }
        return RepeatedAppend(timetokens: earlier.timetokens, events: earlier.events, note: earlier.note)
    }

    nonisolated(nonsending) func watermark(of app: AppID) async throws(ChatError) -> Timetoken {
        try await catchUp()
        return app == .gateway ? memory.tail.watermark : memory.position(of: app)
    }

    /// The shortest retention that an event type can have (one hour).
    private static let leastRetention: Duration = .seconds(3600)

    nonisolated(nonsending) func loss(
        in channels: ChannelSet, types: [NamePattern], after position: Timetoken
    ) async throws(ChatError) -> Loss? {
        guard position >= memory.retention.restored else {
            return Loss(upTo: memory.retention.restored, cause: .restore)
        }
        let now = memory.now
        let cutoff = memory.retention.cutoff(of: channels.app, now: now)
        let entry = memory.retention.entry(of: channels.app)
        // If the position is recent, nothing can have been removed, and no query is needed.
        guard position < max(entry.newestLoss, cutoff, now.adding(.zero - Self.leastRetention)) else { return nil }
        let query = LossQuery(
            channels: channels, types: types, after: position, swept: entry.swept, hidden: cutoff, now: now)
        let newest = try await asking { () throws(StoreFailure) in try await store.newestLoss(query) }
        return newest.map { Loss(upTo: $0, cause: .retention) }
    }

    func events(in channels: ChannelSet, after position: Timetoken, limit: Int) async throws(ChatError) -> Page<Event> {
        // Events may be committed, or deleted, on another node, and this node may not have seen it yet.
        try await catchUp()
        let now = memory.now
        let from = max(position, memory.retention.cutoff(of: channels.app, now: now))
        let end = memory.tail.watermark
        guard limit > 0 else { return Page(items: [], hasMore: from < end, position: position) }
        let recent = memory.tail.events(in: channels, after: from, limit: limit, now: now, index: memory.tailIndex)
        if let recent { return recent }
        let query = EventsQuery(channels: channels, after: from, upTo: end, limit: limit, now: now)
        return try await asking { () throws(StoreFailure) in try await store.events(query) }
    }

    func kept(in channels: ChannelSet, _ range: LogRange, limit: Int) async throws(ChatError) -> Page<Event> {
        let now = memory.now
        let from = max(range.after, memory.retention.cutoff(of: channels.app, now: now))
        let end = Timetoken(max(1, range.before.rawValue) - 1)
        guard from < end else { return Page(items: []) }
        let query = EventsQuery(
            channels: channels, after: from, upTo: end, order: range.order, limit: limit, now: now, isOfHistory: true)
        return try await asking { () throws(StoreFailure) in try await store.events(query) }
    }

    func history(_ requests: [HistoryRequest]) async throws(ChatError) -> [Page<Event>] {
        let queries = queries(requests)
        return try await asking { () throws(StoreFailure) in try await store.history(queries) }
    }

    func counts(_ requests: [HistoryRequest]) async throws(ChatError) -> [Int] {
        let queries = queries(requests)
        return try await asking { () throws(StoreFailure) in try await store.counts(queries) }
    }

    private func queries(_ requests: [HistoryRequest]) -> [HistoryQuery] {
        let now = memory.now
        return requests.map { request in
            HistoryQuery(
                request: request, cutoff: memory.retention.cutoff(of: request.channel.app, now: now), now: now)
        }
    }

    func event(at timetoken: Timetoken, in app: AppID) async throws(ChatError) -> Event? {
        try await catchUp()
        let now = memory.now
        let cutoff = memory.retention.cutoff(of: app, now: now)
        guard timetoken > cutoff else { return nil }
        let found: Event? =
            if let recent = memory.tail.event(at: timetoken) {
                recent
            } else {
                try await asking { () throws(StoreFailure) in try await store.event(at: timetoken) }
            }
        guard let found, found.channel.app == app, found.isReadable(now: now, cutoff: cutoff) else { return nil }
        return found
    }

    /// The number of rows that one transaction deletes, because all writers of the cluster wait for it.
    private static let deletionRows = 2000

    func delete(after: Timetoken, before: Timetoken, in channel: ChannelID) async throws(ChatError) -> Int {
        let cutoff = memory.retention.cutoff(of: channel.app, now: memory.now)
        var position = after
        var hidden = 0
        while true {
            let turn = try await writer.transaction { [position] (transaction, batch) throws(StoreFailure) in
                let deleted = try await transaction.delete(
                    after: position, before: before, in: channel, limit: Self.deletionRows)
                if !deleted.isEmpty { batch.add(.deleted(deleted.map(\.timetoken))) }
                return deleted
            }
            let now = memory.now
            hidden += turn.count { $0.timetoken > cutoff && $0.expires.map { $0 > now } ?? true }
            guard turn.count == Self.deletionRows, let last = turn.map(\.timetoken).max() else { return hidden }
            position = last
        }
    }

    func setRetention(_ age: Duration?, of app: AppID) async throws(ChatError) {
        try await writer.run { since, completion in
            TransactionRequest(since: since, completion: completion) { $1.setRetention(age, of: app) }
        }
    }

    func committed() async -> CommitSequence {
        // If the store cannot be read, the sequence begins with the first commit that this node has not applied.
        try? await catchUp()
        let reader = CommitReader(tail: memory.tail) {
            [store] (position, end, limit) async throws(ChatError) in
            try await asking { () throws(StoreFailure) in
                try await store.everything(after: position, upTo: end, limit: limit)
            }
        }
        return CommitSequence(inMemory: reader) { await reader.next() }
    }

    private func catchUp() async throws(ChatError) {
        try await asking { () throws(StoreFailure) in try await follower.catchUp() }
    }
}

/// Runs a read of the store. Its failure becomes the error of the caller.
nonisolated(nonsending) func asking<Value>(
    _ read: nonisolated(nonsending) () async throws(StoreFailure) -> Value
) async throws(ChatError) -> Value {
    do throws(StoreFailure) {
        return try await read()
    } catch {
        throw error.answerToRead
    }
}
