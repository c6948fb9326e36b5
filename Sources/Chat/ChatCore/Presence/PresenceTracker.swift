public import ChatModel
import JSON
import Locking

/// Runs all requests to the presence store, and appends the resulting events to the event log.
///
/// One task processes the queued requests in rounds. The changes of a round become events before the next round begins.
/// So the event log has joins and leaves in the order of the store. When thousands of clients arrive in the same
/// second, only a few appends are needed.
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
        /// True when no entry can time out and no event waits to be appended. The check each second is then suspended.
        var isQuiet = true
        /// True while a check for timeouts waits in `requests`. A slow store gets no second one.
        var isCheckQueued = false
        /// True while a round runs. Its requests are no longer in `requests`, and their events may not be appended yet.
        var isRunning = false
        /// True until the tracker stops. Requests that arrive before it runs are queued.
        var isOpen = true
    }

    private let engine: any Engine
    let store: any PresenceStore
    private let limits: Limits
    private let clock: WallClock
    private let accessCache: ChannelAccessCache
    private let state = Lock(State())
    private let wakes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    /// Signals that a request has arrived. The signal resumes the check for timeouts, which runs every second.
    private let stirs = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(
        engine: any Engine, store: any PresenceStore, accessCache: ChannelAccessCache, limits: Limits, clock: WallClock
    ) {
        self.engine = engine
        self.store = store
        self.accessCache = accessCache
        self.limits = limits
        self.clock = clock
    }
}

// MARK: - Connections

extension PresenceTracker {
    /// Registers a stream or poll of a user's device. Also call this when channels are added to a stream.
    ///
    /// Call this for the streams and polls of every device: a user stays inside the open channels that the user has
    /// entered while the user has at least one connection. This method returns immediately, as do `narrowed`,
    /// `disconnected`, `concluded` and `closed`. Their calls are processed in order.
    ///
    /// - Parameter channels: the names of the channels on which the connection makes the user present; empty for a
    ///   stream without presence.
    public func opened(_ holder: HolderID, of user: UserID, presentOn channels: [String] = []) {
        let presenceKeys = presenceKeys(of: user, on: channels)
        if !holdNow(presenceKeys, of: user, by: holder) { enqueueHold(presenceKeys, of: user, by: holder) }
    }

    /// Registers a poll whose user is already present on its channels. Returns false, and does nothing, when the user is
    /// not present on all of them, according to this node's memory.
    func stayed(_ holder: HolderID, of user: UserID, presentOn channels: [String]) -> Bool {
        let presenceKeys = presenceKeys(of: user, on: channels)
        if holdNow(presenceKeys, of: user, by: holder) { return true }
        guard presenceKeys.allSatisfy({ store.isTaken($0) }) else { return false }
        enqueueHold(presenceKeys, of: user, by: holder)
        return true
    }

    private func holdNow(_ presenceKeys: [PresenceKey], of user: UserID, by holder: HolderID) -> Bool {
        // Without rules for the app, nobody is banned.
        !accessCache.hasRules(user.app) && tryNow { $0.holdAtOnce(presenceKeys, of: user, by: holder) }
    }

    private func enqueueHold(_ presenceKeys: [PresenceKey], of user: UserID, by holder: HolderID) {
        enqueue { store throws(ChatError) in
            try await store.hold(try await self.permitted(presenceKeys), of: user, by: holder)
        }
    }

    /// Returns the keys whose users are not banned from their channel. A user may have been banned after the request
    /// was queued. Must be called in the queue of requests.
    ///
    /// - Throws: the errors of the store. After an error, the request must make no user present, because one of the
    ///   users could be banned.
    func permitted(_ presenceKeys: [PresenceKey]) async throws(ChatError) -> [PresenceKey] {
        var permitted: [PresenceKey] = []
        for presenceKey in presenceKeys where try await !isBanned(presenceKey.user, from: presenceKey.channel) {
            permitted.append(presenceKey)
        }
        return permitted
    }

    private func isBanned(_ user: String, from channel: ChannelID) async throws(ChatError) -> Bool {
        guard accessCache.hasRules(channel.app) else { return false }
        return try await accessCache.channelAccess(of: user, in: channel).user.access(at: clock.now).contains(.banned)
    }

    /// Removes channels from a stream that stays open.
    public func narrowed(_ holder: HolderID, of user: UserID, without channels: [String]) {
        let presenceKeys = presenceKeys(of: user, on: channels)
        enqueue { store throws(ChatError) in try await store.release(presenceKeys, by: holder) }
    }

    /// Reports that a connection broke. The entries of the connection end after `Limits.presenceGrace`, unless the
    /// client reconnects.
    public func disconnected(_ holder: HolderID) {
        let grace = limits.presenceGrace
        enqueue { store throws(ChatError) in
            try await store.disconnect(holder, grace: grace)
            return []
        }
    }

    /// Reports that the response of a poll was sent. The entries of the poll end after `duration`, unless the next poll
    /// arrives.
    public func concluded(_ holder: HolderID, lasting duration: Duration) {
        if tryNow({ $0.concludeAtOnce(holder, for: duration) }) { return }
        enqueue { store throws(ChatError) in try await store.conclude(holder, for: duration) }
    }

    /// Reports that a connection was closed intentionally. The entries of the connection end immediately.
    public func closed(_ holder: HolderID) {
        enqueue { store throws(ChatError) in try await store.release(nil, by: holder) }
    }

