import ChatModel
import SQLite
import StorageCore

/// The event log (`EventLog`) of a store. A class, so that passing it as `any EventLog` copies one reference.
final class SQLiteLog: EventLog {
    let engineState: EngineState
    let readers: Readers
    let writerHandle: WriterHandle
    private let allocator: TimetokenAllocator
    private let clock: WallClock

    init(engineState: EngineState, readers: Readers, writerHandle: WriterHandle) {
        self.engineState = engineState
        allocator = engineState.allocator
        clock = engineState.clock
        self.readers = readers
        self.writerHandle = writerHandle
    }

    nonisolated(nonsending) func append(
        _ drafts: [EventDraft], claim: Claim?, unlessChangedSince revision: Revision?
    ) async throws(ChatError) -> AppendOutcome {
        let needsCommit = claim != nil || drafts.needCommit
        var rest = drafts
        if !needsCommit, let events = allocator.pass(&rest, now: clock.now, unlessChangedSince: revision) {
            return AppendOutcome(events: AppendedEvents(new: events))
        }
        let result = await withUnsafeContinuation { continuation in
            submit(
                drafts, claim: claim, unlessChangedSince: revision, needsCommit: needsCommit, Completion(continuation))
        }
        return try result.get()
    }

    func append(
        _ drafts: [EventDraft], unlessChangedSince revision: Revision,
        completion: @escaping @Sendable (Result<AppendOutcome, ChatError>) -> Void
    ) {
        submit(
            drafts, claim: nil, unlessChangedSince: revision, needsCommit: drafts.needCommit,
            Completion(completion))
    }

    private func submit(
        _ drafts: [EventDraft], claim: Claim?, unlessChangedSince revision: Revision?, needsCommit: Bool,
        _ completion: Completion<AppendOutcome>
    ) {
        assert(drafts.allSatisfy { !$0.channel.app.name.isEmpty }, "the drafts were not prepared")
        writerHandle.submit(
            AppendRequest(
                drafts, claim: claim, revision: revision, since: writerHandle.uptime(), needsTransaction: needsCommit,
                completion))
    }

    func appendAtOnce(_ drafts: inout [EventDraft], unlessChangedSince revision: Revision) -> [Event]? {
        drafts.needCommit ? nil : allocator.pass(&drafts, now: clock.now, unlessChangedSince: revision)
    }

    func earlier(_ claim: Claim) async throws(ChatError) -> RepeatedAppend? {
        // Nothing is stored, so the batch needs no transaction.
        try await writerHandle.run(needsTransaction: false) { (writer) throws(SQLiteFailure) in
            try writer.earlier(claim)
        }
    }

    nonisolated(nonsending) func watermark(of app: AppID) async throws(ChatError) -> Timetoken { end(of: app) }

    func watermarkAtOnce(of app: AppID, ifCompleteAfter position: Timetoken) -> Timetoken? {
        // Reads the losses first, so that the position of a loss is never above the watermark.
        position == .distantFuture || isComplete(after: position, of: app) ? end(of: app) : nil
    }

    private func end(of app: AppID) -> Timetoken {
        app == .gateway ? engineState.tail.watermark : allocator.position(of: app)
    }

    /// Returns true when no event after the position can be lost. No query is needed for a recent position, because
    /// nothing after it can have been removed.
    private func isComplete(after position: Timetoken, of app: AppID) -> Bool {
        let retention = engineState.retention
        let now = engineState.now
        let newest = max(retention.restored, retention.entry(of: app).newestLoss, retention.cutoff(of: app, now: now))
        return position >= newest && position >= now.adding(.zero - Self.leastRetention)
    }

    /// The shortest retention that an event type can have (one hour).
    private static let leastRetention: Duration = .seconds(3600)

