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
///   without a word) and until 120 s after it broke: the browser's own reconnect.
/// - What was used is remembered in memory. After a restart a ticket from before opens nothing afresh, but with
///   `Last-Event-ID` one of the last 24 h is taken up within 120 s of the start, because its stream broke with the
///   restart. That it had opened one is then taken on trust; its key's present rights hold in any case.
/// - At most `capacity` uses are remembered; past that tickets are refused, never forgotten early.
final class StreamTickets: Sendable {
    static let resumeWindow: Duration = .seconds(120)
    /// How old a ticket may be to be taken up again after a restart.
    static let restartAge: Duration = .seconds(24 * 3600)

    private struct Use {
        /// The stream it has open now.
        var stream: UInt64?
        /// When the last stream of it broke, or when it was shown, if no stream came of it.
        var broke: Timetoken
        var hasOpened = false
        /// Its stream was ended for good.
        var isFinished = false
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
        _ selection: Selection, user: String?, by caller: Caller
    ) throws(ChatError) -> (
        text: String, expires: Timetoken
    ) {
        guard service.keyring.caller(key: caller.credential, in: caller.space) != nil,
            let app = service.keyring.app(caller.space)
        else { throw ChatError(.forbidden, "tickets are made with an API key or a token") }
        let ticket = StreamTicket(
            space: caller.space, key: caller.credential, channels: selection.channelPatterns, types: selection.types,
            user: user, until: caller.expires, nonce: StreamTicket.Nonce(SystemRandomSource()),
            expires: service.clock.now.adding(StreamTicket.lifetime))
        let text = ticket.text(secret: Secret(text: app.secretKey))
        guard text.utf8.count <= StreamTicket.textBytes else {
            throw ChatError(.malformed, "too many or too long channels for a ticket; use patterns")
        }
        return (text, ticket.expires)
    }

    /// What a ticket shows its holder to be. Does not use it up.
    ///
    /// - Throws: `.unauthorized` in the same words for every reason.
    func caller(of text: String) throws(ChatError) -> (caller: Caller, ticket: StreamTicket) {
        let ticket = StreamTicket(text: text) { [service] space in
            service.keyring.app(space).map { Secret(text: $0.secretKey) }
        }
        guard let ticket, let key = service.keyring.caller(key: ticket.key, in: ticket.space),
            let caller = ticket.caller(of: key)
        else { throw Self.refusal }
        return (caller, ticket)
    }

    /// What comes of showing a ticket.
    enum Admission {
        case admitted
        /// Its stream was ended for good: the client is told to stop (204).
        case finished
    }

    /// Uses a ticket, to open its stream or to resume it.
    ///
    /// - Throws: `.unauthorized` outside the rules, `.overloaded` when too many uses are remembered.
    func use(_ ticket: StreamTicket, isResuming: Bool) throws(ChatError) -> Admission {
        let now = service.clock.now
        return try state.withLock { state throws(ChatError) in
            if let use = state.uses[ticket.nonce] {
                guard isResuming, use.stream != nil || now <= use.broke.adding(Self.resumeWindow) else {
                    throw Self.refusal
                }
                guard !use.isFinished else { return .finished }
                state.uses[ticket.nonce]?.broke = now
                return .admitted
            }
            guard isResuming && isOfBeforeTheStart(ticket, now) || isFresh(ticket, now) else { throw Self.refusal }
            guard state.uses.count < capacity else {
                throw ChatError(.overloaded, "too many tickets are in use", retryAfter: .seconds(10))
            }
            state.uses[ticket.nonce] = Use(broke: now)
            return .admitted
        }
    }

    private func isFresh(_ ticket: StreamTicket, _ now: Timetoken) -> Bool {
        // One of before the start may have been used before it.
        ticket.issued >= started && now <= ticket.expires
    }

    private func isOfBeforeTheStart(_ ticket: StreamTicket, _ now: Timetoken) -> Bool {
        ticket.issued < started && ticket.issued.adding(Self.restartAge) >= started
            && now <= started.adding(Self.resumeWindow)
    }

    private static let refusal = ChatError(
        .unauthorized, "the ticket is unknown, was used, or has expired; ask for a new one", slug: "ticket_invalid")

    // MARK: - Life of its stream

    /// The stream a ticket has open now.
    func stream(of nonce: StreamTicket.Nonce) -> UInt64? { state.withLock { $0.uses[nonce]?.stream } }

    /// Notes which stream a ticket has opened. Returns the one it had open until now.
    func opened(_ nonce: StreamTicket.Nonce, by stream: UInt64) -> UInt64? {
        let now = service.clock.now
        return state.withLock { state in
            // Not there when it was shown twice at the same time and the other one was given back.
            var use = state.uses[nonce] ?? Use(broke: now)
            let old = use.stream
            (use.stream, use.hasOpened) = (stream, true)
            state.uses[nonce] = use
            return old
        }
    }

    /// No stream came of a ticket that was shown: unless it had opened one before, it is as if it had not been.
    func giveBack(_ nonce: StreamTicket.Nonce) {
        state.withLock { state in
            if state.uses[nonce]?.hasOpened == false { state.uses[nonce] = nil }
        }
    }

    /// The stream has ended: from now on the ticket can resume it for a while.
    func broke(_ nonce: StreamTicket.Nonce, _ stream: UInt64) {
        let now = service.clock.now
        state.withLock { state in
            guard state.uses[nonce]?.stream == stream else { return }
            state.uses[nonce]?.stream = nil
            state.uses[nonce]?.broke = now
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
