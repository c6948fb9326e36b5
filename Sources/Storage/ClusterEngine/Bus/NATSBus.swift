import Locking
import Logging
import NATS

/// The bus of a cluster over core NATS. JetStream is not needed: hints may be lost.
final class NATSBus: ClusterBus {
    /// The largest hint. The limit of NATS is 1 MiB by default.
    private static let hintBytes = 900 * 1024
    /// The memory for hints that wait to be received. When it is full, hints are lost.
    private static let pendingBytes = 64 * 1024 * 1024
    /// Tells the receivers to read the store. Sent in the place of a hint that is too large.
    private static let look: [UInt8] = [0]

    private let connection: Connection
    private let subject: String
    private let state: BusState
    private let denialRetry: Duration
    private let logger: Logger
    /// Subscribes again after a denial.
    private let retries = Lock<Task<Void, Never>?>(nil)

    private init(
        _ connection: Connection, subject: String, state: BusState, denialRetry: Duration, logger: Logger
    ) {
        self.connection = connection
        self.subject = subject
        self.state = state
        self.denialRetry = denialRetry
        self.logger = logger
    }

    /// Opens the connection of a node. If no server can be reached, the connection is made later.
    ///
    /// - Parameters:
    ///   - installation: the identity of the cluster.
    ///   - denialRetry: the time after which a subject that the server has denied is tried again.
    static func open(
        _ settings: BusSettings, installation: String, deadline: Duration, denialRetry: Duration = .seconds(30),
        logger: Logger
    ) async throws(ClusterEngineFailure) -> NATSBus {
        let state = BusState(logger)
        do throws(NATSFailure) {
            var connection = try settings.connection(deadline: deadline) { state.handle($0) }
            connection.retriesFirstConnection = true
            return NATSBus(
                try await Connection.open(connection), subject: BusSubjects(installation: installation).log,
                state: state, denialRetry: denialRetry, logger: logger)
        } catch {
            throw .bus(error.message)
        }
    }

    var problem: String? {
        connection.isConnected ? state.denial : state.refusal ?? "no NATS server can be reached"
    }

    func publish(_ hint: [UInt8]) {
        guard connection.isConnected else { return }
        do throws(NATSFailure) {
            try connection.publish(hint.count > Self.hintBytes ? Self.look : hint, to: subject)
        } catch {
            // The other nodes find the commit in the store.
            logger.debug("a hint was not sent", metadata: ["failure": "\(error.message)"])
        }
    }

    func start(
        receive: @escaping @Sendable ([UInt8]) -> Void, lost: @escaping @Sendable () -> Void
    ) async {
        state.setLost(lost)
        await subscribe(receive)
        let retry = Task { [weak self, denialRetry, state] in
            while !Task.isCancelled {
                await state.denied.wait()
                do { try await Task.sleep(for: denialRetry) } catch { return }
                // The permissions may have been changed while the connection was open. The server does not restore a
                // subscription that it has denied.
                state.forgetDenials()
                await self?.subscribe(receive)
                lost()
            }
        }
        retries.withLock { $0 = retry }
    }

    /// Starts the subscription, and ends the one before.
    private func subscribe(_ receive: @escaping @Sendable ([UInt8]) -> Void) async {
        do throws(NATSFailure) {
            let subscription = try connection.subscribe(subject, pendingBytes: Self.pendingBytes, receive)
            await state.replaceSubscription(subscription)?.end()
            // Returns when the server knows the subscription. Without a server, it is made with the connection.
            if connection.isConnected { try await connection.flush() }
        } catch {
            logger.warning("hints of other nodes cannot be received", metadata: ["failure": "\(error.message)"])
        }
    }

    func close() async {
        let retry = retries.withLock { $0 }
        retry?.cancel()
        await retry?.value
        await state.replaceSubscription(nil)?.end()
        await connection.close()
    }
}

/// The state of a node's connection to NATS.
private final class BusState: Sendable {
    private struct State: Sendable {
        var lost: @Sendable () -> Void = {}
        var subscription: Subscription?
        /// The reason why no server accepts the connection; nil while there is one.
        var refusal: String?
        /// The server's texts about subjects without permission.
        var denials: Set<String> = []
    }

    private let state = Lock(State())
    private let logger: Logger
    /// Sent after the first denial.
    let denied = AsyncSignal()

    init(_ logger: Logger) { self.logger = logger }

    var refusal: String? { state.withLock { $0.refusal } }
    var denial: String? {
        let denials = state.withLock { $0.denials }
        return denials.isEmpty ? nil : denials.sorted().joined(separator: "; ")
    }

    func forgetDenials() { state.withLock { $0.denials = [] } }
    func setLost(_ lost: @escaping @Sendable () -> Void) { state.withLock { $0.lost = lost } }

    func replaceSubscription(_ subscription: Subscription?) -> Subscription? {
        state.withLock { state in
            defer { state.subscription = subscription }
            return state.subscription
        }
    }

    /// Handles an event of the connection. A failure that repeats is logged once until the connection works again.
    func handle(_ event: ConnectionEvent) {
        switch event {
        case .slowConsumer: reportLoss()
        case .reconnected:
            state.withLock { $0.refusal = nil }
            reportLoss()
            logger.notice("the connection to NATS is made")
        case .disconnected:
            // The next connection subscribes again, and may be denied again.
            state.withLock { $0.denials = [] }
            reportLoss()
            logger.warning("the connection to NATS is lost; this node asks PostgreSQL for new commits meanwhile")
        case .refused(let failure):
            let isNew = state.withLock { state in
                defer { state.refusal = failure.message }
                return state.refusal != failure.message
            }
            guard isNew else { return }
            logger.warning("NATS refuses the connection", metadata: ["failure": "\(failure.message)"])
        case .denied(let text):
            guard state.withLock({ $0.denials.insert(text).inserted }) else { return }
            logger.error(
                "NATS denies a subject: grant publish and subscribe on parley.> to the user of the nodes; nodes read the store meanwhile",
                metadata: ["failure": "\(text)"])
            denied.send()
        }
    }

    private func reportLoss() { state.withLock { $0.lost }() }
}
