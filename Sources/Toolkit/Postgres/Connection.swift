internal import Locking

/// A connection to PostgreSQL 14 or later, with a thread of its own.
///
/// ```swift
/// let connection = try await Connection.open(ConnectionSettings(connectionInfo: "postgresql://db.example/app"))
/// let found = try await connection.run([
///     Statement("BEGIN"), Statement("SELECT balance FROM account WHERE id = $1 FOR UPDATE", [.integer(7)]),
/// ])
/// guard let balance = found[1].integer(0, 0) else { … }
/// _ = try await connection.run([
///     Statement("UPDATE account SET balance = $2 WHERE id = $1", [.integer(7), .integer(balance - 1)]),
///     Statement("COMMIT"),
/// ])
/// ```
///
/// Runs execute in the order of the calls of ``run(_:)``, one after the other. A connection has one session, so a
/// transaction belongs to all its callers. It is closed when the last reference is released.
public final class Connection: Sendable {
    private let mailbox: Mailbox
    private let deadline: Duration

    private init(mailbox: Mailbox, deadline: Duration) {
        self.mailbox = mailbox
        self.deadline = deadline
    }

    deinit { mailbox.post(.close(nil)) }

    /// Opens a connection. Loads PostgreSQL's client library if the program has not done so.
    ///
    /// - Throws: ``PostgresFailure`` of the kind ``PostgresFailure/Kind/libraryMissing``,
    ///   ``PostgresFailure/Kind/unreachable``, ``PostgresFailure/Kind/timedOut``, or
    ///   ``PostgresFailure/Kind/rejected`` if the credentials, the database or the settings are wrong.
    public static func open(_ settings: ConnectionSettings) async throws(PostgresFailure) -> Connection {
        try await open(settings, libraryFile: Library.fileName)
    }

    static func open(
        _ settings: ConnectionSettings, libraryFile: String
    ) async throws(PostgresFailure) -> Connection {
        let end = MonotonicTime.now + settings.deadline
        let library = try Library(libraryFile)
        let opening = try Opening(settings, library: library)
        guard let eventFD = EventFD() else {
            throw PostgresFailure(kind: .unreachable, message: "the system cannot create an eventfd")
        }
        let mailbox = Mailbox(eventFD: eventFD, limit: settings.waitingRuns)
        let connection = Connection(mailbox: mailbox, deadline: settings.deadline)
        let outcome = Outcome()
        // The thread keeps the deadline by itself, except while the C library looks up a host name, which cannot be
        // interrupted. In that case the caller does not wait for the thread, which ends after the look-up.
        let watchdog = Task {
            do { try await Task.sleep(for: settings.deadline + .milliseconds(100)) } catch { return }
            outcome.set(.failure(opening.timeout))
        }
        defer { watchdog.cancel() }
        let isStarted = startThread(name: "postgres") {
            do throws(PostgresFailure) {
                let session = try opening.connect()
                outcome.set(.success(()))
                session.serve(mailbox)
            } catch {
                mailbox.end(PostgresFailure(kind: .connectionLost, message: "the connection was not opened"))
                outcome.set(.failure(error))
            }
        }
        guard isStarted else {
            throw PostgresFailure(kind: .unreachable, message: "the system cannot start a thread")
        }
        try await outcome.get()
        do throws(PostgresFailure) {
            _ = try await connection.run(settings.firstStatements, until: end)
        } catch {
            await connection.close()
            throw error
        }
        return connection
    }

    /// Sends all statements at once, waits for all results, and returns the rows of each statement in order. This takes
    /// one round trip to the server.
    ///
    /// Without `BEGIN`, the statements form one transaction. A transaction that `BEGIN` has opened continues in the
    /// next run, until `COMMIT` or `ROLLBACK`. When a statement fails, the server skips the statements after it, and
    /// the connection remains usable. If a transaction is open then, send `ROLLBACK`.
    ///
    /// The function always returns within ``ConnectionSettings/deadline``. Cancelling the task does not end the wait.
    /// The rows are held in memory, so the statement must limit their number. `COPY` and `LISTEN` are not supported.
    ///
    /// - Throws: ``PostgresFailure``. After ``PostgresFailure/Kind/timedOut`` and
    ///   ``PostgresFailure/Kind/connectionLost`` the connection is closed, and every other run fails with
    ///   `connectionLost`.
    public func run(_ statements: [Statement]) async throws(PostgresFailure) -> [Rows] {
        try await run(statements, until: MonotonicTime.now + deadline)
    }

    private func run(
        _ statements: [Statement], until deadline: MonotonicTime
    ) async throws(PostgresFailure) -> [Rows] {
        guard !statements.isEmpty else { return [] }
        return try await withCheckedContinuation { continuation in
            mailbox.post(.run(statements, deadline: deadline, continuation))
        }.get()
    }

    /// Closes the connection after the runs that were called before. Later runs fail with
    /// ``PostgresFailure/Kind/connectionLost``. A second call has no effect.
    public func close() async { await withCheckedContinuation { mailbox.post(.close($0)) } }
}

/// The outcome of one attempt to open a connection. The first outcome counts.
private final class Outcome: Sendable {
    private enum State: Sendable {
        case pending
        case awaited(CheckedContinuation<Result<Void, PostgresFailure>, Never>)
        case known(Result<Void, PostgresFailure>)
    }

    private let state = Lock(State.pending)

    func set(_ outcome: Result<Void, PostgresFailure>) {
        let waiter = state.withLock { state -> CheckedContinuation<Result<Void, PostgresFailure>, Never>? in
            switch state {
            case .known: return nil
            case .pending:
                state = .known(outcome)
                return nil
            case .awaited(let waiter):
                state = .known(outcome)
                return waiter
            }
        }
        waiter?.resume(returning: outcome)
    }

    /// Waits for the outcome. Only one task may call it, once.
    func get() async throws(PostgresFailure) {
        try await withCheckedContinuation { continuation in
            let known = state.withLock { state -> Result<Void, PostgresFailure>? in
                if case .known(let outcome) = state { return outcome }
                state = .awaited(continuation)
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }.get()
    }
}
