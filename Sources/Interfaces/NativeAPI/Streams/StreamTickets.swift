import ChatCore
import ChatModel
import Locking
import Signing

/// Creates tickets and remembers which were used.
///
/// The rules and their bounds:
/// - A ticket opens one stream, within 60 s of its creation. A second use is refused. A presentation that opened no
///   stream, because there was no room or the client disconnected, does not count as a use.
/// - With `Last-Event-ID` it resumes the stream that it opened, while that stream is open (the client's network may
///   have failed silently) and until 120 s after it broke. This is the browser's own reconnect. One hour after its
///   creation it resumes nothing more; a stream that is open then stays open.
/// - The id must be one that the stream was sent; a person who saw only the URL does not know any. The ticket's start
///   also counts, and cannot be read from the ticket. The newest sent ids are remembered. An older one is looked up in
///   the log, within the range that the stream covered. Five wrong ids invalidate the ticket.
/// - Uses are remembered in memory. After a restart, an earlier ticket opens no new stream, but with `Last-Event-ID` it
///   is accepted within 120 s of the start, because its stream broke with the restart. The gateway then cannot check
///   that the ticket had opened a stream; the present rights of its key apply in any case.
/// - At most `capacity` uses are remembered. Past that, tickets are refused; uses are never forgotten early.
final class StreamTickets: Sendable {
    static let resumeWindow: Duration = .seconds(120)
    static let mostWrongIDs = 5
    /// For a stream without a given start, the minimum time between the shown start and the ticket's creation; up to
    /// one more second is added at random. Commits in progress at the creation then lie after the start.
    static let lead: Duration = .seconds(2)

    private struct Use {
        /// The number of the stream that is open now.
        var stream: UInt64?
        /// The time at which its last stream broke, or at which the ticket was presented if no stream was opened.
        var disconnected: Timetoken
        /// True when the ticket was presented to open its stream.
        var isShown = false
        var hasOpened = false
        /// True when its stream was ended for good.
        var isFinished = false
        /// The position at which its last stream began.
        var began: Timetoken?
        /// The selection of its last stream.
        var selection: Selection?
        /// The newest ids that its last stream was sent before it broke.
        var sent: [Timetoken] = []
        /// The number of presented ids that were wrong or are still being looked up.
        var doubts = 0
    }

    private struct State {
        var uses: [StreamTicket.Nonce: Use] = [:]
        var sweepAfter = Timetoken.zero
    }

    private let service: ChatService
    private let capacity: Int
    private let started: Timetoken
    private let state = Lock(State())

    init(service: ChatService) {
        self.service = service
        capacity = 2 * service.limits.streamsInGateway
        started = service.clock.now
    }

    var isEmpty: Bool { state.withLock { $0.uses.isEmpty } }

    // MARK: - Creation and presentation

    /// - Throws: `.forbidden` when the caller holds no API key of the app, `.malformed` when the ticket would be too
    ///   long for a URL.
    func issue(
        _ selection: Selection, user: String?, position: Timetoken, isLatest: Bool, by caller: Caller
    ) throws(ChatError) -> (
        text: String, expires: Timetoken
    ) {
        guard service.keyring.caller(key: caller.credential, in: caller.app) != nil else {
            throw ChatError(.forbidden, "a ticket can be created only with an API key or a token")
        }
        let random = SystemRandomSource()
        let ticket = StreamTicket(
            app: caller.app, key: caller.credential, channels: selection.channelPatterns, types: selection.types,
            user: user, until: caller.expires, proof: caller.proof,
            position: position,
            start: isLatest
                ? Self.recent(service.clock.now, random) : position > .zero ? position : Self.beforeAll(random),
            nonce: StreamTicket.Nonce(random), expires: service.clock.now.adding(StreamTicket.lifetime))
        let text = ticket.text(sealedBy: service.keyring.seal(for: StreamTicket.sealPurpose))
        guard text.utf8.count <= StreamTicket.textBytes else {
            throw ChatError(.malformed, "the channels are too many or too long for a ticket; use patterns")
        }
        return (text, ticket.expires)
    }

