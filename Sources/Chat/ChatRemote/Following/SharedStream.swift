import ChatKit
import ChatModel
import GatewayClient
import JSON
import Locking

/// One gateway stream for many listeners. After a disconnection, it continues from the last position. Its selection
/// (channels and types) changes as listeners are added and removed.
///
/// One task reads the stream, and a second task updates the stream's selection for the listeners.
///
/// A listener is *admitted* at a position that the gateway returns once the stream includes the listener's selection.
/// From this position on, the listener receives the stream's events. A listener with an earlier start position reads
/// the events between the start position and the position of its admission separately (`MissedEvents`).
final class SharedStream: Sendable {
    typealias Number = Int

    /// The time without data after which a connection is considered dead. Used until the gateway has sent its heartbeat
    /// interval.
    static let silence = Duration.seconds(45)
    /// The maximum `Retry-After` of a gateway for which the stream waits. An error with a longer `Retry-After` is
    /// final.
    private static let longestWait = Duration.seconds(300)
    /// The maximum number of consecutive reconnections after the gateway ended the stream because of its credential.
    private static let mostExpulsions = 3

    struct Member: Sendable {
        let selection: EventSelection
        let queue: ListenerQueue
        let wanted: ListenerSelection
        /// The position in the event log after which the listener starts; nil starts with new events.
        var since: Timetoken?
        /// The position at which the listener was admitted; nil until then.
        var floor: Timetoken?
        var isAdmitted: Bool { floor != nil }

        init(_ selection: EventSelection, _ queue: ListenerQueue, since: Timetoken?) {
            self.selection = selection
            self.queue = queue
            self.since = since
            wanted = ListenerSelection(selection)
        }
    }

    /// The listeners that one request to the gateway serves, and the selection of events that they need together.
    private struct Plan {
        var members: Set<Number>
        var followed: StreamSelection
        var cursor: Timetoken?
    }

    private struct State {
        var members: [Number: Member] = [:]
        /// The position in the event log up to which all events were delivered to the listeners. Nil before the first
        /// connection, and after the gateway has rejected the common selection of several listeners.
        var cursor: Timetoken?
        /// The id and the selection of the open stream. The selection is nil when the gateway has removed channels from
        /// it.
        var live: (id: String, followed: StreamSelection?)?
        /// The reason why no stream is open; nil while a stream is open.
        var failure: ChatError?
        /// True when listeners are admitted one at a time, because the gateway has rejected several of them together.
        var isCareful = false
        var isOver = false

        private func plan(_ numbers: some Collection<Number>) -> Plan {
            let selections = numbers.compactMap { members[$0]?.selection }
            return Plan(members: Set(numbers), followed: StreamSelection(selections), cursor: cursor)
        }

        private var waiting: [Number] { members.filter { !$0.value.isAdmitted }.map(\.key).sorted() }

        mutating func admit(_ numbers: some Sequence<Number>, at floor: Timetoken) {
            for number in numbers {
                guard var member = members[number], !member.isAdmitted else { continue }
                member.queue.admit(at: floor, since: member.since)
                member.floor = floor
                members[number] = member
            }
        }

        /// Ends the admission of listeners to the current connection. Each of these listeners will be admitted again
        /// and continues from its own position.
        ///
        /// - Parameter isConcerned: returns true for a listener whose admission must end. Selects all by default.
        mutating func suspend(where isConcerned: (Member) -> Bool = { _ in true }) {
            for (number, var member) in members where member.isAdmitted && isConcerned(member) {
                member.since = member.queue.suspend()
                member.floor = nil
                members[number] = member
            }
        }

        /// Returns the listeners and the selection of the next connection, or nil when there are no listeners.
        mutating func opening() -> Plan? {
            guard !members.isEmpty, !isOver else {
                isOver = true
                return nil
            }
            guard isCareful else { return plan(members.keys) }
            let admitted = members.filter(\.value.isAdmitted).map(\.key)
            return admitted.isEmpty ? plan(waiting.prefix(1)) : plan(admitted)
        }

