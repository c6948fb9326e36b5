internal import CPostgres
internal import Glibc
internal import Locking

/// The server's session of one connection. Only the thread of the connection uses it.
///
/// The connection is always in libpq's pipeline mode. One run sends the commands of its statements and one sync. The
/// results arrive in the same order: for each command its result and an end (`nil`), then one result for the sync.
final class Session {
    /// A message of the pipeline that the server answers with a result of its own.
    private enum Command {
        case prepare(name: String, statement: Int)
        case execute(name: String?, statement: Int)
    }

    private let library: Library
    private let connection: OpaquePointer
    private let info: ConnectionInfo
    private let deadline: Duration
    private var prepared: PreparedStatements
    private var isFinished = false

    init(
        library: Library, connection: OpaquePointer, info: ConnectionInfo, deadline: Duration, preparedStatements: Int
    ) {
        self.library = library
        self.connection = connection
        self.info = info
        self.deadline = deadline
        prepared = PreparedStatements(limit: preparedStatements)
    }

    deinit { finish() }

    /// Closes the socket. Results of libpq remain valid.
    private func finish() {
        guard !isFinished else { return }
        isFinished = true
        library.finish(connection)
    }

    /// Executes the requests until the connection is closed or fails.
    func serve(_ mailbox: Mailbox) {
        while true {
            guard let request = mailbox.next() else {
                guard sleep(mailbox.eventFD) else { return mailbox.end(lost()) }
                continue
            }
            switch request {
            case .close(let continuation):
                finish()
                mailbox.end(PostgresFailure(kind: .connectionLost, message: "the connection is closed"))
                continuation?.resume()
                return
            case .run(let statements, let deadline, let continuation):
                do throws(PostgresFailure) {
                    continuation.resume(returning: .success(try run(statements, until: deadline)))
                } catch {
                    if !error.isConnectionUsable {
                        finish()
                        // The end comes first, so that the caller's next run fails at once.
                        mailbox.end(
                            PostgresFailure(
                                kind: .connectionLost, message: "the connection was closed: \(error.message)"))
                    }
                    continuation.resume(returning: .failure(error))
                    guard error.isConnectionUsable else { return }
                }
            }
        }
    }

