import ChatCore
import ChatModel
import Locking
import Signing

/// Creates stream tickets and stores their uses.
///
/// A record says that a ticket was used, and which node has its stream. The other facts about a use are in the memory of
/// that node. Another node that a client reconnects to asks that node, and then takes the ticket over.
///
/// The rules and their bounds:
/// - A ticket opens one stream, within 60 s of its creation. A second use is rejected. A request that opened no stream,
///   because of a limit or because the client disconnected, does not count as a use.
/// - With `Last-Event-ID`, a ticket resumes the stream that it opened. This is the reconnect of a browser. It is
///   possible while the stream is open, because the client's network may have failed silently, and for 120 s after the
///   stream broke. One hour after its creation, a ticket resumes no stream. A stream that is open then stays open.
/// - The last id must be an id that was sent on the stream. A person who saw only the URL knows no such id. The
///   ticket's start also counts as such an id, and cannot be read from the ticket. The newest ids are stored. An older
///   id is looked up in the log, in the range that the stream covered. Five wrong ids invalidate the ticket.
/// - If the node that had the stream has stopped, any node resumes the stream. A last id is then correct if an event that
///   the ticket's holder may read has it.
/// - A node stores at most `capacity` uses. Above this limit, it rejects tickets; no use is removed early.
/// - The current rights of the ticket's key apply in any case.
final class StreamTickets: Sendable {
    static let resumeWindow: Duration = .seconds(120)
    static let mostWrongIDs = 5
    private static let removalsPerCommit = 500
    /// The minimum time from the shown start of a stream to the creation of its ticket, if the client requests no
    /// start. Up to one more second is added at random. An event whose commit is in progress at the creation is
    /// therefore after the start.
    static let lead: Duration = .seconds(2)

    private struct Use {
        let ticket: StreamTicket
        /// The number of the stream that the ticket has open; nil when it has none.
        var stream: UInt64?
        /// The time at which the ticket's last stream broke, or the time of the ticket's last use if it opened no
        /// stream.
        var disconnected: Timetoken
        /// True when the ticket was used to open its stream.
        var isShown = false
        /// True when the use came from another node, which has opened the ticket's stream.
        var isMoved = false
        /// True while this node writes or removes the ticket's record.
        var isWriting = false
        var hasOpened = false
        /// True when the ticket's stream was ended permanently.
        var isFinished = false
        /// The position at which the ticket's last stream began; nil when the ticket has opened no stream.
        var began: Timetoken?
        /// The selection of the ticket's last stream; nil when the ticket has opened no stream.
        var selection: Selection?
        /// The newest ids that were sent on the ticket's last stream before it broke.
        var sent: [Timetoken] = []
        /// The number of ids sent with the ticket that were wrong or are still being checked.
        var doubts = 0

        func isOver(at now: Timetoken) -> Bool { stream == nil && now > disconnected.adding(resumeWindow) }
    }

    private struct State {
        var uses: [StreamTicket.Nonce: Use] = [:]
        var sweepAfter = Timetoken.zero
        /// The tasks that remove the records of tickets which opened no stream.
        var withdrawals: [StreamTicket.Nonce: Task<Void, Never>] = [:]

        /// Undoes a use. Returns false when the ticket has opened a stream before, on this node or another, and stays
        /// used.
        @discardableResult mutating func release(_ nonce: StreamTicket.Nonce) -> Bool {
            guard let use = uses[nonce], !use.hasOpened else { return false }
            // Wrong ids stay counted.
            if use.doubts > 0 { uses[nonce]?.isShown = false } else { uses[nonce] = nil }
            return !use.isMoved
        }
    }

    let service: ChatService
    private let capacity: Int
    private let state = Lock(State())

    init(service: ChatService) {
        self.service = service
        capacity = 2 * service.limits.streamsInGateway
    }

    var isEmpty: Bool { state.withLock { $0.uses.isEmpty } }

    // MARK: - Creation and presentation