    /// Returns true when the user is inside the open channel, according to this node's memory.
    func isInside(_ user: String, _ channel: ChannelID) -> Bool {
        store.isTaken(PresenceKey(.participant, of: user, on: channel))
    }

    /// Returns true when the user is present on the channel, according to this node's memory.
    public func isPresent(_ user: String, _ channel: ChannelID) -> Bool {
        store.isTaken(PresenceKey(.occupant, of: user, on: channel))
    }

    private func presenceKeys(of user: UserID, on channels: [String]) -> [PresenceKey] {
        channels.map { PresenceKey(.occupant, of: user.name, on: ChannelID($0, in: user.app)) }
    }

    /// Runs a change of the store that causes no event on the caller's thread, if no earlier request waits or runs. The
    /// polls of a client are then counted without a task.
    ///
    /// - Parameter act: returns false, and does nothing, when the change must be queued.
    /// - Returns: false when the change must be queued.
    private func tryNow(_ act: (any PresenceStore) -> Bool) -> Bool {
        let (isDone, wasQuiet) = state.withLock { state in
            guard state.isOpen, !state.isRunning, state.requests.isEmpty, act(store) else { return (false, false) }
            defer { state.isQuiet = false }
            return (true, state.isQuiet)
        }
        if wasQuiet { stirs.continuation.yield() }
        return isDone
    }

    private func enqueue(_ act: @escaping Act) {
        let request = PresenceRequest(origin: PresenceOrigin(), act: act, promise: nil)
        let (isFirst, wasQuiet) = state.withLock { state in
            defer {
                state.isQuiet = false
                if state.isOpen { state.requests.append(request) }
            }
            return (state.requests.isEmpty, state.isQuiet)
        }
        // A request that already waits has given these signals.
        if isFirst { wakes.continuation.yield() }
        if wasQuiet { stirs.continuation.yield() }
    }
}

// MARK: - Calls

extension PresenceTracker {
    /// Runs a request, and waits until the events of its changes are appended.
    ///
    /// - Throws: the errors of the store; `.overloaded` when too many requests wait; `.unavailable` when the gateway
    ///   stops.
    @discardableResult
    func perform(
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

    /// Ends the entries that have timed out, and appends their events.
    ///
    /// - Throws: the errors of the store; `.overloaded` when too many requests wait; `.unavailable` when the gateway
    ///   stops.
    public func tick() async throws(ChatError) {
        try await perform { store throws(ChatError) in try await store.expire() }
    }
}

// MARK: - Running

extension PresenceTracker {
    /// Processes requests until cancelled. Must be called only once.
    func run() async {
        var teller = PresenceEvents(limits: limits)
        // The store of a cluster may have entries of other nodes, which can time out before the first request.
        if store.mayExpire {
            state.withLock { $0.isQuiet = false }
            stirs.continuation.yield()
        }
        await withDiscardingTaskGroup { group in
            group.addTask { await self.runTimer() }
            for await _ in wakes.stream { await round(&teller) }
            group.cancelAll()
        }
        let rest = state.withLock { state in
            defer { state = State(isOpen: false) }
            return state.requests
        }
        for request in rest { request.promise?.resume(returning: .failure(.presenceStopped)) }
    }

    /// Checks for timeouts every second. While no timeout is possible, waits for the next request.
    private func runTimer() async {
        for await _ in stirs.stream {
            while !Task.isCancelled {
                // If the task was cancelled, the loop's condition ends the loop.
                try? await Task.sleep(for: .seconds(1))
                guard state.withLock({ !$0.isQuiet }) else { break }
                checkChanges()
            }
        }
    }

    /// Queues a check for timeouts, unless one waits.
    func checkChanges() {
        let request = PresenceRequest(
            origin: PresenceOrigin(), act: { store throws(ChatError) in try await store.expire() }, promise: nil)
        state.withLock { state in
            guard state.isOpen, !state.isCheckQueued else { return }
            state.isCheckQueued = true
            state.requests.append(request)
        }
        wakes.continuation.yield()
    }

    private func round(_ teller: inout PresenceEvents) async {
        let requests = state.withLock { state in
            defer { (state.requests, state.isCheckQueued, state.isRunning) = ([], false, true) }
            return state.requests
        }
        await store.beginRound()
        var answers: [Answer] = []
        for request in requests { answers.append(await perform(request, &teller)) }
        await teller.closeIntervals(store, at: clock.now)
        await teller.report(engine, at: clock.now)
        let isQuiet = teller.isIdle
        // If requests arrived meanwhile, the check stays active for the next round.
        state.withLock { state in
            state.isQuiet = isQuiet && state.requests.isEmpty && !store.mayExpire
            state.isRunning = false
        }
        for (request, answer) in zip(requests, answers) { request.promise?.resume(returning: answer) }
    }

    private func perform(_ request: PresenceRequest, _ teller: inout PresenceEvents) async -> Answer {
        do throws(ChatError) {
            let changes = try await request.act(store)
            await teller.record(changes, request.origin, store, at: clock.now)
            return .success(changes)
        } catch {
            return .failure(error)
        }
    }
}

/// The origin of a presence change: the device, the request and the user.
struct PresenceOrigin: Sendable {
    var device: String?
    var cause: String?
    /// The user who made the change; nil when the user changed their own presence.
    var user: String?
    /// The JSON of the event for the PubNub-compatible API, as the client published it; nil for the standard form.
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
        .overloaded, "too many users join and leave at the same time; try again", retryAfter: .seconds(1))
}
