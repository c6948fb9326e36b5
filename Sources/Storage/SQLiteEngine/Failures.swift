import ChatModel
import SQLite

/// Why the engine would not open its file; for the operator, who may see paths.
public struct SQLiteEngineFailure: Error, Sendable, CustomStringConvertible {
    public enum Reason: Sendable, Equatable {
        /// Another process, or another engine of this one, has the file.
        case inUse
        /// The file is of a newer program.
        case newerSchema(found: Int, known: Int)
        /// Anything else: rights, disk, damage.
        case unusable
    }

    public let reason: Reason
    /// One sentence that says what to change.
    public let description: String
}

extension SQLiteEngineFailure {
    init(_ failure: SQLiteFailure, path: String) {
        if case .newerSchema(let found, let known) = failure.kind {
            self.init(
                reason: .newerSchema(found: found, known: known),
                description:
                    "\(path) has schema version \(found), this program knows up to \(known): start the newer program")
        } else {
            self.init(reason: .unusable, description: "cannot use \(path): \(failure)")
        }
    }

    /// - Parameter faults: SQLite's words.
    public static func damaged(_ path: String, _ faults: [String]) -> SQLiteEngineFailure {
        SQLiteEngineFailure(reason: .unusable, description: "\(path) is damaged: \(faults.joined(separator: "; "))")
    }

    static func inUse(_ path: String) -> SQLiteEngineFailure {
        SQLiteEngineFailure(
            reason: .inUse, description: "\(path) is in use by another gateway: stop it, or use another data directory")
    }
}

extension ChatError {
    /// What a caller is told. SQLite's own words name tables and files: they go to the log, never here.
    ///
    /// - Parameter isCommitting: the failure came out of COMMIT itself. A commit whose fsync failed may still be found
    ///   complete in the write-ahead log after a crash, so nobody can promise that nothing was stored.
    init(_ failure: SQLiteFailure, inCommit isCommitting: Bool = false) {
        switch failure.kind {
        case .full: self.init(.storageFull, "the store has no room left; nothing was stored")
        case .io where isCommitting: self = .outcomeUnknown
        case .tooLarge: self.init(.tooLarge, "too large for the store")
        case .busy, .io, .access, .corrupt, .constraint, .interrupted, .newerSchema, .other: self = .storeUnavailable
        }
    }

    static let storeUnavailable = ChatError(
        .unavailable, "the store cannot be reached in time; nothing was stored", retryAfter: .seconds(1))
    static let outcomeUnknown = ChatError(
        .outcomeUnknown, "the store was lost while it was writing: this may have been accepted", retryAfter: .seconds(1)
    )
    static let overloaded = ChatError(
        .overloaded, "too much is waiting for the store; nothing was stored", retryAfter: .seconds(1))
    static let closing = ChatError(.unavailable, "the gateway is stopping; nothing was stored", retryAfter: .seconds(1))
    static let claimConflict = ChatError(.conflict, "this idempotency key was used with another request")
}

extension SQLiteFailure {
    /// The system has no thread to give.
    static let noThread = SQLiteFailure(kind: .other, message: "no thread to be had")
}
