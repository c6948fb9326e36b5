import ChatModel
import Locking

/// An engine whose log runs a given step between two steps of its readers.
struct SteppedEngine: Engine {
    let real: any Engine
    let steps: StepLog

    var log: any EventLog { steps }
    var directory: any Directory { real.directory }
    var deliveries: any DeliveryQueue { real.deliveries }
    func health() async -> EngineHealth { await real.health() }
    func close() async { await real.close() }
}

final class StepLog: EventLog {
    typealias Step = @Sendable () async throws(ChatError) -> Void

    private let real: any EventLog
    private let step = Lock<Step?>(nil)
    private let eventStep = Lock<Step?>(nil)

    init(real: any EventLog) { self.real = real }

    /// Runs `step` once when events are next requested, before they are read.
    func beforeEvents(_ step: @escaping Step) { self.step.withLock { $0 = step } }

    /// The same for a single event.
    func beforeEvent(_ step: @escaping Step) { eventStep.withLock { $0 = step } }

    func events(
        in channels: ChannelSet, after position: Timetoken, limit: Int
    ) async throws(ChatError) -> Page<Event> {
        let step = step.withLock { step in
            defer { step = nil }
            return step
        }
        try await step?()
        return try await real.events(in: channels, after: position, limit: limit)
    }

    func append(
        _ drafts: [EventDraft], claim: Claim?, unlessChangedSince revision: Revision?
    ) async throws(ChatError) -> AppendOutcome {
        try await real.append(drafts, claim: claim, unlessChangedSince: revision)
    }

    func earlier(_ claim: Claim) async throws(ChatError) -> RepeatedAppend? { try await real.earlier(claim) }
    func watermark(of app: AppID) async throws(ChatError) -> Timetoken { try await real.watermark(of: app) }
    func loss(
        in channels: ChannelSet, types: [NamePattern], after position: Timetoken
    ) async throws(ChatError) -> Loss? {
        try await real.loss(in: channels, types: types, after: position)
    }

    func kept(in channels: ChannelSet, _ stretch: LogRange, limit: Int) async throws(ChatError) -> Page<Event> {
        try await real.kept(in: channels, stretch, limit: limit)
    }

    func history(_ requests: [HistoryRequest]) async throws(ChatError) -> [Page<Event>] {
        try await real.history(requests)
    }

    func counts(_ requests: [HistoryRequest]) async throws(ChatError) -> [Int] { try await real.counts(requests) }

    func event(at timetoken: Timetoken, in app: AppID) async throws(ChatError) -> Event? {
        let step = eventStep.withLock { step in
            defer { step = nil }
            return step
        }
        try await step?()
        return try await real.event(at: timetoken, in: app)
    }

    func delete(after: Timetoken, before: Timetoken, in channel: ChannelID) async throws(ChatError) -> Int {
        try await real.delete(after: after, before: before, in: channel)
    }

    func setRetention(_ age: Duration?, of app: AppID) async throws(ChatError) {
        try await real.setRetention(age, of: app)
    }

    func committed() async -> CommitSequence { await real.committed() }
}
