public import ChatModel
import JSON
import Locking

/// Who is where, kept and told: the one way to the presence board of this process.
///
/// What is wished of the board stands in line and is done by one task, a round at a time, and what has changed becomes
/// events before the next round. So the log has comings and goings in the order in which the board has them, and thousands
/// of clients that appear in the same second cost a few appends.
public final class PresenceTracker: Sendable {
    typealias Act = @Sendable (any PresenceStore) async throws(ChatError) -> [PresenceChange]
    private typealias Answer = Result<[PresenceChange], ChatError>

    private struct PresenceRequest: Sendable {
        let origin: PresenceOrigin
        let act: Act
        let promise: CheckedContinuation<Answer, Never>?
    }

    private struct State {
        var requests: [PresenceRequest] = []
        /// Nothing ends by itself and nothing waits to be told: nobody need look each second.
        var isQuiet = true
        /// Until the work is over; what is wished before it has begun waits.
        var isOpen = true
    }

    private let engine: any Engine
    let board: any PresenceStore
    private let limits: Limits
    private let clock: WallClock
    private let accessCache: ChannelAccessCache
    private let state = Lock(State())
    private let wakes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    /// Somebody wished for something, so that looking each second begins again.
    private let stirs = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(
        engine: any Engine, board: any PresenceStore, accessCache: ChannelAccessCache, limits: Limits, clock: WallClock
    ) {
        self.engine = engine
        self.board = board
        self.accessCache = accessCache
        self.limits = limits
        self.clock = clock
    }
}

// MARK: - Connections

extension PresenceTracker {
    /// A stream or poll of a user's device is there; as often as channels are added to it, too.
    ///
    /// Every device says so: the user stays inside the open channels that they have entered for as long as one of their
    /// connections lasts. Like all of these, it returns at once and is done in the order of the calls.
    /// - Parameter channels: where the user is present by it, as exact names; none where the stream does not ask for
    ///   presence.
    public func opened(_ holder: HolderID, of user: UserID, presentOn channels: [String] = []) {
        let presenceKeys = presenceKeys(of: user, on: channels)
        note { board throws(ChatError) in
            try await board.hold(await self.permitted(presenceKeys), of: user, by: holder)
        }
    }

    /// Without those whose users were banned since they came: these have been sent out already. To be asked in the line of
    /// wishes.
    func permitted(_ presenceKeys: [PresenceKey]) async -> [PresenceKey] {
        var permitted: [PresenceKey] = []
        for presenceKey in presenceKeys where await !isBanned(presenceKey.user, from: presenceKey.channel) {
            permitted.append(presenceKey)
        }
        return permitted
    }

    private func isBanned(_ user: String, from channel: ChannelID) async -> Bool {
        guard accessCache.concern(channel.app) else { return false }
        let channelAccess = try? await accessCache.channelAccess(of: user, in: channel)
        return channelAccess?.user.restriction(at: clock.now)?.isBanned ?? false
    }

    /// The stream goes on without these channels.
    public func narrowed(_ holder: HolderID, of user: UserID, without channels: [String]) {
        let presenceKeys = presenceKeys(of: user, on: channels)
        note { board throws(ChatError) in try await board.release(presenceKeys, by: holder) }
    }

    /// The connection broke: what it held lasts for the grace.
    public func broke(_ holder: HolderID) {
        let grace = limits.presenceGrace
        note { board throws(ChatError) in
            try await board.lose(holder, grace: grace)
            return []
        }
    }

    /// A poll was answered: what it still held lasts for so long, unless the next one comes.
    public func concluded(_ holder: HolderID, lasting duration: Duration) {
        note { board throws(ChatError) in try await board.conclude(holder, for: duration) }
    }

    /// The connection was closed on purpose: what it held is given up at once.
    public func closed(_ holder: HolderID) {
        note { board throws(ChatError) in try await board.release(nil, by: holder) }
    }

    /// Whether the user is inside the open channel, as far as this node knows. Costs nothing.
    public func isInside(_ user: String, _ channel: ChannelID) -> Bool {
        board.isTaken(PresenceKey(.participant, of: user, on: channel))
    }

    /// Whether the user is present on the channel, likewise.
    public func isPresent(_ user: String, _ channel: ChannelID) -> Bool {
        board.isTaken(PresenceKey(.occupant, of: user, on: channel))
    }

    private func presenceKeys(of user: UserID, on channels: [String]) -> [PresenceKey] {
        channels.map { PresenceKey(.occupant, of: user.name, on: ChannelID($0, in: user.app)) }
    }

