import ChatModel
import Locking
import Logging
import Postgres
import StorageCore

/// Runs the changes of the queue that this node makes, one after the other, each in a transaction. After a commit it
/// first updates memory and then runs the next change, so that memory never contains a row in an older state than the
/// database.
actor QueueWriter {
    private let settings: ConnectionSettings
    private let memory: NodeMemory
    private let lanes: OwnedLanes
    private let logger: Logger
    private let turns = AsyncSemaphore(width: 1)
    /// The connection; nil until it is needed, and after it was lost.
    private var connection: Connection?
    private var isClosed = false
    /// True after a failed change, until one succeeds.
    private var hasFailed = false

    /// The number of attempts at a transaction that fails because of a deadlock or a lost connection.
    private static let attemptsMost = 3

    init(_ settings: ConnectionSettings, memory: NodeMemory, lanes: OwnedLanes, logger: Logger) {
        self.settings = settings
        self.memory = memory
        self.lanes = lanes
        self.logger = logger
    }

    /// The result of an attempt at a transaction.
    private enum Attempt<Value: Sendable>: Sendable {
        case done(Result<Value, ChatError>)
        /// Nothing was stored.
        case failed(PostgresFailure)
        /// The connection was lost during the commit.
        case unknown(PostgresFailure)
    }

    /// Runs `body` in a transaction. If `body` returns an error, the transaction is rolled back.
    ///
    /// - Parameter body: may run several times, because the transaction may have to be repeated.
    func run<Value: Sendable>(
        _ body: @Sendable (QueueTransaction) async throws(PostgresFailure) -> Result<Value, ChatError>
    ) async throws(ChatError) -> Value {
        await turns.enter()
        defer { turns.leave() }
        guard !isClosed else { throw .closing }
        var attempt = 1
        while true {
            switch await attemptOnce(body) {
            case .done(let result):
                if hasFailed { logger.notice("changes of the delivery queue work again") }
                hasFailed = false
                return try result.get()
            case .failed(let failure):
                let isRepeatable =
                    failure.kind == .connectionLost || failure.sqlState == "40P01" || failure.sqlState == "40001"
                if isRepeatable, attempt < Self.attemptsMost {
                    attempt += 1
                    continue
                }
                report(failure)
                throw StoreFailure(failure).answer
            case .unknown(let failure):
                report(failure)
                // The changes may be stored without being in memory.
                lanes.invalidate()
                throw .outcomeUnknown
            }
        }
    }

    /// Logs the first failure only, because the queue repeats its changes every second.
    private func report(_ failure: PostgresFailure) {
        if !hasFailed {
            logger.warning("a change of the delivery queue failed", metadata: ["failure": "\(failure.message)"])
        }
        hasFailed = true
    }

    private func attemptOnce<Value: Sendable>(
        _ body: @Sendable (QueueTransaction) async throws(PostgresFailure) -> Result<Value, ChatError>
    ) async -> Attempt<Value> {
        let transaction: QueueTransaction
        let result: Result<Value, ChatError>
        do throws(PostgresFailure) {
            let connection: Connection
            if let known = self.connection { connection = known } else { connection = try await .open(settings) }
            self.connection = connection
            transaction = QueueTransaction(connection: connection, now: memory.now, lanes: lanes)
            result = try await body(transaction)
        } catch {
            await reset(after: error)
            return .failed(error)
        }
        guard case .success = result else {
            await rollBack()
            return .done(result)
        }
        do throws(PostgresFailure) {
            try await transaction.commit()
        } catch {
            await reset(after: error)
            return error.isConnectionUsable ? .failed(error) : .unknown(error)
        }
        transaction.runEffects()
        return .done(result)
    }

    private func reset(after failure: PostgresFailure) async {
        if failure.isConnectionUsable { await rollBack() } else { connection = nil }
    }

    private func rollBack() async {
        do throws(PostgresFailure) {
            _ = try await connection?.run([Statement("ROLLBACK")])
        } catch {
            connection = nil
        }
    }

    /// Runs the changes that were requested before, and refuses later ones.
    func close() async {
        await turns.enter()
        defer { turns.leave() }
        isClosed = true
        await connection?.close()
        connection = nil
    }
}

/// A transaction of the queue.
final class QueueTransaction: Sendable {
    private struct State: Sendable {
        var hasBegun = false
        /// The statements that are sent with the next ones.
        var pending: [Statement] = []
        var effects: [@Sendable () -> Void] = []
    }

    private let connection: Connection
    /// The time of the transaction.
    let now: Timetoken
    /// The lanes of this node.
    let lanes: OwnedLanes
    private let state = Lock(State())

    init(connection: Connection, now: Timetoken, lanes: OwnedLanes) {
        self.connection = connection
        self.now = now
        self.lanes = lanes
    }

    var scheduler: DeliveryScheduler { lanes.scheduler }

    /// Runs statements in one round trip and returns the rows of each.
    func run(_ statements: [Statement]) async throws(PostgresFailure) -> [Rows] {
        let before = state.withLock { state in
            defer { (state.hasBegun, state.pending) = (true, []) }
            return (state.hasBegun ? [] : [Statement("BEGIN")]) + state.pending
        }
        return Array(try await connection.run(before + statements)[before.count...])
    }

    /// Runs statements with the next ones, at the latest with the commit.
    func later(_ statement: Statement) { state.withLock { $0.pending.append(statement) } }

    /// Changes memory after the commit, in the order of the calls.
    func afterCommit(_ effect: @escaping @Sendable () -> Void) { state.withLock { $0.effects.append(effect) } }

    fileprivate func commit() async throws(PostgresFailure) { _ = try await run([Statement("COMMIT")]) }

    fileprivate func runEffects() {
        for effect in state.withLock({ $0.effects }) { effect() }
    }
}
