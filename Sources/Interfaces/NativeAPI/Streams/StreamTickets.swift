import ChatCore
import ChatModel
import Locking
import Signing

/// Makes tickets, and remembers which were used.
///
/// The rules (`conventions.md` 9), each with its bound:
/// - A ticket opens one stream, within 60 s of its making. A second use is refused. Where no stream came of showing it,
///   because there was no room for one or its client went, it was not used.
/// - With `Last-Event-ID` it resumes the stream it has opened, while that is open (a client whose network went away
///   without a word) and until 120 s after it broke: the browser's own reconnect. An hour after its making it resumes
///   nothing more; a stream that is open then stays open.
/// - The id must be one that the stream was sent: whoever saw the URL alone does not know any. The ticket's start is one, and
///   cannot be read from it. The newest sent ids are remembered; an older one is looked up in the log, within what the stream
///   covered. Five wrong ones void the ticket.
/// - What was used is remembered in memory. After a restart a ticket from before opens nothing afresh, but with
///   `Last-Event-ID` it is taken up within 120 s of the start, because its stream broke with the restart. That it had
///   opened one is then taken on trust; its key's present rights hold in any case.
/// - At most `capacity` uses are remembered; past that tickets are refused, never forgotten early.
final class StreamTickets: Sendable {
    static let resumeWindow: Duration = .seconds(120)
    static let mostWrongIDs = 5
    /// What a stream without a given start is said to start at lies so long before the ticket's making, and up to a second more,
    /// by chance. Commits that were under way then lie behind it.
    static let lead: Duration = .seconds(2)

    private struct Use {
        /// The stream it has open now.
        var stream: UInt64?
        /// When the last stream of it broke, or when it was shown, if no stream came of it.
        var broke: Timetoken
        /// It was shown to open its stream.
        var isShown = false
        var hasOpened = false
        /// Its stream was ended for good.
        var isFinished = false
        /// What the last stream of it began with.
        var began: Timetoken?
        /// What the last stream of it followed.
        var selection: Selection?
        /// The newest ids the last stream of it was sent before it broke.
        var sent: [Timetoken] = []
        /// Ids it was shown with that are being looked up, or were wrong.
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

    // MARK: - Making and showing

    /// - Throws: `.forbidden` when the caller holds no API key of the app, `.malformed` when the ticket would be too long
    ///   for a URL.
    func issue(
        _ selection: Selection, user: String?, position: Timetoken, isLatest: Bool, by caller: Caller
    ) throws(ChatError) -> (
        text: String, expires: Timetoken
    ) {
        guard service.keyring.caller(key: caller.credential, in: caller.app) != nil else {
            throw ChatError(.forbidden, "tickets are made with an API key or a token")
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
            throw ChatError(.malformed, "too many or too long channels for a ticket; use patterns")
        }
        return (text, ticket.expires)
    }

    private static func recent(_ now: Timetoken, _ random: SystemRandomSource) -> Timetoken {
        now.adding(.zero - lead - .nanoseconds(100) * Int(StreamTicket.Nonce(random).low % Timetoken.ticksPerSecond))
    }

    /// A position before every event, which nobody can guess: in 2001 or so.
    private static func beforeAll(_ random: SystemRandomSource) -> Timetoken {
        Timetoken(10_000_000_000_000_000 + StreamTicket.Nonce(random).low % 100_000_000_000_000)
    }

    /// What a ticket shows its holder to be. Does not use it up.
    ///
    /// - Throws: `.unauthorized` in the same words for every reason.
    func caller(of text: String) throws(ChatError) -> (caller: Caller, ticket: StreamTicket) {
        let ticket = StreamTicket(text: text, sealedBy: service.keyring.seal(for: StreamTicket.sealPurpose))
        guard let ticket, let key = service.keyring.caller(key: ticket.key, in: ticket.app),
            let caller = ticket.caller(of: key), !service.isRevoked(caller)
        else { throw Self.refusal }
        return (caller, ticket)
    }

    // MARK: - Ids