        /// Returns the change of the open stream's selection that the listeners need, or nil for none.
        mutating func change() -> (stream: String, plan: Plan, waiting: [Number], isNew: Bool)? {
            guard let live else { return nil }
            let waiting = isCareful ? Array(waiting.prefix(1)) : waiting
            if waiting.isEmpty { isCareful = false }
            let plan = plan(members.filter(\.value.isAdmitted).map(\.key) + waiting)
            guard !waiting.isEmpty || plan.followed != live.followed, !plan.members.isEmpty else { return nil }
            return (live.id, plan, waiting, plan.followed != live.followed)
        }
    }

    private let gateway: GatewayConnection
    private let key: StreamKey
    private let device: (user: String, id: String)
    private let state = Lock(State())
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private let tasks = Lock<[Task<Void, Never>]>([])
    /// Moves a listener from this stream to another stream. Called when the gateway refuses to add the listener's
    /// selection to the selection of this stream.
    private let moveOut: @Sendable (SharedStream, Number, Member) -> Void

    init(
        _ gateway: GatewayConnection, _ key: StreamKey, device: (user: String, id: String),
        moveOut: @escaping @Sendable (SharedStream, Number, Member) -> Void
    ) {
        self.gateway = gateway
        self.key = key
        self.device = device
        self.moveOut = moveOut
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Starts to connect. Called once, after the first listener is added.
    func start() {
        tasks.withLock { $0 = [Task { await run() }, Task { await keepInStep() }] }
    }

    /// Adds a listener. Returns false when the stream has ended.
    func add(_ number: Number, _ member: Member) -> Bool {
        let isOver = state.withLock { state in
            guard !state.isOver else { return true }
            state.members[number] = member
            if let obstacle = state.failure { member.queue.report(.interrupted(obstacle)) }
            return false
        }
        wake.yield()
        return !isOver
    }

    func remove(_ number: Number) {
        state.withLock { $0.members[number] = nil }
        wake.yield()
    }

    /// Ends the stream after its last listener has left.
    func stop() {
        state.withLock { $0.isOver = true }
        wake.finish()
        for task in tasks.withLock({ $0 }) { task.cancel() }
    }
}

// MARK: - Reading

extension SharedStream {
    /// The number of consecutive failures of the stream, and the number of consecutive times that the gateway has ended
    /// the stream because of its credential (`expulsions`). `silence` and `closing` are values of the last connection.
    private struct FailureStreak {
        var failures = 0
        var expulsions = 0
        var silence = SharedStream.silence
        var closing: StreamClosing?

        mutating func reset() {
            failures = 0
            expulsions = 0
        }
    }

    private func run() async {
        var failureStreak = FailureStreak()
        while let plan = state.withLock({ $0.opening() }) {
            do throws(ChatError) {
                try await follow(plan, &failureStreak)
            } catch {
                state.withLock { $0.live = nil }
                guard await recover(from: error, plan, &failureStreak) else { break }
            }
        }
        wake.finish()
    }

    private func follow(_ plan: Plan, _ failureStreak: inout FailureStreak) async throws(ChatError) {
        let path = RequestPath("stream").following(plan.followed, key, device)
            .adding("cursor", plan.cursor?.description)
        // WHATWG HTML, section 9.2.3: status 204 tells a client to stop reconnecting.
        guard let stream = try await gateway.events(path, silence: failureStreak.silence) else { return end(nil) }
        failureStreak.closing = nil
        do throws(ChatError) {
            while let lines = try await gateway.lines(of: stream) {
                var events: [LiveEvent] = []
                for line in lines {
                    switch line {
                    case .heartbeat: failureStreak.reset()
                    case .unknown, .tooLong: break
                    case .event(let document):
                        failureStreak.reset()
                        if let event = LiveEvent(document) { events.append(event) }
                    case .control(let name, let data):
                        deliver(events)
                        events = []
                        handleControl(name, data, plan, &failureStreak)
                    }
                }
                deliver(events)
            }
        } catch {
            throw failureStreak.closing?.error ?? error
        }
        if failureStreak.closing?.reason == "unauthorized" { try await gateway.renew(insteadOf: stream.token) }
        throw failureStreak.closing?.error ?? ChatError(.unavailable, "the gateway ended the stream")
    }

