import ChatCore
import ChatModel
import HTTPServer

/// Polls that wait for something to happen, each until its beat has come. Belongs to `LiveStreams`.
struct PollHolds {
    struct Entry {
        let poll: HeldPoll
        let owner: StreamOwner
    }

    private var waiting: [UInt64: Entry] = [:]
    /// The numbers of those due at a beat; some may have gone already.
    private var dueAt: [UInt64: [UInt64]] = [:]

    var isEmpty: Bool { waiting.isEmpty }
    var count: Int { waiting.count }
    var all: [Entry] { Array(waiting.values) }

    mutating func add(_ number: UInt64, until due: UInt64, _ entry: Entry) {
        waiting[number] = entry
        dueAt[due, default: []].append(number)
    }

    mutating func remove(_ number: UInt64) -> Entry? { waiting.removeValue(forKey: number) }

    mutating func due(at beat: UInt64) -> [Entry] {
        (dueAt.removeValue(forKey: beat) ?? []).compactMap { waiting[$0] }
    }
}

extension LiveStreams {
    /// Hangs a poll on the hub. Returns where the hub was then, and what the poll's viewer may hear, if it has one: the
    /// poll is handed everything above, and has to read the log itself up to there.
    ///
    /// - Throws: `.tooMany` past a limit, `.unavailable` while the gateway starts or stops.
    func attach(_ poll: HeldPoll) throws(ChatError) -> (position: Timetoken, hearing: Hearing?) {
        try admit(poll.caller)
        let place = service.hub.assumeIsolated { hub -> (position: Timetoken, hearing: Hearing?)? in
            guard hub.isRunning else { return nil }
            hub.attach(poll, to: poll.selection)
            return (hub.position, hub.hearing(of: poll.selection))
        }
        guard let place else { throw ChatError.notListening }
        return place
    }

    /// The poll's client waits from now on.
    func hold(_ poll: HeldPoll, _ reply: LateReply) {
        guard poll.assumeIsolated({ $0.wait(with: reply) }) else { return }
        if let refusal = refusal(of: poll) { return poll.assumeIsolated { $0.fail(refusal) } }
        counters.pollsHeld += 1
        let number = counters.pollsHeld
        let due = beats.now + UInt64(max(1, service.limits.pollHold.wholeSecondsUp))
        holds.add(number, until: due, PollHolds.Entry(poll: poll, owner: owners.enter(poll.caller)))
        poll.assumeIsolated { $0.held(as: number) }
        startBeating()
    }

    /// What may have changed while the log was read.
    private func refusal(of poll: HeldPoll) -> ChatError? {
        if isDraining { return ChatError.notListening }
        guard isInForce(poll.caller, poll.selection) else { return Self.endedCredential }
        return owners.refusal(of: poll.caller)
    }

    static let endedCredential = ChatError(
        .unauthorized, "the API key is unknown or has expired", slug: "credential_invalid")

    /// A poll is over.
    func forget(_ poll: HeldPoll, number: UInt64?) {
        service.hub.assumeIsolated { $0.detach(poll, from: poll.selection) }
        if let number, let entry = holds.remove(number) { owners.leave(entry.owner) }
    }

    /// Answers those whose time is over.
    func releasePolls(at beat: UInt64) {
        for entry in holds.due(at: beat) { entry.poll.assumeIsolated { $0.finish() } }
    }

    func releaseAllPolls() {
        for entry in holds.all { entry.poll.assumeIsolated { $0.finish() } }
    }

    /// Ends the polls of those whose credential no longer holds.
    func recheckPolls(_ isConcerned: (StreamOwner.Key) -> Bool) {
        for entry in holds.all where isConcerned(entry.owner.key) {
            guard !isInForce(entry.poll.caller, entry.poll.selection) else { continue }
            entry.poll.assumeIsolated { $0.fail(Self.endedCredential) }
        }
    }
}
