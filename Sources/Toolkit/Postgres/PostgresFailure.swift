/// The reason why a connection could not be opened or a run did not complete.
public struct PostgresFailure: Error, Sendable, Equatable {
    /// The class of a failure.
    public enum Kind: Sendable, Equatable {
        /// PostgreSQL's client library is not installed. The message names the Debian package.
        case libraryMissing
        /// No server accepts connections: it is down, starts, shuts down, has no free connection, or does not have the
        /// role that `target_session_attrs` demands. A later attempt may succeed.
        case unreachable
        /// The connection ended, or was closed. The outcome of the statements that were sent is unknown.
        case connectionLost
        /// The deadline passed. The connection is closed. The outcome of the statements that were sent is unknown.
        case timedOut
        /// The server, or the client for an impossible request, returned an error. Repeating the same request is
        /// useful only if ``PostgresFailure/sqlState`` says so.
        case rejected
        /// Too many runs wait for the connection (``ConnectionSettings/waitingRuns``). Nothing was sent.
        case overloaded
    }

    /// The class of the failure.
    public var kind: Kind
    /// The five characters of the server's error code
    /// (<https://www.postgresql.org/docs/15/errcodes-appendix.html>); `nil` if no server sent one.
    public var sqlState: String?
    /// The message for the log. It may contain names of hosts, users and tables, but never a password.
    public var message: String
    /// The position in the array of the run of the statement that failed, from 0. `nil` if the failure belongs to no
    /// single statement, for instance when the implicit commit at the end of a run fails.
    public var statementIndex: Int?

    /// Creates a failure.
    public init(kind: Kind, sqlState: String? = nil, message: String, statementIndex: Int? = nil) {
        self.kind = kind
        self.sqlState = sqlState
        self.message = message
        self.statementIndex = statementIndex
    }

    /// True when the connection of the failed run can run further statements. If a transaction was open, it has
    /// failed, and the next statement must be `ROLLBACK`.
    public var isConnectionUsable: Bool { kind == .rejected || kind == .overloaded }
}