    /// Creates a ticket.
    ///
    /// - Throws: `.forbidden` when the caller has no API key of the app, `.malformed` when the ticket would be too long
    ///   for a URL.
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
            throw ChatError(
                .malformed, "the ticket would have too many channel names, or names that are too long; use patterns")
        }
        return (text, ticket.expires)
    }

    private static func recent(_ now: Timetoken, _ random: SystemRandomSource) -> Timetoken {
        now.adding(.zero - lead - .nanoseconds(100) * Int(StreamTicket.Nonce(random).low % Timetoken.ticksPerSecond))
    }

    /// A random start for a stream that begins before every event. The start is in about the year 2001 and cannot be
    /// guessed.
    private static func beforeAll(_ random: SystemRandomSource) -> Timetoken {
        Timetoken(10_000_000_000_000_000 + StreamTicket.Nonce(random).low % 100_000_000_000_000)
    }

    /// The rights that a ticket gives its holder. The call does not count as a use of the ticket.
    ///
    /// - Throws: `.unauthorized`. The message does not depend on the reason.
    func caller(of text: String) throws(ChatError) -> (caller: Caller, ticket: StreamTicket) {
        let ticket = StreamTicket(text: text, sealedBy: service.keyring.seal(for: StreamTicket.sealPurpose))
        guard let ticket else { throw Self.refusal }
        return (try caller(of: ticket), ticket)
    }

    func caller(of ticket: StreamTicket) throws(ChatError) -> Caller {
        guard let key = service.keyring.caller(key: ticket.key, in: ticket.app),
            let caller = ticket.caller(of: key), !service.isRevoked(caller)
        else { throw Self.refusal }
        return caller
    }

    // MARK: - Ids

    /// Checks that an id was sent on the ticket's stream. Each check counts as a wrong id until it succeeds, so that
    /// concurrent requests get no more attempts than sequential requests.
    ///
    /// - Parameter isSent: returns true when the id was sent on the stream. Called when the id is not among the stored
    ///   ids.
    /// - Throws: `.unauthorized` for a wrong id, and for a ticket that five wrong ids have invalidated.
    func requireSent(
        _ id: String, to ticket: StreamTicket, _ isSent: (Timetoken) async throws -> Bool
    ) async throws {
        let now = service.clock.now
        try state.withLock { state throws(ChatError) in
            // A ticket that is too old is rejected without storing a use.
            guard now <= ticket.issued.adding(StreamTicket.resumeLife), state.uses.count < capacity else {
                throw Self.refusal
            }
            guard (state.uses[ticket.nonce]?.doubts ?? 0) < Self.mostWrongIDs else { throw Self.refusal }
            state.uses[ticket.nonce, default: Use(ticket: ticket, disconnected: now)].doubts += 1
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

    /// Takes back a wrong id that was counted because another node took the ticket over during the check.
    func forgetDoubt(of nonce: StreamTicket.Nonce) {
        state.withLock { state in
            if let doubts = state.uses[nonce]?.doubts, doubts > 0 { state.uses[nonce]?.doubts = doubts - 1 }
        }
    }

    /// The result of using a ticket.
    enum TicketResult: String {
        case admitted
        /// The ticket's stream was ended permanently. The response is 204, which stops the client.
        case finished
    }

    /// Uses a ticket to open its stream or to resume the stream.
    ///
    /// - Parameter etag: the version of the ticket's record, to take the ticket over from another node; nil otherwise.
    /// - Throws: `.unauthorized` when the ticket breaks a rule, `.overloaded` when too many uses are stored; `.stale` when
    ///   another node has taken the ticket over during its resumption; the errors of the store.
    func use(
        _ ticket: StreamTicket, isResuming: Bool, replacing etag: String? = nil
    ) async throws(ChatError) -> TicketResult {
        let withdrawal = state.withLock { $0.withdrawals[ticket.nonce] }
        await withdrawal?.value
        if let result = try begin(ticket, isResuming: isResuming, isMoving: etag != nil) { return result }
        do throws(ChatError) {
            let body = TicketHolder(node: service.nodes.node).body
            _ = try await service.engine.directory.write([
                RecordChange(
                    Self.recordKey(of: ticket.nonce), body: body, precondition: etag.map { .etag($0) } ?? .absent)
            ])
        } catch {
            state.withLock { state in
                state.uses[ticket.nonce]?.isWriting = false
                state.release(ticket.nonce)
            }
            guard [.conflict, .stale, .notFound].contains(error.code) else { throw error }
            // Another request has used the ticket at the same time. A resumption may then begin anew.
            throw isResuming ? ChatError.movedMeanwhile : Self.refusal
        }
        state.withLock { $0.uses[ticket.nonce]?.isWriting = false }
        return .admitted
    }

    /// Records a use in memory. Returns nil when the ticket's record must be written.
    private func begin(
        _ ticket: StreamTicket, isResuming: Bool, isMoving: Bool
    ) throws(ChatError) -> TicketResult? {
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
            // The use was on this node when the resumption began, unless the ticket was never used.
            guard isMoving || now <= ticket.expires else { throw isResuming ? ChatError.movedMeanwhile : Self.refusal }
            let known = state.uses[ticket.nonce]
            guard known != nil || state.uses.count < capacity else {
                throw ChatError(.overloaded, "too many tickets are in use; try again later", retryAfter: .seconds(10))
            }
            var use = known ?? Use(ticket: ticket, disconnected: now)
            guard use.doubts < Self.mostWrongIDs else { throw Self.refusal }
            (use.disconnected, use.isShown, use.isWriting, use.isMoved) = (now, true, true, isMoving)
            state.uses[ticket.nonce] = use
            return nil
        }
    }

    static let refusal = ChatError(
        .unauthorized,
        "the ticket is unknown, was already used, or has expired; get a new ticket from POST /v1/stream-tickets",
        slug: "ticket_invalid")

    /// Returns true when an event may have been sent on the ticket's stream: the event matches the stream's selection
    /// and is between the stream's beginning and its end.
    func covers(_ event: Event, by ticket: StreamTicket) -> Bool {
        state.withLock { state in
            guard let use = state.uses[ticket.nonce], let began = use.began, let selection = use.selection else {
                return false
            }
            // The timetokens of a burst of events can be later than the clock.
            let end = max(use.disconnected, use.sent.max() ?? .zero)
            guard event.timetoken > began, use.stream != nil || event.timetoken <= end else { return false }
            let subject = FilterSubject(event)
            // The stream of a user's device follows the channels of which the user is a member, so the channel is not
            // compared.
            return selection.viewer == nil ? selection.admits(subject) : selection.admitsBesideChannel(subject)
        }
    }

    // MARK: - The ticket's stream

    /// The ticket with a nonce, if it was used on this node.
    func ticketUsedHere(_ nonce: StreamTicket.Nonce) -> StreamTicket? {
        state.withLock { state in state.uses[nonce].flatMap { $0.isShown ? $0.ticket : nil } }
    }

    /// Returns true when this node has taken a ticket over and its stream is not open yet. The ids that were sent on
    /// the stream are then not in the memory of any node.
    func isArriving(_ nonce: StreamTicket.Nonce) -> Bool {
        state.withLock { state in state.uses[nonce].map { $0.isMoved && !$0.hasOpened } ?? false }
    }

    /// Returns true when a change of the ticket's record may be one of another node.
    func mayHaveMoved(_ nonce: StreamTicket.Nonce) -> Bool {
        state.withLock { $0.uses[nonce].map { $0.isShown && !$0.isWriting } ?? false }
    }

    /// Removes the use of a ticket that another node has taken over. Returns the number of the stream that the ticket
    /// had open.
    func forget(_ nonce: StreamTicket.Nonce) -> UInt64? {
        state.withLock { $0.uses.removeValue(forKey: nonce)?.stream }
    }

    /// The number of the stream that a ticket has open; nil when it has none.
    func stream(of nonce: StreamTicket.Nonce) -> UInt64? { state.withLock { $0.uses[nonce]?.stream } }

    /// Records the stream that a ticket has opened, with its selection and its start.
    ///
    /// - Returns: `old`, the number of the stream that the ticket had open before; nil if there was none. `mayHaveMoved`
    ///   is true when another node may have taken the ticket over before this call.
    func opened(
        _ ticket: StreamTicket, by stream: UInt64, following selection: Selection, at start: Timetoken
    ) -> (old: UInt64?, mayHaveMoved: Bool) {
        let now = service.clock.now
        return state.withLock { state in
            let known = state.uses[ticket.nonce]
            // The entry is missing when two requests used the ticket at the same time and one of the uses was released,
            // and when another node has taken the ticket over.
            var use = known ?? Use(ticket: ticket, disconnected: now)
            let old = use.stream
            (use.stream, use.isShown, use.hasOpened, use.began) = (stream, true, true, start)
            use.selection = selection
            state.uses[ticket.nonce] = use
            return (old, known?.isMoved ?? true)
        }
    }

    /// Undoes the use of a ticket that opened no stream. A ticket that has opened a stream before stays used.
    func release(_ nonce: StreamTicket.Nonce) {
        let key = Self.recordKey(of: nonce)
        state.withLock { state in
            guard state.release(nonce), state.withdrawals[nonce] == nil else { return }
            state.withdrawals[nonce] = Task { [self] in
                // Without a removal, the ticket stays used, and its client gets a new one.
                _ = try? await service.engine.directory.write([RecordChange(key, body: nil)])
                self.state.withLock { $0.withdrawals[nonce] = nil }
            }
        }
    }

    /// Records that the stream has ended. The ticket can resume the stream for `resumeWindow`.
    ///
    /// - Parameter sent: the newest ids that were sent on the stream.
    func disconnected(_ nonce: StreamTicket.Nonce, _ stream: UInt64, sent: [Timetoken]) {
        let now = service.clock.now
        state.withLock { state in
            guard state.uses[nonce]?.stream == stream else { return }
            state.uses[nonce]?.stream = nil
            state.uses[nonce]?.disconnected = now
            state.uses[nonce]?.sent = sent
        }
    }

    /// Records that the ticket's stream was ended permanently. A client that reconnects receives 204.
    func finish(_ nonce: StreamTicket.Nonce) {
        state.withLock { $0.uses[nonce]?.isFinished = true }
    }

    /// Removes the uses whose tickets can no longer be resumed, and their records. Runs at most every ten seconds.
    func sweep() {
        let now = service.clock.now
        let gone = state.withLock { state -> [StreamTicket.Nonce] in
            guard now >= state.sweepAfter else { return [] }
            state.sweepAfter = now.adding(.seconds(10))
            // `resumeWindow` is longer than the lifetime of a ticket, so a ticket whose use is removed cannot open a
            // new stream.
            let gone = state.uses.filter { $0.value.isOver(at: now) && !$0.value.isWriting }
            for (nonce, use) in gone {
                // The record of a ticket that was only tried out here may belong to another node.
                if use.isShown { state.uses[nonce]?.isWriting = true } else { state.uses[nonce] = nil }
            }
            return gone.filter(\.value.isShown).map(\.key)
        }
        guard !gone.isEmpty else { return }
        Task {
            for start in stride(from: 0, to: gone.count, by: Self.removalsPerCommit) {
                await remove(gone[start...].prefix(Self.removalsPerCommit))
            }
        }
    }

    /// Removes uses and their records.
    private func remove(_ gone: ArraySlice<StreamTicket.Nonce>) async {
        // The uses are removed after their records: a record without a use is one of an earlier process. A failed removal
        // is repeated by the next call of `sweep`.
        let removals = gone.map { RecordChange(Self.recordKey(of: $0), body: nil) }
        let isRemoved = (try? await service.engine.directory.write(removals)) != nil
        state.withLock { state in
            for nonce in gone {
                if isRemoved { state.uses[nonce] = nil } else { state.uses[nonce]?.isWriting = false }
            }
        }
    }
}