    private func note(_ act: @escaping Act) {
        let request = PresenceRequest(origin: PresenceOrigin(), act: act, promise: nil)
        state.withLock { state in
            state.isQuiet = false
            if state.isOpen { state.requests.append(request) }
        }
        wakes.continuation.yield()
        stirs.continuation.yield()
    }
}

// MARK: - Calls

extension PresenceTracker {
    /// Has something done and waits until what has changed is told.
    ///
    /// - Throws: what the board throws; `.overloaded` when too much waits, `.unavailable` when the gateway stops.
    @discardableResult
    func ask(
        _ origin: PresenceOrigin = PresenceOrigin(), _ act: @escaping Act
    ) async throws(ChatError) -> [PresenceChange] {
        let answer = await withCheckedContinuation { (promise: CheckedContinuation<Answer, Never>) in
            let refusal = state.withLock { state -> ChatError? in
                guard state.isOpen else { return .presenceStopped }
                guard state.requests.count < limits.waitingDrafts else { return .presenceOverloaded }
                state.requests.append(PresenceRequest(origin: origin, act: act, promise: promise))
                state.isQuiet = false
                return nil
            }
            if let refusal { promise.resume(returning: .failure(refusal)) }
            wakes.continuation.yield()
            stirs.continuation.yield()
        }
        return try answer.get()
    }

    /// Looks at once who has been silent for too long, and tells it.
    public func beat() async throws(ChatError) {
        try await ask { board throws(ChatError) in try await board.expire() }
    }
}

// MARK: - Running

extension PresenceTracker {
    /// Works until cancelled. To be run once.
    func run() async {
        var teller = PresenceEvents(limits: limits)
        await withDiscardingTaskGroup { group in
            group.addTask { await self.pulse() }
            for await _ in wakes.stream { await round(&teller) }
            group.cancelAll()
        }
        let rest = state.withLock { state in
            defer { state = State(isOpen: false) }
            return state.requests
        }
        for request in rest { request.promise?.resume(returning: .failure(.presenceStopped)) }
    }

    /// Looks each second who has been silent for too long; where nobody can be, it sleeps until somebody comes.
    private func pulse() async {
        for await _ in stirs.stream {
            while !Task.isCancelled {
                // Cancellation shows at the loop's head.
                try? await Task.sleep(for: .seconds(1))
                guard state.withLock({ !$0.isQuiet }) else { break }
                look()
            }
        }
    }

    private func look() {
        let request = PresenceRequest(
            origin: PresenceOrigin(), act: { board throws(ChatError) in try await board.expire() }, promise: nil)
        state.withLock { if $0.isOpen { $0.requests.append(request) } }
        wakes.continuation.yield()
    }

    private func round(_ teller: inout PresenceEvents) async {
        let requests = state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
        var answers: [Answer] = []
        for request in requests { answers.append(await fulfil(request, &teller)) }
        teller.closeIntervals(at: clock.now)
        await teller.tell(engine, at: clock.now)
        let isQuiet = teller.isIdle && !board.mayExpire
        // What was wished meanwhile is looked at in the next round.
        state.withLock { $0.isQuiet = isQuiet && $0.requests.isEmpty }
        for (request, answer) in zip(requests, answers) { request.promise?.resume(returning: answer) }
    }

    private func fulfil(_ request: PresenceRequest, _ teller: inout PresenceEvents) async -> Answer {
        do throws(ChatError) {
            let changes = try await request.act(board)
            try await teller.note(changes, request.origin, board, at: clock.now)
            return .success(changes)
        } catch {
            return .failure(error)
        }
    }
}

/// What a call that changes who is where has to say about itself.
struct PresenceOrigin: Sendable {
    var device: String?
    var cause: String?
    /// Who did it, when it was somebody else than the user concerned.
    var user: String?
    /// The event's form on PubNub's wire, as a client published it; nil for the usual one.
    var wire: JSONText?
}

extension ChatAccess {
    var presenceOrigin: PresenceOrigin { PresenceOrigin(device: device, cause: cause) }
    var tracker: PresenceTracker { service.presence }
}

extension ChatError {
    fileprivate static let presenceStopped = ChatError(
        .unavailable, "the gateway is stopping", retryAfter: .seconds(1))
    fileprivate static let presenceOverloaded = ChatError(
        .overloaded, "too many come and go at once", retryAfter: .seconds(1))
}
