import Locking
import Logging
import Postgres

/// The connections with which a node reads. A caller borrows one for each read. Lost connections are replaced when they
/// are needed next.
actor ConnectionPool {
    private let settings: ConnectionSettings
    private let turns: AsyncSemaphore
    /// The maximum number of reads that wait for a connection.
    private let waitingMost: Int
    private let logger: Logger
    private var idle: [Connection] = []
    private var isClosed = false
    private var hasFailed = false

    /// Creates a pool without connections.
    ///
    /// - Parameter size: the maximum number of connections.
    init(_ settings: ConnectionSettings, size: Int, waitingMost: Int = 10_000, logger: Logger) {
        self.settings = settings
        self.waitingMost = waitingMost
        self.logger = logger
        turns = AsyncSemaphore(width: size)
    }

    /// Runs statements on a connection of the pool, in one round trip.
    func run(_ statements: [Statement]) async throws(StoreFailure) -> [Rows] {
        try await with { (connection) throws(PostgresFailure) in try await connection.run(statements) }
    }

    static let beginSnapshot = Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    static let endSnapshot = Statement("COMMIT")

    /// Runs statements that only read in one snapshot of the database, in one round trip.
    func snapshot(_ statements: [Statement]) async throws(StoreFailure) -> [Rows] {
        let rows = try await run([Self.beginSnapshot] + statements + [Self.endSnapshot])
        return Array(rows[1..<rows.count - 1])
    }

    /// Calls `body` with a connection of its own. `body` must end every transaction that it begins; after an
    /// error the pool ends it.
    func with<Value: Sendable>(
        _ body: @Sendable (Connection) async throws(PostgresFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        guard !isClosed else { throw .unavailable("the engine is closed") }
        guard turns.waitingCount < waitingMost else { throw .unavailable("too many reads wait for a connection") }
        let start = ContinuousClock.now
        await turns.enter()
        defer { turns.leave() }
        guard !isClosed else { throw .unavailable("the engine is closed") }
        // The caller has waited long enough. The reads behind it get their turn at once.
        guard ContinuousClock.now - start < settings.deadline else {
            throw .unavailable("no connection was free in time")
        }
        do throws(PostgresFailure) {
            let value: Value
            do throws(PostgresFailure) {
                value = try await attempt(body)
            } catch {
                // The server may have been restarted since the connection was used last. Reads have no effect, so
                // the read is repeated on a new connection.
                // After a time-out, the network may have lost the idle connections too. Each would cost a deadline.
                if error.kind == .connectionLost || error.kind == .timedOut { await closeIdle() }
                guard error.kind == .connectionLost else { throw error }
                value = try await attempt(body)
            }
            if hasFailed { logger.notice("reads of the store work again") }
            hasFailed = false
            return value
        } catch {
            // While the store is away, only its first failure is logged.
            if !hasFailed { logger.warning("a read of the store failed", metadata: ["failure": "\(error.message)"]) }
            hasFailed = true
            throw StoreFailure(error)
        }
    }

    private func attempt<Value: Sendable>(
        _ body: @Sendable (Connection) async throws(PostgresFailure) -> Value
    ) async throws(PostgresFailure) -> Value {
        let connection: Connection
        if let known = idle.popLast() { connection = known } else { connection = try await .open(settings) }
        do throws(PostgresFailure) {
            let value = try await body(connection)
            await putBack(connection)
            return value
        } catch {
            if error.isConnectionUsable, await Self.isReset(connection) { await putBack(connection) }
            throw error
        }
    }

    private static func isReset(_ connection: Connection) async -> Bool {
        do throws(PostgresFailure) {
            _ = try await connection.run([Statement("ROLLBACK")])
            return true
        } catch {
            await connection.close()
            return false
        }
    }

    private func putBack(_ connection: Connection) async {
        if isClosed { await connection.close() } else { idle.append(connection) }
    }

    func close() async {
        isClosed = true
        await closeIdle()
    }

    private func closeIdle() async {
        let connections = idle
        idle = []
        for connection in connections { await connection.close() }
    }
}

extension StoreFailure {
    /// The failure that corresponds to one of the client library or the server.
    ///
    /// - Parameter isCommitting: true if the COMMIT was sent, so that it may have been carried out.
    init(_ failure: PostgresFailure, isCommitting: Bool = false) {
        switch failure.kind {
        case .connectionLost where isCommitting, .timedOut where isCommitting: self = .outcomeUnknown(failure.message)
        case .rejected:
            switch failure.sqlState?.prefix(2) {
            // 53100: the disk is full. 54: a limit of the server. 22, 23: a value is invalid.
            case "53" where failure.sqlState == "53100": self = .full(failure.message)
            case "22", "23", "54": self = .rejected(failure.message)
            default: self = .unavailable(failure.message)
            }
        case .connectionLost, .timedOut, .libraryMissing, .unreachable, .overloaded:
            self = .unavailable(failure.message)
        }
    }
}