    nonisolated(nonsending) func loss(
        in channels: ChannelSet, types: [NamePattern], after position: Timetoken
    ) async throws(ChatError) -> Loss? {
        guard position >= engineState.retention.restored else {
            return Loss(upTo: engineState.retention.restored, cause: .restore)
        }
        guard !isComplete(after: position, of: channels.app) else { return nil }
        let now = engineState.now
        let cutoff = engineState.retention.cutoff(of: channels.app, now: now)
        let entry = engineState.retention.entry(of: channels.app)
        let question = LossQuery(
            channels: channels, types: types, after: position, swept: entry.swept, hidden: cutoff, now: now)
        return try await readers.run { (reader) throws(SQLiteFailure) in
            try reader.inSnapshot { () throws(SQLiteFailure) in try reader.newestLoss(question) }
                .map { Loss(upTo: $0, cause: .retention) }
        }
    }

    func event(at timetoken: Timetoken, in app: AppID) async throws(ChatError) -> Event? {
        let now = engineState.now
        let cutoff = engineState.retention.cutoff(of: app, now: now)
        guard timetoken > cutoff, timetoken <= engineState.tail.watermark else { return nil }
        let near = engineState.tail.event(at: timetoken) ?? allocator.passingEvent(at: timetoken, in: app)
        let found: Event? =
            if let near {
                near
            } else {
                try await readers.run { (reader) throws(SQLiteFailure) in try reader.event(at: timetoken, now: now) }
            }
        guard let found, found.channel.app == app, found.isReadable(now: now, cutoff: cutoff) else {
            return nil
        }
        return found
    }

    func history(_ requests: [HistoryRequest]) async throws(ChatError) -> [Page<Event>] {
        try await read(requests) { (reader, request, now, cutoff) throws(SQLiteFailure) in
            try reader.history(request, now: now, cutoff: cutoff)
        }
    }

    func counts(_ requests: [HistoryRequest]) async throws(ChatError) -> [Int] {
        try await read(requests) { (reader, request, now, cutoff) throws(SQLiteFailure) in
            try reader.count(request, now: now, cutoff: cutoff)
        }
    }

    /// Performs all requests in one snapshot of the database, so that the results are consistent.
    private func read<Answer: Sendable>(
        _ requests: [HistoryRequest],
        _ body: @escaping @Sendable (Reader, HistoryRequest, Timetoken, Timetoken) throws(SQLiteFailure) -> Answer
    ) async throws(ChatError) -> [Answer] {
        let watermark = engineState.tail.watermark
        let now = engineState.now
        return try await readers.run { [engineState] (reader) throws(SQLiteFailure) in
            try reader.inSnapshot { () throws(SQLiteFailure) in
                var answers: [Answer] = []
                for var request in requests {
                    // Rows after the watermark may already be committed, but they must not be visible before their
                    // batch is published.
                    request.before = min(request.before, Timetoken(watermark.rawValue + 1))
                    let cutoff = engineState.retention.cutoff(of: request.channel.app, now: now)
                    answers.append(try body(reader, request, now, cutoff))
                }
                return answers
            }
        }
    }

    func delete(after: Timetoken, before: Timetoken, in channel: ChannelID) async throws(ChatError) -> Int {
        let before = min(before, Timetoken(engineState.tail.watermark.rawValue + 1))
        var position = after
        var hidden = 0
        while true {
            let turn = try await writerHandle.run { [position] (writer) throws(SQLiteFailure) in
                .success(try writer.delete(after: position, before: before, in: channel))
            }
            hidden += turn.visible
            guard let next = turn.next else { return hidden }
            position = next
        }
    }

    func setRetention(_ age: Duration?, of app: AppID) async throws(ChatError) {
        try await writerHandle.run { (writer) throws(SQLiteFailure) in
            try writer.setRetention(age, of: app)
            return .success(())
        }
    }

    func committed() async -> CommitSequence {
        let reader = CommitReader(tail: engineState.tail) {
            [readers, allocator] (position, end, limit) async throws(ChatError) in
            var page = try await readers.run { (reader) throws(SQLiteFailure) in
                try reader.everything(after: position, upTo: end, limit: limit)
            }
            page.merge(allocator.passingEvents(after: position, upTo: page.position), limit: .max)
            return page
        }
        return CommitSequence(inMemory: reader) { await reader.next() }
    }
}
