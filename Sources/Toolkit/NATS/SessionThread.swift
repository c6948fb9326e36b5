internal import Locking

/// The thread of a ``Session``. It connects, runs the jobs, and connects again when the library has given up.
struct SessionThread {
    private let session: Session
    private var state: Monitor<Session.State> { session.state }

    init(_ session: Session) { self.session = session }

    /// Runs until the connection is closed, or until it could not be opened.
    ///
    /// - Parameter opened: receives the result of the first attempt.
    func run(_ opened: Reply<Void>) {
        defer { end() }
        while !state.withLock({ $0.isClosing }) {
            state.withLock { $0.link = .opening }
            let number = Session.table.add(session)
            defer { Session.table.remove(number) }
            do throws(NATSFailure) {
                let client = try Client(
                    session.settings, library: try NATSLibrary.shared.get(), session: number)
                let subscriptions = serve(client, opened)
                Session.table.remove(number)
                client.close()
                for subscription in subscriptions.all { subscription.destroy() }
                // The flushes end, because the connection is closed.
                state.wait { $0.flushes == 0 ? .done(()) : .sleep }
                client.destroy()
            } catch {
                guard goesOn(after: error, opened) else { return }
            }
            dropJobs()
            pause()
        }
    }

    /// Decides whether to try again, and reports a failure that is not just the absence of a server.
    private func goesOn(after failure: NATSFailure, _ opened: Reply<Void>) -> Bool {
        let isPermanent = failure.kind == .libraryMissing || failure.kind == .invalid
        if !session.settings.retriesFirstConnection || isPermanent, opened.finish(.failure(failure)) { return false }
        opened.finish(.success(()))
        if failure.kind != .unreachable, failure.kind != .timeout { session.events.call(.refused(failure)) }
        return true
    }

    /// Waits 100 to 500 ms, unless the connection is closed meanwhile.
    private func pause() {
        let end = MonotonicTime.now + .milliseconds(.random(in: 100...500))
        state.wait { state in
            state.isClosing || end <= .now ? .done(()) : .sleepUntil(end.nanoseconds)
        }
    }

    /// The subscriptions of one client.
    private struct Subscriptions {
        var active: [UInt: ClientSubscription] = [:]
        /// Those that have ended and could not be destroyed yet.
        var ended: [ClientSubscription] = []
        var all: [ClientSubscription] { active.values + ended }
    }

    /// Runs jobs until the connection is closed or the library has given up.
    ///
    /// - Returns: the subscriptions, to be destroyed after the client is closed.
    private func serve(_ client: Client, _ opened: Reply<Void>) -> Subscriptions {
        var subscriptions = Subscriptions()
        for number in state.withLock({ $0.receivers.keys.sorted() }) { subscribe(number, client, &subscriptions) }
        let isConnected = client.isConnected
        let maxPayload = client.maxPayload
        state.withLock { state in
            // The connection may already be lost, and its callback called.
            guard isConnected, state.link == .opening else { return }
            state.link = .up
            state.maxPayload = maxPayload
        }
        // If `open` has returned before, the connection is an event.
        if !opened.finish(.success(())), isConnected { session.events.call(.reconnected) }
        while let jobs = nextJobs() {
            run(jobs, client, &subscriptions)
            let size = jobs.reduce(0) { $0 + $1.size }
            state.withLock { $0.bufferedBytes -= size }
        }
        return subscriptions
    }

    private func nextJobs() -> [Session.Job]? {
        state.wait { state in
            if state.link == .ended { return .done(nil) }
            if state.jobs.isEmpty { return state.isClosing ? .done(nil) : .sleep }
            defer { state.jobs = [] }
            return .done(state.jobs)
        }
    }

    private func run(_ jobs: [Session.Job], _ client: Client, _ subscriptions: inout Subscriptions) {
        // After a failed message, the connection is broken, and the other messages are lost as well.
        var isSending = true
        for job in jobs {
            switch job {
            case .publish(let payload, let subject):
                isSending = isSending && client.isConnected && client.publish(payload, to: subject)
            case .subscribe(let number):
                subscribe(number, client, &subscriptions)
            case .unsubscribe(let number):
                unsubscribe(number, client, &subscriptions)
            case .flush(let reply, let deadline):
                flush(client, reply, deadline)
            }
        }
    }

    private func subscribe(_ number: UInt, _ client: Client, _ subscriptions: inout Subscriptions) {
        // The receiver has been subscribed with the connection, or the subscription has ended.
        guard subscriptions.active[number] == nil, let receiver = state.withLock({ $0.receivers[number] }) else {
            return
        }
        receiver.prepare()
        subscriptions.active[number] = client.subscribe(
            receiver.subject, pendingBytes: receiver.pendingBytes, receiver: number)
    }

    private func unsubscribe(_ number: UInt, _ client: Client, _ subscriptions: inout Subscriptions) {
        guard let subscription = subscriptions.active.removeValue(forKey: number) else { return }
        subscription.end()
        subscriptions.ended.append(subscription)
        // Without an answer within a second, they are destroyed later.
        guard client.isConnected, (try? client.flush(milliseconds: 1000)) != nil else { return }
        for subscription in subscriptions.ended { subscription.destroy() }
        subscriptions.ended = []
    }

    /// Flushes on a thread of its own, so that messages published meanwhile do not wait.
    private func flush(_ client: Client, _ reply: Reply<Void>, _ deadline: MonotonicTime) {
        let now = MonotonicTime.now
        guard now < deadline else { return }
        guard client.isConnected else {
            reply.finish(.failure(.notConnected))
            return
        }
        let milliseconds = Int64((deadline.nanoseconds - now.nanoseconds) / 1_000_000)
        let state = state
        state.withLock { $0.flushes += 1 }
        let isStarted = startThread(name: "nats-flush") {
            do throws(NATSFailure) {
                try client.flush(milliseconds: max(1, milliseconds))
                reply.finish(.success(()))
            } catch {
                reply.finish(.failure(error))
            }
            state.withLock { $0.flushes -= 1 }
            state.wakeAll()
        }
        guard !isStarted else { return }
        state.withLock { $0.flushes -= 1 }
        reply.finish(.failure(.noThread))
    }

    /// Drops what waits for a connection that has ended. The next one subscribes all receivers by itself.
    private func dropJobs() {
        let jobs = state.withLock { state in
            state.bufferedBytes = 0
            defer { state.jobs = [] }
            return state.jobs
        }
        for case .flush(let reply, _) in jobs { reply.finish(.failure(.notConnected)) }
    }

    private func end() {
        dropJobs()
        let closings = state.withLock { state in
            state.isClosing = true
            state.isOver = true
            defer { (state.closings, state.receivers) = ([], [:]) }
            return state.closings
        }
        for reply in closings { reply.finish(.success(())) }
    }
}
