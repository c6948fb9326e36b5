internal import CNATS
internal import Glibc

/// One connection of libnats. Its functions block, some of them until the deadline.
struct Client: @unchecked Sendable {
    // Safe to share: the functions may be called from any thread until `destroy`, which is called last.
    private let library: NATSLibrary
    private let connection: OpaquePointer
    private let secrets: [String]

    /// Connects to one of the servers.
    ///
    /// - Parameter number: the number of the session in ``Session/table``, for its events.
    /// - Throws: ``NATSFailure``, without secrets.
    init(_ settings: ConnectionSettings, library: NATSLibrary, session number: UInt) throws(NATSFailure) {
        self.library = library
        secrets = settings.secrets
        var created: OpaquePointer?
        let status = library.createOptions(&created)
        guard status == NATS_OK, let options = created else {
            throw library.failure(status, in: "starting the client library", hiding: [])
        }
        defer { library.destroyOptions(options) }
        try Self.set(options, settings, library, session: number)
        var connected: OpaquePointer?
        var result = library.connect(&connected, options)
        if result == NATS_CONNECTION_AUTH_FAILED, settings.signs {
            // libnats 3.4 does not send a signature that begins with a zero byte, which is one in 256.
            result = library.connect(&connected, options)
        }
        guard result == NATS_OK, let connected else {
            throw library.failure(result, in: "connecting", hiding: settings.secrets)
        }
        connection = connected
    }

    private static func set(
        _ options: OpaquePointer, _ settings: ConnectionSettings, _ library: NATSLibrary, session number: UInt
    ) throws(NATSFailure) {
        let context = CallbackTable<Session>.pointer(number)
        func check(_ status: natsStatus, _ operation: String) throws(NATSFailure) {
            guard status != NATS_OK else { return }
            let failure = library.failure(status, in: operation, hiding: settings.secrets)
            throw NATSFailure(.invalid, failure.message)
        }
        let servers = settings.servers.map { strdup($0) }
        defer { for server in servers { free(server) } }
        var pointers = servers.map { UnsafePointer<CChar>($0) }
        try check(library.setServers(options, &pointers, Int32(pointers.count)), "setting the servers")
        try check(library.setName(options, settings.name), "setting the name")
        switch settings.credentials {
        case .none: break
        case .password(let user, let password):
            try check(library.setUser(options, user, password), "setting the user")
        case .token(let token):
            try check(library.setToken(options, token), "setting the token")
        case .file(let path):
            try check(library.setCredentialFiles(options, path, nil), "setting the credentials file")
        case .key(let publicKey, let seedFile):
            try check(library.setKey(options, publicKey, seedFile), "setting the user key")
        }
        if settings.usesTLS {
            try check(library.setSecure(options, true), "setting up TLS")
            if let authorities = settings.tls?.authorities {
                try check(library.loadAuthorities(options, authorities), "reading the authorities")
            }
            if let certificate = settings.tls?.certificate, let key = settings.tls?.key {
                try check(library.loadCertificate(options, certificate, key), "reading the client certificate")
            }
        }
        let deadline = settings.deadlineMilliseconds
        for status in [
            // The servers are tried one after the other, and the whole attempt has one deadline.
            library.setTimeout(options, max(100, deadline / Int64(settings.servers.count))),
            library.setWriteDeadline(options, deadline),
            // A silent link is noticed after about 15 s: the client gives up when the third PING is due.
            library.setPingInterval(options, 5000),
            library.setMaxPingsOut(options, 2),
            // Unlimited attempts, with 100 to 500 ms between two rounds.
            library.setMaxReconnect(options, -1),
            library.setReconnectWait(options, 100),
            library.setReconnectJitter(options, 400, 400),
            // One message at most waits for the next connection. More of them are worthless by then.
            library.setReconnectBufferSize(options, 1),
            library.setDisconnected(options, onDisconnected, context),
            library.setReconnected(options, onReconnected, context),
            library.setClosed(options, onClosed, context),
            library.setError(options, onError, context),
        ] {
            try check(status, "setting the options")
        }
    }

    /// True if there is a connection to a server.
    var isConnected: Bool { library.connectionStatus(connection) == NATS_CONN_STATUS_CONNECTED }