    private func deliver(_ events: [LiveEvent]) {
        guard !events.isEmpty else { return }
        state.withLock { state in
            // Uses the greatest timetoken, because an event that the gateway delayed for a device is older than the
            // event before it.
            state.cursor = events.lazy.map(\.timetoken).reduce(state.cursor ?? .zero, max)
            for member in state.members.values {
                let wanted = events.filter { member.wanted.admits($0) }
                if !wanted.isEmpty { member.queue.offer(wanted) }
            }
        }
    }

    private func handleControl(_ name: String, _ data: JSONValue, _ plan: Plan, _ failureStreak: inout FailureStreak) {
        switch name {
        case "stream.ready":
            failureStreak.failures = 0
            if let tick = data["heartbeat_seconds"]?.integer, (1...3600).contains(tick) {
                failureStreak.silence = max(Self.silence, .seconds(tick) * 3)
            }
            connected(as: data["stream"]?.string ?? "", at: data.position("cursor") ?? plan.cursor ?? .zero, plan)
        case "stream.gap":
            state.withLock { state in
                state.cursor = data.position("resumed_from") ?? state.cursor
                for member in state.members.values where member.isAdmitted {
                    member.queue.report(.connected(at: state.cursor ?? .zero, hasGap: true))
                }
            }
        case "stream.changed": changed(data)
        case "stream.closing": failureStreak.closing = StreamClosing(data)
        default: break
        }
    }

    private func connected(as id: String, at cursor: Timetoken, _ plan: Plan) {
        state.withLock { state in
            state.live = (id, plan.followed)
            state.failure = nil
            for member in state.members.values where member.isAdmitted {
                member.queue.report(.connected(at: cursor, hasGap: false))
            }
            // On the first connection, the listeners for which it was opened start at its position.
            if plan.cursor == nil { state.admit(plan.members, at: cursor) }
            state.cursor = cursor
        }
        wake.yield()
    }

    /// Handles a change of the selection by the gateway. Either the channels of the channel groups have changed, or the
    /// user may no longer read some channels. The listeners of channels that the user may no longer read are suspended;
    /// the gateway rejects them when they are admitted again.
    private func changed(_ data: JSONValue) {
        guard let cursor = data.position("cursor"), let channels = data["channels"]?.elements else { return }
        if case .groups = key.scope {
            let names = channels.compactMap(\.string).sorted()
            state.withLock { state in
                for member in state.members.values { member.queue.report(.channelsChanged(names)) }
            }
            return
        }
        guard key.scope == .named else { return }
        let followed = channels.compactMap { $0.string.flatMap { NamePattern($0) } }
        state.withLock { state in
            // Listeners that were admitted later are not affected: the response to a change may arrive before the
            // stream's message about an earlier change.
            func isLeftOut(_ member: Member) -> Bool {
                member.floor.map { $0 <= cursor } ?? false && !member.wanted.isCovered(by: followed)
            }
            guard state.members.values.contains(where: isLeftOut) else { return }
            state.live?.followed = nil
            state.suspend(where: isLeftOut)
        }
        wake.yield()
    }

    /// Handles the end of a connection. Returns true to reconnect, and false when the stream has ended.
    private func recover(from error: ChatError, _ plan: Plan, _ failureStreak: inout FailureStreak) async -> Bool {
        let closing = failureStreak.closing
        failureStreak.closing = nil
        if let closing, closing.isFinal {
            failureStreak.expulsions += 1
            guard closing.reason == "unauthorized", failureStreak.expulsions <= Self.mostExpulsions else {
                end(error)
                return false
            }
            // After a reconnection, the gateway rejects the listeners that are no longer allowed.
        } else if error.code == .gone {
            end(nil)
            return false
        } else if !error.isPassing || (error.retryAfter ?? .zero) > Self.longestWait {
            return refused(plan, error)
        }
        failureStreak.failures += 1
        guard let pause = gateway.retry.delay(after: failureStreak.failures) else {
            end(error)
            return false
        }
        if failureStreak.failures == 1 {
            state.withLock { state in
                state.failure = error
                // Reports the interruption before the pause, so that the listeners know about it immediately.
                for member in state.members.values { member.queue.report(.interrupted(error)) }
            }
        }
        guard await gateway.pause(max(error.retryAfter ?? .zero, pause)) else {
            end(nil)
            return false
        }
        return true
    }