    private static func recent(_ now: Timetoken, _ random: SystemRandomSource) -> Timetoken {
        now.adding(.zero - lead - .nanoseconds(100) * Int(StreamTicket.Nonce(random).low % Timetoken.ticksPerSecond))
    }

    /// A position before every event, random so that it cannot be guessed; it falls in about the year 2001.
    private static func beforeAll(_ random: SystemRandomSource) -> Timetoken {
        Timetoken(10_000_000_000_000_000 + StreamTicket.Nonce(random).low % 100_000_000_000_000)
    }

    /// The rights that a ticket gives its holder. Does not use the ticket up.
    ///
    /// - Throws: `.unauthorized`, with the same message for every reason.
    func caller(of text: String) throws(ChatError) -> (caller: Caller, ticket: StreamTicket) {
        let ticket = StreamTicket(text: text, sealedBy: service.keyring.seal(for: StreamTicket.sealPurpose))
        guard let ticket, let key = service.keyring.caller(key: ticket.key, in: ticket.app),
            let caller = ticket.caller(of: key), !service.isRevoked(caller)
        else { throw Self.refusal }
        return (caller, ticket)
    }

    // MARK: - Ids

    /// Checks that an id was sent to the ticket's stream. Each check counts as wrong until it succeeds, so that
    /// concurrent requests get no more attempts than sequential ones.
    ///
    /// - Parameter isSent: returns whether the stream was sent the id; called when the ticket's own data does not
    ///   decide it.
    /// - Throws: `.unauthorized` for a wrong id, and for a ticket that five wrong ids have invalidated.
    func requireSent(
        _ id: String, to ticket: StreamTicket, _ isSent: (Timetoken) async throws -> Bool
    ) async throws {
        let now = service.clock.now
        try state.withLock { state throws(ChatError) in
            // A ticket that is too old is refused without an entry.
            guard now <= ticket.issued.adding(StreamTicket.resumeLife), state.uses.count < capacity else {
                throw Self.refusal
            }
            guard (state.uses[ticket.nonce]?.doubts ?? 0) < Self.mostWrongIDs else { throw Self.refusal }
            state.uses[ticket.nonce, default: Use(disconnected: now)].doubts += 1
        }
        guard let position = Timetoken(exactly: id) else { throw Self.refusal }
        let isKnown = state.withLock { state in
            let use = state.uses[ticket.nonce]
            return position == ticket.start || use?.began == position || use?.sent.contains(position) == true
        }
        if !isKnown {
            let isSent = position > ticket.start ? try await isSent(position) : false
            guard isSent else { throw Self.refusal }
        }
        state.withLock { $0.uses[ticket.nonce]?.doubts -= 1 }
    }

    /// The result of presenting a ticket.
    enum TicketResult {
        case admitted
        /// Its stream was ended for good. The response is 204, which stops the client.
        case finished
    }

    /// Uses a ticket to open its stream or to resume it.
    ///
    /// - Throws: `.unauthorized` when a rule is broken, `.overloaded` when too many uses are remembered.
    func use(_ ticket: StreamTicket, isResuming: Bool) throws(ChatError) -> TicketResult {
        let now = service.clock.now
        return try state.withLock { state throws(ChatError) in
            guard isResuming ? now <= ticket.issued.adding(StreamTicket.resumeLife) : true else { throw Self.refusal }
            if let use = state.uses[ticket.nonce], use.isShown {
                guard use.doubts < Self.mostWrongIDs, isResuming,
                    use.stream != nil || now <= use.disconnected.adding(Self.resumeWindow)
                else {
                    throw Self.refusal
                }
                guard !use.isFinished else { return .finished }
                state.uses[ticket.nonce]?.disconnected = now
                return .admitted
            }
            guard isResuming && isOfBeforeTheStart(ticket, now) || isFresh(ticket, now) else { throw Self.refusal }
            let known = state.uses[ticket.nonce]
            guard known != nil || state.uses.count < capacity else {
                throw ChatError(.overloaded, "too many tickets are in use", retryAfter: .seconds(10))
            }
            var use = known ?? Use(disconnected: now)
            guard use.doubts < Self.mostWrongIDs else { throw Self.refusal }
            (use.disconnected, use.isShown) = (now, true)
            state.uses[ticket.nonce] = use
            return .admitted
        }
    }

