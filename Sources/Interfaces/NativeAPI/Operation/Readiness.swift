import ChatCore
import ChatModel
import JSON

/// Whether the gateway does its work: an event is written to disk and comes out at a subscriber, within a deadline.
///
/// One probe at a time, and its result holds for a second: a load balancer, or anybody, asking faster is told the same
/// again and cannot wear the disk.
actor Readiness {
    enum Verdict: Sendable, Equatable {
        case ready
        /// The sentence is for the operator.
        case unready(String)
    }

    /// Where probes are written: a channel of the gateway's own space, which no key reaches.
    static let channel = ChannelID("$ready", in: .gateway)
    static let holds = Duration.seconds(1)

    private let service: ChatService
    private let deadline: Duration
    private let clock: any Clock<Duration>
    private var latest: (verdict: Verdict, at: Timetoken)?
    private var isProbing = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameter clock: waits for the deadline. What "a second ago" means is the service's clock to say.
    init(service: ChatService, deadline: Duration, clock: any Clock<Duration>) {
        self.service = service
        self.deadline = deadline
        self.clock = clock
    }

    func verdict() async -> Verdict {
        while true {
            if let latest, isFresh(latest.at) { return latest.verdict }
            guard isProbing else { return await probed() }
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    /// The wall clock can step back; what then seems to come from the future is not fresh.
    private func isFresh(_ moment: Timetoken) -> Bool {
        let now = service.clock.now
        return moment <= now && now < moment.adding(Self.holds)
    }

    private func probed() async -> Verdict {
        isProbing = true
        let verdict = await probe()
        isProbing = false
        // A caller that went away proves nothing; the next one probes again.
        if !Task.isCancelled { latest = (verdict, service.clock.now) }
        for continuation in waiting { continuation.resume() }
        waiting = []
        return verdict
    }

    private func probe() async -> Verdict {
        if case .unavailable(let reason) = await service.engine.health() { return .unready(reason) }
        return await withTaskGroup(of: Verdict?.self) { group in
            group.addTask { await self.roundTrip() }
            group.addTask { [clock, deadline] in
                // Ends early only when cancelled, and then nobody looks at the result.
                try? await clock.sleep(for: deadline)
                return .unready("an event took longer than \(deadline.wholeSecondsUp) s from the store to a subscriber")
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first ?? .unready("the probe was interrupted")
        }
    }

    /// Appends an event and waits until a subscriber of the hub has it.
    private nonisolated func roundTrip() async -> Verdict? {
        let hub = service.hub
        guard await hub.isRunning else { return .unready("events do not reach subscribers yet") }
        let outbox = Outbox(capacity: 64)
        let selection = Selection(channels: ChannelSet(app: .gateway, names: [Self.channel.name]))
        await hub.attach(outbox, to: selection)
        let verdict = await appendAndSee(outbox)
        await hub.detach(outbox, from: selection)
        return verdict
    }

    private nonisolated func appendAndSee(_ outbox: Outbox) async -> Verdict? {
        // Kept, because only then is the answer about the disk; expired at once, because nobody reads it.
        var draft = EventDraft(channel: Self.channel, type: "system.probed", data: .emptyObject)
        draft.expires = service.clock.now.adding(.seconds(60))
        do throws(ChatError) {
            let timetoken = try await service.engine.log.append([draft], claim: nil).events[0].event.timetoken
            while let events = await outbox.batch() {
                if events.contains(where: { $0.timetoken == timetoken }) { return .ready }
            }
            return nil
        } catch {
            return .unready(error.message)
        }
    }
}
