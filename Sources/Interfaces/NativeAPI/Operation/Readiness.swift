import ChatCore
import ChatModel
import JSON
import Locking

/// The readiness check: an event is written to disk and reaches a subscriber within a deadline.
///
/// One probe runs at a time, and its result is reused for one second. Frequent requests therefore cause no frequent
/// writes to the disk. A request waits at most the deadline, even if the store does not respond for longer.
actor Readiness {
    enum Verdict: Sendable, Equatable {
        case ready
        /// The gateway is not ready. The value is the reason, as a sentence for the operator.
        case notReady(String)
    }

    /// The channel of the probes. It belongs to the gateway's own app, and no API key has access to that app.
    static let channel = ChannelID("$ready", in: .gateway)
    static let holds = Duration.seconds(1)

    private let service: ChatService
    private let deadline: Duration
    private let clock: any Clock<Duration>
    private var latest: (verdict: Verdict, at: Timetoken)?
    /// The probe that runs; nil when there is none.
    private var running: Task<Verdict, Never>?

    /// Creates a check that has no result yet.
    ///
    /// - Parameter clock: measures the deadline. The service's clock measures the age of a result.
    init(service: ChatService, deadline: Duration, clock: any Clock<Duration>) {
        self.service = service
        self.deadline = deadline
        self.clock = clock
    }

    func verdict() async -> Verdict {
        if let known { return known }
        return await (running ?? start()).value(within: deadline, on: clock)
            ?? late
    }

    private nonisolated var late: Verdict {
        .notReady("a stored test event did not reach a subscriber within \(deadline.wholeSecondsUp) s")
    }

    private var known: Verdict? { latest.flatMap { isFresh($0.at) ? $0.verdict : nil } }

    /// Returns true when a result from `moment` can be reused. The wall clock can step back, so a result from the
    /// future is not reused.
    private func isFresh(_ moment: Timetoken) -> Bool {
        let now = service.clock.now
        return moment <= now && now < moment.adding(Self.holds)
    }

    private func start() -> Task<Verdict, Never> {
        let probe = Task {
            let verdict = await self.probe()
            latest = (verdict, service.clock.now)
            running = nil
            return verdict
        }
        running = probe
        return probe
    }

    private nonisolated func probe() async -> Verdict {
        if case .unavailable(let reason) = await service.engine.health() { return .notReady(reason) }
        let roundTrip = Task { await self.roundTrip() }
        let verdict = await roundTrip.value(within: deadline, on: clock) ?? nil
        // An event that never arrives would be awaited forever.
        roundTrip.cancel()
        return verdict ?? late
    }

    /// Appends an event and waits until a subscriber of the hub receives it.
    private nonisolated func roundTrip() async -> Verdict? {
        let hub = service.hub
        guard await hub.isRunning else {
            return .notReady("the gateway does not deliver events yet, because it is starting or stopping")
        }
        let outbox = Outbox(capacity: 64)
        let selection = Selection(channels: ChannelSet(app: .gateway, names: [Self.channel.name]))
        await hub.attach(outbox, to: selection)
        let verdict = await appendAndSee(outbox)
        await hub.detach(outbox)
        return verdict
    }

    private nonisolated func appendAndSee(_ outbox: Outbox) async -> Verdict? {
        // The event is stored, so that the disk is checked. It expires after a minute, because nobody reads it.
        var draft = EventDraft(channel: Self.channel, type: "system.probed", data: .emptyObject)
        draft.expires = service.clock.now.adding(.seconds(60))
        do throws(ChatError) {
            let timetoken = try await service.engine.log.append([draft], claim: nil).events[0].event.timetoken
            while let events = await outbox.batch() {
                if events.contains(where: { $0.timetoken == timetoken }) { return .ready }
            }
            return nil
        } catch {
            return .notReady(error.message)
        }
    }
}