    /// The maximum size of a payload in bytes, as the server has stated it.
    var maxPayload: Int { Int(library.maxPayload(connection)) }

    /// Hands a message to the library.
    ///
    /// - Returns: false if the message is lost.
    func publish(_ payload: [UInt8], to subject: String) -> Bool {
        library.publish(connection, subject, payload, Int32(payload.count)) == NATS_OK
    }

    /// Waits until the server has processed everything that was sent before.
    ///
    /// - Throws: ``NATSFailure/Kind/timeout``, ``NATSFailure/Kind/notConnected`` or ``NATSFailure/Kind/closed``.
    func flush(milliseconds: Int64) throws(NATSFailure) {
        let status = library.flush(connection, milliseconds)
        if status != NATS_OK { throw library.failure(status, in: "flushing", hiding: secrets) }
    }

    /// Starts a subscription.
    ///
    /// - Parameters:
    ///   - pendingBytes: the maximum size in bytes of the messages that wait for the receiver.
    ///   - number: the number of the receiver in ``Receiver/table``.
    /// - Returns: nil if the connection has ended.
    func subscribe(_ subject: String, pendingBytes: Int, receiver number: UInt) -> ClientSubscription? {
        var created: OpaquePointer?
        let status = library.subscribe(
            &created, connection, subject, onMessage, CallbackTable<Receiver>.pointer(number))
        guard status == NATS_OK, let created else { return nil }
        _ = library.setPendingLimits(created, -1, Int32(clamping: pendingBytes))
        return ClientSubscription(library: library, subscription: created)
    }

    /// Closes the connection and waits for the threads of the library that serve it.
    func close() { library.closeConnection(connection) }

    /// Frees the connection. No other function may run at this time or later.
    func destroy() { library.destroyConnection(connection) }
}

/// A subscription of libnats.
///
/// The library's reading thread uses a subscription without a reference of its own while it handles a message. So the
/// memory may be freed only when that thread has handled something later, or has ended.
struct ClientSubscription: @unchecked Sendable {
    // Safe to share: the library locks the subscription, and `destroy` is called last.
    fileprivate let library: NATSLibrary
    fileprivate let subscription: OpaquePointer

    /// Ends the subscription. Its memory remains.
    func end() { _ = library.unsubscribe(subscription) }

    /// Frees the memory. Call it after a flush that began after ``end()``, or after ``Client/close()``.
    func destroy() { library.destroySubscription(subscription) }
}

// The callbacks. The library calls them on its own threads: one for the events of all connections, and one for the
// messages of each subscription.

private let onMessage: natsMsgHandler = { _, subscription, message, context in
    guard let message, case .success(let library) = NATSLibrary.shared else { return }
    defer { library.destroyMessage(message) }
    guard let receiver = Receiver.table.find(context) else { return }
    var dropped: Int64 = 0
    _ = library.droppedMessages(subscription, &dropped)
    let data = UnsafeRawBufferPointer(
        start: library.messageData(message), count: Int(library.messageLength(message)))
    receiver.receive([UInt8](data), dropped: dropped)
}

private let onDisconnected: natsConnectionHandler = { _, context in
    Session.table.find(context)?.linkIsLost()
}

private let onReconnected: natsConnectionHandler = { connection, context in
    guard let session = Session.table.find(context), case .success(let library) = NATSLibrary.shared else { return }
    session.linkIsThere(maxPayload: Int(library.maxPayload(connection)))
}

private let onClosed: natsConnectionHandler = { connection, context in
    guard let connection, let session = Session.table.find(context), case .success(let library) = NATSLibrary.shared
    else { return }
    session.linkHasEnded(library.failure(ofConnection: connection, hiding: session.settings.secrets))
}

private let onError: natsErrHandler = { connection, _, status, context in
    guard let session = Session.table.find(context) else { return }
    switch status {
    case NATS_SLOW_CONSUMER: session.messagesAreDropped()
    case NATS_NOT_PERMITTED:
        guard let connection, case .success(let library) = NATSLibrary.shared else { return }
        session.isDenied(library.lastText(ofConnection: connection))
    default: break  // other errors break the connection, which has its own event
    }
}