    /// Waits for a request. Returns false if the server ends the connection.
    private func sleep(_ eventFD: EventFD) -> Bool {
        var entries = [
            pollfd(fd: eventFD.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: library.socket(connection), events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&entries, 2, -1) > 0 else { return true }
        if entries[0].revents != 0 { eventFD.reset() }
        guard entries[1].revents != 0 else { return true }
        // The server may send notices and changed parameters at any time. `isBusy` makes libpq parse them.
        guard library.consumeInput(connection) == 1 else { return false }
        _ = library.isBusy(connection)
        return library.status(connection) == CONNECTION_OK
    }

    private func run(_ statements: [Statement], until deadline: MonotonicTime) throws(PostgresFailure) -> [Rows] {
        if let index = statements.firstIndex(where: { $0.parameters.count > 65_535 }) {
            throw PostgresFailure(
                kind: .rejected, message: "a statement has more than 65535 parameters", statementIndex: index)
        }
        var commands: [Command] = []
        commands.reserveCapacity(statements.count)
        for (index, statement) in statements.enumerated() { try send(statement, index, &commands) }
        guard library.pipelineSync(connection) == 1 else { throw lost() }
        return try receive(commands, of: statements, until: deadline)
    }

    // MARK: Sending

    private func send(_ statement: Statement, _ index: Int, _ commands: inout [Command]) throws(PostgresFailure) {
        let form = prepared.form(of: statement)
        if case .new(let entry) = form {
            let code = library.sendPrepare(
                connection, entry.name, statement.text, Int32(entry.types.count), entry.types)
            guard code == 1 else { throw lost() }
            commands.append(.prepare(name: entry.name, statement: index))
        }
        let count = Int32(statement.parameters.count)
        let code = withParameters(statement.parameters) { values, lengths, formats in
            switch form {
            case .prepared(let name):
                library.sendPrepared(connection, name, count, values, lengths, formats, 1)
            case .new(let entry):
                library.sendPrepared(connection, entry.name, count, values, lengths, formats, 1)
            case .unnamed:
                library.sendUnnamed(
                    connection, statement.text, count, statement.parameters.map(\.typeID), values, lengths, formats, 1)
            }
        }
        guard code == 1 else { throw lost() }
        switch form {
        case .prepared(let name): commands.append(.execute(name: name, statement: index))
        case .new(let entry): commands.append(.execute(name: entry.name, statement: index))
        case .unnamed: commands.append(.execute(name: nil, statement: index))
        }
    }

    /// Passes the parameters in the form that libpq expects: pointers (null for NULL), lengths, and formats (1 is
    /// binary).
    private func withParameters(
        _ parameters: [Value],
        _ body: (
            UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
        ) -> Int32
    ) -> Int32 {
        var buffer: [UInt8] = []
        var offsets: [Int] = []
        for parameter in parameters {
            offsets.append(buffer.count)
            parameter.append(to: &buffer)
        }
        offsets.append(buffer.count)
        buffer.append(0)  // an empty buffer would have no address
        return buffer.withUnsafeBytes { bytes in
            let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            let values = parameters.indices.map { index -> UnsafePointer<CChar>? in
                if case .null = parameters[index] { return nil }
                return start?.advanced(by: offsets[index])
            }
            let lengths = parameters.indices.map { Int32(clamping: offsets[$0 + 1] - offsets[$0]) }
            let formats = [Int32](repeating: 1, count: parameters.count)
            return body(values, lengths, formats)
        }
    }

    // MARK: Receiving

    private func receive(
        _ commands: [Command], of statements: [Statement], until deadline: MonotonicTime
    ) throws(PostgresFailure) -> [Rows] {
        var results = [Rows](repeating: Rows(nil), count: statements.count)
        var failure: PostgresFailure?
        var position = 0
        while true {
            try awaitResult(until: deadline, after: failure)
            guard let pointer = library.nextResult(connection) else {
                position += 1
                // One end more belongs to a failure of the sync, which is the failure of the implicit commit. libpq
                // returns ends only when the connection has ended.
                guard position <= commands.count + 1, library.status(connection) == CONNECTION_OK else {
                    throw lost(after: failure)
                }
                continue
            }
            let result = ResultHandle(library, pointer)
            let command = position < commands.count ? commands[position] : nil
            switch result.status {
            case PGRES_PIPELINE_SYNC:
                if let failure { throw failure }
                return results
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
                if case .execute(_, let index) = command { results[index] = Rows(result) }
            case PGRES_PIPELINE_ABORTED, PGRES_FATAL_ERROR:
                if result.status == PGRES_FATAL_ERROR, failure == nil {
                    failure = rejection(result, of: command)
                }
                forget(command, statements, result)
            default:
                // COPY would need a protocol of its own.
                throw PostgresFailure(
                    kind: .connectionLost, message: "the server sent a response that the client does not support")
            }
        }
    }

    /// Sends what is left and reads until libpq can return a result without blocking.
    private func awaitResult(until deadline: MonotonicTime, after failure: PostgresFailure?) throws(PostgresFailure) {
        while true {
            let unsent = library.flush(connection)
            guard unsent >= 0 else { throw lost(after: failure) }
            guard library.isBusy(connection) == 1 else { return }
            let events = unsent == 1 ? POLLIN | POLLOUT : POLLIN
            guard let ready = waitForSocket(library.socket(connection), events: events, until: deadline) else {
                throw PostgresFailure(kind: .timedOut, message: "the run did not end within \(self.deadline)")
            }
            if ready & ~POLLOUT != 0, library.consumeInput(connection) == 0 { throw lost(after: failure) }
        }
    }

    private func rejection(_ result: ResultHandle, of command: Command?) -> PostgresFailure {
        let index: Int? =
            switch command {
            case .prepare(_, let index), .execute(_, let index): index
            case nil: nil
            }
        return PostgresFailure(
            kind: .rejected, sqlState: result.sqlState,
            message: info.redact(result.primaryMessage ?? message), statementIndex: index)
    }

    /// Keeps the names in agreement with the server after a failure.
    private func forget(_ command: Command?, _ statements: [Statement], _ result: ResultHandle) {
        switch command {
        case .prepare(let name, let index):
            prepared.forget(name, of: statements[index].text)
        case .execute(let name?, let index) where result.sqlState == "0A000":
            // The type of the rows has changed since the statement was prepared ("cached plan must not change result
            // type"). The next use prepares the statement again.
            prepared.drop(name, of: statements[index].text)
        default: break
        }
    }

    private var message: String {
        let text = library.errorMessage(connection).map { String(cString: $0) } ?? ""
        return text.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }.joined(separator: ", ")
    }

    /// The failure of a connection that has ended. An error that the server sent before says why.
    private func lost(after failure: PostgresFailure? = nil) -> PostgresFailure {
        let text = failure?.message ?? info.redact(message)
        return PostgresFailure(
            kind: .connectionLost, sqlState: failure?.sqlState,
            message: text.isEmpty ? "the server closed the connection" : text)
    }
}
