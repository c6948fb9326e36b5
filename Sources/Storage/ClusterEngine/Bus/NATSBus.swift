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

    private struct Receivers: Sendable {
        var lost: @Sendable () -> Void = {}
        var subscription: Subscription?
    }

    private let connection: Connection
    private let subject: String
    private let receivers: Lock<Receivers>
    private let logger: Logger

    private init(_ connection: Connection, subject: String, receivers: Lock<Receivers>, logger: Logger) {
        self.connection = connection
        self.subject = subject
        self.receivers = receivers
        self.logger = logger
    }

    /// Opens the connection of a node. If no server can be reached, the connection is made later.
    ///
    /// - Parameters:
    ///   - servers: the URLs of the servers.
    ///   - installation: the identity of the cluster. Several clusters may share NATS servers.
    static func open(
        _ servers: [String], installation: String, deadline: Duration, logger: Logger
    ) async throws(ClusterEngineFailure) -> NATSBus {
        let receivers = Lock(Receivers())
        var settings = ConnectionSettings(servers: servers, name: "parley")
        settings.deadline = deadline
        settings.retriesFirstConnection = true
        settings.onEvent = { event in
            switch event {
            case .reconnected, .slowConsumer: receivers.withLock { $0.lost }()
            case .disconnected:
                receivers.withLock { $0.lost }()
                logger.warning("the connection to NATS is lost; nodes read the store meanwhile")
            case .refused(let failure):
                logger.warning("NATS refuses the connection", metadata: ["failure": "\(failure.message)"])
            }
        }
        do throws(NATSFailure) {
            let connection = try await Connection.open(settings)
            return NATSBus(
                connection, subject: "parley.\(installation).log", receivers: receivers, logger: logger)
        } catch {
            throw .bus(error.message)
        }
    }

    var isConnected: Bool { connection.isConnected }

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
        do throws(NATSFailure) {
            let subscription = try connection.subscribe(subject, pendingBytes: Self.pendingBytes, receive)
            receivers.withLock { $0 = Receivers(lost: lost, subscription: subscription) }
            // Returns when the server knows the subscription. Without a server, it is made with the connection.
            if connection.isConnected { try await connection.flush() }
        } catch {
            logger.warning("hints of other nodes cannot be received", metadata: ["failure": "\(error.message)"])
        }
    }

    func close() async {
        await receivers.withLock { $0.subscription }?.end()
        await connection.close()
    }
}