    /// Handles an error that ends listeners. If the credential is rejected or the required wait is too long, all
    /// listeners end. If the selection of a single listener is rejected, this listener ends. If the common selection of
    /// several listeners is rejected, they are admitted again one at a time. Returns true when the stream continues.
    private func refused(_ plan: Plan, _ error: ChatError) -> Bool {
        guard error.code != .unauthorized, !error.isPassing else {
            end(error)
            return false
        }
        state.withLock { state in
            if plan.members.count == 1 {
                for number in plan.members { state.members.removeValue(forKey: number)?.queue.end(error) }
            } else {
                state.isCareful = true
                state.cursor = nil
                state.suspend()
            }
        }
        return true
    }

    private func end(_ error: ChatError?) {
        let members = state.withLock { state in
            state.isOver = true
            defer { state.members = [:] }
            return Array(state.members.values)
        }
        for member in members { member.queue.end(error) }
        wake.finish()
    }
}

// MARK: - Selection changes

extension SharedStream {
    private func keepInStep() async {
        var failures = 0
        for await _ in wakes {
            while let change = state.withLock({ $0.change() }) {
                do throws(ChatError) {
                    if change.isNew { try await follow(change.plan.followed, on: change.stream) }
                    if !change.waiting.isEmpty { try await admit(change.waiting, to: change.stream) }
                    failures = 0
                } catch {
                    // The stream has ended. The next connection is opened for all listeners and wakes this task.
                    if error.code == .notFound || error.code == .gone { break }
                    if error.isPassing {
                        failures += 1
                        guard await gateway.pause(gateway.retry.pause(after: failures)) else { return }
                    } else {
                        refused(change.waiting, error)
                        if change.waiting.isEmpty { break }
                    }
                }
            }
        }
    }

    /// Changes the selection of the open stream.
    private func follow(_ followed: StreamSelection, on stream: String) async throws(ChatError) {
        let body = JSONText { writer in
            writer.beginObject()
            if key.scope == .named { writer.member("channels", followed.channelNames) }
            writer.member("types", followed.typeNames)
            writer.endObject()
        }
        var call = Call("PATCH", RequestPath("streams", stream), body: body)
        call.isHarmless = true
        _ = try await gateway.send(call)
        state.withLock { state in if state.live?.id == stream { state.live?.followed = followed } }
    }

    /// Admits listeners at a position that the gateway returns now, when the stream already includes their selections.
    private func admit(_ numbers: [Number], to stream: String) async throws(ChatError) {
        let selections = state.withLock { state in numbers.compactMap { state.members[$0]?.selection } }
        guard let one = selections.first else { return }
        let path = RequestPath("poll").following(StreamSelection([one]), key, device)
        let now = try await gateway.send(Call("GET", path)).timetoken("cursor")
        state.withLock { state in
            // A newer connection may not include the whole selection yet.
            if state.live?.id == stream { state.admit(numbers, at: now) }
        }
    }

    private func refused(_ waiting: [Number], _ error: ChatError) {
        let (refused, isAlone) = state.withLock { state -> ([(Number, Member)], Bool) in
            guard waiting.count == 1 else {
                state.isCareful = true
                return ([], false)
            }
            let isAlone = state.members.count == 1
            return (
                waiting.compactMap { number in state.members.removeValue(forKey: number).map { (number, $0) } }, isAlone
            )
        }
        for (number, member) in refused {
            if isAlone || error.code == .unauthorized { member.queue.end(error) } else { moveOut(self, number, member) }
        }
    }
}
