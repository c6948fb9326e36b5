import ChatModel

/// An engine whose log accepts events but never confirms them. Everything else is passed to the underlying engine.
struct StalledEngine: Engine {
    let real: any Engine
    /// Called before the underlying engine is asked for its health.
    var beforeHealth: @Sendable () async -> Void = {}

    var log: any EventLog { StalledLog(real: real.log) }
    var directory: any Directory { real.directory }
    var deliveries: any DeliveryQueue { real.deliveries }
    func health() async -> EngineHealth {
        await beforeHealth()
        return await real.health()
    }
    func close() async { await real.close() }
}

private struct StalledLog: EventLog {
    let real: any EventLog

    func append(
        _ drafts: [EventDraft], claim: Claim?, unlessChangedSince revision: Revision?
    ) async throws(ChatError) -> AppendOutcome {
        // Waits until it is cancelled by the deadline of a probe.
        let (nothing, continuation) = AsyncStream<Void>.makeStream()
        for await _ in nothing {}
        continuation.finish()
        throw ChatError(.unavailable, "cancelled")
    }

    func earlier(_ claim: Claim) async throws(ChatError) -> RepeatedAppend? { try await real.earlier(claim) }
    nonisolated(nonsending) func watermark(of app: AppID) async throws(ChatError) -> Timetoken {
        try await real.watermark(of: app)
    }
    nonisolated(nonsending) func loss(
        in channels: ChannelSet, types: [NamePattern], after position: Timetoken
    ) async throws(ChatError) -> Loss? {
        try await real.loss(in: channels, types: types, after: position)
    }

    func events(
        in channels: ChannelSet, after position: Timetoken, limit: Int
    ) async throws(ChatError) -> Page<Event> {
        try await real.events(in: channels, after: position, limit: limit)
    }

    func kept(in channels: ChannelSet, _ range: LogRange, limit: Int) async throws(ChatError) -> Page<Event> {
        try await real.kept(in: channels, range, limit: limit)
    }

    func history(_ requests: [HistoryRequest]) async throws(ChatError) -> [Page<Event>] {
        try await real.history(requests)
    }

    func counts(_ requests: [HistoryRequest]) async throws(ChatError) -> [Int] { try await real.counts(requests) }

    func event(at timetoken: Timetoken, in app: AppID) async throws(ChatError) -> Event? {
        try await real.event(at: timetoken, in: app)
    }

    func delete(after: Timetoken, before: Timetoken, in channel: ChannelID) async throws(ChatError) -> Int {
        try await real.delete(after: after, before: before, in: channel)
    }

    func setRetention(_ age: Duration?, of app: AppID) async throws(ChatError) {
        try await real.setRetention(age, of: app)
    }

    func committed() async -> CommitSequence { await real.committed() }
}