    /// Looks whether an id was sent to the ticket's stream. Each look counts as a wrong one until it has shown otherwise, so
    /// that many at once are no more tries than many in a row.
    ///
    /// - Parameter isSent: whether the stream was sent the id; asked where the ticket alone does not know.
    /// - Throws: `.unauthorized` for a wrong id, and for a ticket that five of them have voided.
    func demandSent(
        _ id: String, to ticket: StreamTicket, _ isSent: (Timetoken) async throws -> Bool
    ) async throws {
        let now = service.clock.now
        try state.withLock { state throws(ChatError) in
            // Of one that is too old nothing needs to be remembered.
            guard now <= ticket.issued.adding(StreamTicket.resumeLife), state.uses.count < capacity else {
                throw Self.refusal
            }
            guard (state.uses[ticket.nonce]?.doubts ?? 0) < Self.mostWrongIDs else { throw Self.refusal }
            state.uses[ticket.nonce, default: Use(broke: now)].doubts += 1
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

    /// What comes of showing a ticket.
    enum TicketResult {
        case admitted
        /// Its stream was ended for good: the client is told to stop (204).
        case finished
    }

    /// Uses a ticket, to open its stream or to resume it.
    ///
    /// - Throws: `.unauthorized` outside the rules, `.overloaded` when too many uses are remembered.
    func use(_ ticket: StreamTicket, isResuming: Bool) throws(ChatError) -> TicketResult {
        let now = service.clock.now
        return try state.withLock { state throws(ChatError) in
            guard isResuming ? now <= ticket.issued.adding(StreamTicket.resumeLife) : true else { throw Self.refusal }
            if let use = state.uses[ticket.nonce], use.isShown {
                guard use.doubts < Self.mostWrongIDs, isResuming,
                    use.stream != nil || now <= use.broke.adding(Self.resumeWindow)
                else {
                    throw Self.refusal
                }
                guard !use.isFinished else { return .finished }
                state.uses[ticket.nonce]?.broke = now
                return .admitted
            }
            guard isResuming && isOfBeforeTheStart(ticket, now) || isFresh(ticket, now) else { throw Self.refusal }
            let known = state.uses[ticket.nonce]
            guard known != nil || state.uses.count < capacity else {
                throw ChatError(.overloaded, "too many tickets are in use", retryAfter: .seconds(10))
            }
            var use = known ?? Use(broke: now)
            guard use.doubts < Self.mostWrongIDs else { throw Self.refusal }
            (use.broke, use.isShown) = (now, true)
            state.uses[ticket.nonce] = use
            return .admitted
        }
    }

    private func isFresh(_ ticket: StreamTicket, _ now: Timetoken) -> Bool {
        // One of before the start may have been used before it.
        ticket.issued >= started && now <= ticket.expires
    }

    private func isOfBeforeTheStart(_ ticket: StreamTicket, _ now: Timetoken) -> Bool {
        ticket.issued < started && now <= started.adding(Self.resumeWindow)
    }

    private static let refusal = ChatError(
        .unauthorized, "the ticket is unknown, was used, or has expired; ask for a new one", slug: "ticket_invalid")

    /// Whether the ticket's stream can have been sent an event: it followed it, from where it began to where it broke. Of a
    /// ticket from before the gateway's start nothing is remembered but what it says itself.
    func covers(_ event: Event, by ticket: StreamTicket) -> Bool {
        state.withLock { state in
            guard let use = state.uses[ticket.nonce], let began = use.began, let selection = use.selection else {
                return ticket.issued < started
            }
            // Timetokens of a burst run ahead of the clock.
            let end = max(use.broke, use.sent.max() ?? .zero)
            guard event.timetoken > began, use.stream != nil || event.timetoken <= end else { return false }
            let subject = FilterSubject(event)
            // The channels of a user's device are where the user is.
            return selection.viewer == nil ? selection.admits(subject) : selection.admitsBesideChannel(subject)
        }
    }

    // MARK: - Life of its stream

    /// The stream a ticket has open now.
    func stream(of nonce: StreamTicket.Nonce) -> UInt64? { state.withLock { $0.uses[nonce]?.stream } }

    /// Notes which stream a ticket has opened, what it follows and what it begins with. Returns the one it had open until now.
    func opened(
        _ nonce: StreamTicket.Nonce, by stream: UInt64, following selection: Selection, at start: Timetoken
    ) -> UInt64? {
        let now = service.clock.now
        return state.withLock { state in
            // Not there when it was shown twice at the same time and the other one was given back.
            var use = state.uses[nonce] ?? Use(broke: now)
            let old = use.stream
            (use.stream, use.isShown, use.hasOpened, use.began) = (stream, true, true, start)
            use.selection = selection
            state.uses[nonce] = use
            return old
        }
    }

    /// No stream came of a ticket that was shown: unless it had opened one before, it is as if it had not been.
    func giveBack(_ nonce: StreamTicket.Nonce) {
        state.withLock { state in
            guard let use = state.uses[nonce], !use.hasOpened else { return }
            // What was tried with it is not forgotten.
            if use.doubts > 0 { state.uses[nonce]?.isShown = false } else { state.uses[nonce] = nil }
        }
    }

    /// The stream has ended: from now on the ticket can resume it for a while.
    ///
    /// - Parameter sent: the newest ids it was sent.
    func broke(_ nonce: StreamTicket.Nonce, _ stream: UInt64, sent: [Timetoken]) {
        let now = service.clock.now
        state.withLock { state in
            guard state.uses[nonce]?.stream == stream else { return }
            state.uses[nonce]?.stream = nil
            state.uses[nonce]?.broke = now
            state.uses[nonce]?.sent = sent
        }
    }

    /// The stream is ended for good: who comes back is told to stop.
    func finish(_ nonce: StreamTicket.Nonce) {
        state.withLock { $0.uses[nonce]?.isFinished = true }
    }

    /// Forgets uses that can no longer matter; looks at most every ten seconds.
    func sweep() {
        let now = service.clock.now
        state.withLock { state in
            guard now >= state.sweepAfter else { return }
            state.sweepAfter = now.adding(.seconds(10))
            // The window is longer than a ticket's life, so what is forgotten can no longer be used afresh either.
            state.uses = state.uses.filter { $0.value.stream != nil || now <= $0.value.broke.adding(Self.resumeWindow) }
        }
    }
}
