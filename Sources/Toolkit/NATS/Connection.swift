internal import Locking

/// A connection to core NATS, which delivers each message at most once. The client connects again by itself for as long
/// as the connection is open.
///
/// A message is lost without an error if the connection breaks before it is sent. A subscriber loses messages at the
/// moments that ``ConnectionEvent`` lists.
///
/// No function blocks its thread. A connection that is released without ``close()`` closes in the background.
///
/// ```swift
/// let connection = try await Connection.open(ConnectionSettings(servers: ["nats://127.0.0.1:4222"], name: "node 1"))
/// let subscription = try connection.subscribe("hints.>", pendingBytes: 1 << 20) { payload in … }
/// try await connection.flush()
/// try connection.publish([1, 2, 3], to: "hints.a")
/// await connection.close()
/// ```
public final class Connection: Sendable {
    private let session: Session

    private init(_ session: Session) { self.session = session }

    deinit { session.startClosing() }

    /// Connects to one of the servers.
    ///
    /// With ``ConnectionSettings/retriesFirstConnection``, returns after the first attempt whether or not it succeeded;
    /// only wrong settings and a missing library are errors then.
    ///
    /// - Throws: ``NATSFailure`` when the settings are wrong, the client library is not installed, or no server accepts
    ///   the connection before the deadline.
    public static func open(_ settings: ConnectionSettings) async throws(NATSFailure) -> Connection {
        try settings.check()
        let session = Session(settings)
        let opened = Reply<Void>()
        guard startThread(name: "nats", { SessionThread(session).run(opened) }) else { throw .noThread }
        do throws(NATSFailure) {
            try await opened.wait(within: settings.deadline, for: "connecting to NATS")
        } catch {
            guard settings.retriesFirstConnection, error.kind == .timeout else {
                session.startClosing()
                throw error
            }
        }
        return Connection(session)
    }

    /// True if there is a connection to a server, as far as the client knows. A silent link is noticed after about 15
    /// seconds.
    public var isConnected: Bool { session.isConnected }

    /// Hands a message to the client, which sends it within a few milliseconds. Never waits for the server. Messages
    /// of one connection are sent in the order of the calls.
    ///
    /// - Parameters:
    ///   - payload: at most the size that the server accepts, which is 1 MiB by default.
    ///   - subject: parts joined by dots, at most 1024 bytes, without wildcards.
    /// - Throws: ``NATSFailure`` when there is no connection, the buffer is full, the payload is too large or the
    ///   subject is not valid.
    public func publish(_ payload: [UInt8], to subject: String) throws(NATSFailure) {
        try session.publish(payload, to: subject)
    }

    /// Starts a subscription, which lasts until ``Subscription/end()`` or ``close()``. It is active at the server when
    /// a later ``flush()`` has returned. Without a connection to a server, it becomes active with the next one, before
    /// ``ConnectionEvent/reconnected``.
    ///
    /// - Parameters:
    ///   - subject: parts joined by dots, at most 1024 bytes. `*` stands for one part, and a last part `>` for one or
    ///     more.
    ///   - pendingBytes: the maximum size in bytes of the messages that wait for `receive`. Further messages are
    ///     dropped, with ``ConnectionEvent/slowConsumer``. It must exceed the size of the largest message.
    ///   - receive: called for each message, in order, on a thread of the subscription. It may block.
    /// - Throws: ``NATSFailure`` when a parameter is wrong or the connection is closed.
    public func subscribe(
        _ subject: String, pendingBytes: Int, _ receive: @escaping @Sendable ([UInt8]) -> Void
    ) throws(NATSFailure) -> Subscription {
        let receiver = Receiver(session, subject: subject, pendingBytes: pendingBytes, receive)
        return Subscription(session, try session.subscribe(receiver))
    }

    /// Returns when the server has processed everything that this connection sent before. A subscription is active
    /// then.
    ///
    /// - Throws: ``NATSFailure`` when there is no connection, the connection breaks or the deadline passes.
    public func flush() async throws(NATSFailure) { try await session.flush() }

    /// Sends the messages that were published before, and closes the connection within the deadline. When it returns,
    /// no closure of a subscription is running, and none is called again; the same holds for
    /// ``ConnectionSettings/onEvent``. It waits without a limit for a closure that is running. A second call has no
    /// effect.
    public func close() async { await session.close() }
}

/// A running subscription of a ``Connection``.
public final class Subscription: Sendable {
    private let session: Session
    private let number: UInt

    init(_ session: Session, _ number: UInt) {
        self.session = session
        self.number = number
    }

    /// Ends the subscription. When it returns, the closure is not running and is never called again. It waits without
    /// a limit for a call that is running. A second call has no effect.
    public func end() async { await session.unsubscribe(number) }
}