    private func isFresh(_ ticket: StreamTicket, _ now: Timetoken) -> Bool {
        // A ticket from before the process's start may have been used already.
        ticket.issued >= started && now <= ticket.expires
    }

    private func isOfBeforeTheStart(_ ticket: StreamTicket, _ now: Timetoken) -> Bool {
        ticket.issued < started && now <= started.adding(Self.resumeWindow)
    }

    private static let refusal = ChatError(
        .unauthorized, "the ticket is unknown, was used, or has expired; ask for a new one", slug: "ticket_invalid")

    /// True when the ticket's stream can have been sent an event: the event matches its selection and lies between its
    /// beginning and its end. For a ticket from before the gateway's start only the ticket's own data is known.
    func covers(_ event: Event, by ticket: StreamTicket) -> Bool {
        state.withLock { state in
            guard let use = state.uses[ticket.nonce], let began = use.began, let selection = use.selection else {
                return ticket.issued < started
            }
            // Timetokens of a burst run ahead of the clock.
            let end = max(use.disconnected, use.sent.max() ?? .zero)
            guard event.timetoken > began, use.stream != nil || event.timetoken <= end else { return false }
            let subject = FilterSubject(event)
            // The channels of a user's device are those of which the user is a member.
            return selection.viewer == nil ? selection.admits(subject) : selection.admitsBesideChannel(subject)
        }
    }

    // MARK: - The ticket's stream

    /// The stream that a ticket has open now.
    func stream(of nonce: StreamTicket.Nonce) -> UInt64? { state.withLock { $0.uses[nonce]?.stream } }

    /// Records the stream that a ticket has opened, its selection and its start. Returns the stream that the ticket had
    /// open before.
    func opened(
        _ nonce: StreamTicket.Nonce, by stream: UInt64, following selection: Selection, at start: Timetoken
    ) -> UInt64? {
        let now = service.clock.now
        return state.withLock { state in
            // The entry is missing when the ticket was presented twice at once and the other use was given back.
            var use = state.uses[nonce] ?? Use(disconnected: now)
            let old = use.stream
            (use.stream, use.isShown, use.hasOpened, use.began) = (stream, true, true, start)
            use.selection = selection
            state.uses[nonce] = use
            return old
        }
    }

    /// Handles a presentation that opened no stream: unless the ticket had opened one before, the presentation is
    /// undone.
    func release(_ nonce: StreamTicket.Nonce) {
        state.withLock { state in
            guard let use = state.uses[nonce], !use.hasOpened else { return }
            // Wrong ids remain counted.
            if use.doubts > 0 { state.uses[nonce]?.isShown = false } else { state.uses[nonce] = nil }
        }
    }

    /// Records that the stream has ended. The ticket can resume it for a limited time.
    ///
    /// - Parameter sent: the newest ids that it was sent.
    func disconnected(_ nonce: StreamTicket.Nonce, _ stream: UInt64, sent: [Timetoken]) {
        let now = service.clock.now
        state.withLock { state in
            guard state.uses[nonce]?.stream == stream else { return }
            state.uses[nonce]?.stream = nil
            state.uses[nonce]?.disconnected = now
            state.uses[nonce]?.sent = sent
        }
    }

    /// Records that the stream ended for good. A client that reconnects receives 204.
    func finish(_ nonce: StreamTicket.Nonce) {
        state.withLock { $0.uses[nonce]?.isFinished = true }
    }

    /// Removes uses that no longer matter; runs at most every ten seconds.
    func sweep() {
        let now = service.clock.now
        state.withLock { state in
            guard now >= state.sweepAfter else { return }
            state.sweepAfter = now.adding(.seconds(10))
            // The window is longer than a ticket's validity, so a removed ticket cannot be used for a new stream
            // either.
            state.uses = state.uses.filter {
                $0.value.stream != nil || now <= $0.value.disconnected.adding(Self.resumeWindow)
            }
        }
    }
}
