internal import CPostgres
internal import Glibc
internal import Locking

/// One attempt to open a connection, on the thread of the connection.
struct Opening: Sendable {
    private let library: Library
    private let settings: ConnectionSettings
    private let info: ConnectionInfo

    /// - Throws: ``PostgresFailure`` if the connection info is malformed. The message does not repeat it, because it
    ///   may contain a password.
    init(_ settings: ConnectionSettings, library: Library) throws(PostgresFailure) {
        self.library = library
        self.settings = settings
        guard !ConnectionInfo.hasAmbiguousCredentials(settings.connectionInfo) else {
            throw PostgresFailure(
                kind: .rejected,
                message: "the connection info is malformed: percent-encode the characters @, / and ? in its password")
        }
        var message: UnsafeMutablePointer<CChar>?
        let options = library.parseInfo(settings.connectionInfo, &message)
        library.freeMemory(message)
        guard let options else {
            throw PostgresFailure(
                kind: .rejected,
                message: "the connection info is malformed: write a URI or key=value pairs with parameters of libpq")
        }
        defer { library.freeInfo(options) }
        var parameters: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { parameters[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        var info = ConnectionInfo(parameters: parameters)
        info.apply(settings)
        self.info = info
    }

    var timeout: PostgresFailure {
        PostgresFailure(kind: .timedOut, message: "the connection was not opened within \(settings.deadline)")
    }

    /// Tries the hosts until one accepts the connection or rejects the credentials.
    func connect() throws(PostgresFailure) -> Session {
        let deadline = MonotonicTime.now + settings.deadline
        let hosts = settings.preferredHost.order(info.hosts)
        var failures: [PostgresFailure] = []
        for (index, host) in hosts.enumerated() {
            let now = MonotonicTime.now
            guard now < deadline else { break }
            let part = (deadline.nanoseconds - now.nanoseconds) / UInt64(hosts.count - index)
            let end = MonotonicTime(nanoseconds: now.nanoseconds + part)
            do throws(PostgresFailure) {
                let session = try connect(host.element, until: end)
                settings.preferredHost.set(host.place)
                return session
            } catch {
                guard error.kind != .rejected else { throw error }
                failures.append(error)
            }
        }
        guard var last = failures.last else { throw timeout }
        last.message = failures.map(\.message).joined(separator: "; ")
        throw last
    }

    private func connect(_ host: [String: String], until deadline: MonotonicTime) throws(PostgresFailure) -> Session {
        guard let connection = start(host) else {
            throw PostgresFailure(kind: .unreachable, message: "there is no memory for a connection")
        }
        do throws(PostgresFailure) {
            _ = library.setVerbosity(connection, PQERRORS_VERBOSE)
            _ = library.setNoticeReceiver(connection, { _, _ in }, nil)
            try complete(connection, until: deadline)
            _ = library.setVerbosity(connection, PQERRORS_DEFAULT)
            guard library.setNonBlocking(connection, 1) == 0, library.enterPipelineMode(connection) == 1 else {
                throw failure(connection)
            }
        } catch {
            library.finish(connection)
            throw error
        }
        return Session(
            library: library, connection: connection, info: info, deadline: settings.deadline,
            preparedStatements: settings.preparedStatements)
    }

    private func start(_ parameters: [String: String]) -> OpaquePointer? {
        let pairs = parameters.map { (strdup($0.key), strdup($0.value)) }
        defer {
            for (key, value) in pairs {
                free(key)
                free(value)
            }
        }
        let keys = pairs.map { UnsafePointer($0.0) } + [nil]
        let values = pairs.map { UnsafePointer($0.1) } + [nil]
        return library.connectStart(keys, values, 0)
    }

    private func complete(_ connection: OpaquePointer, until deadline: MonotonicTime) throws(PostgresFailure) {
        var awaited = PGRES_POLLING_WRITING
        while true {
            guard library.status(connection) != CONNECTION_BAD else { throw failure(connection) }
            let events = awaited == PGRES_POLLING_READING ? POLLIN : POLLOUT
            let socket = library.socket(connection)
            guard waitForSocket(socket, events: events, until: deadline) != nil else { throw timeout }
            awaited = library.connectPoll(connection)
            if awaited == PGRES_POLLING_OK { return }
            if awaited == PGRES_POLLING_FAILED { throw failure(connection) }
        }
    }

    /// The failure of an attempt, from libpq's message in the verbose form, which contains the server's error code.
    private func failure(_ connection: OpaquePointer) -> PostgresFailure {
        let text = library.errorMessage(connection).map { String(cString: $0) } ?? ""
        let report = OpeningReport(text)
        var isRejected = library.needsPassword(connection) != 0
        if let code = report.sqlState { isRejected = !report.isTemporary(code) }
        return PostgresFailure(
            kind: isRejected ? .rejected : .unreachable, sqlState: report.sqlState, message: info.redact(report.message)
        )
    }
}

/// Waits until one of the events occurs on a socket. Returns the events, or `nil` when the deadline has passed.
func waitForSocket(_ socket: Int32, events: Int32, until deadline: MonotonicTime) -> Int32? {
    while true {
        let now = MonotonicTime.now
        guard now < deadline else { return nil }
        // Rounded up, so that the loop does not spin in the last millisecond.
        let milliseconds = (deadline.nanoseconds - now.nanoseconds + 999_999) / 1_000_000
        var entry = pollfd(fd: socket, events: Int16(events), revents: 0)
        if poll(&entry, 1, Int32(clamping: milliseconds)) > 0 { return Int32(entry.revents) }
    }
}
