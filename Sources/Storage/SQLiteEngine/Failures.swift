import ChatModel
import SQLite
import StorageCore

/// The error when the engine cannot open its database file. The text is for the operator and may contain file paths.
public struct SQLiteEngineFailure: Error, Sendable, CustomStringConvertible {
    /// The category of a failure.
    public enum Reason: Sendable, Equatable {
        /// The file is in use by another process, or by another engine in this process.
        case inUse
        /// A newer program wrote the file. `found` is the schema version of the file, and `known` the newest version
        /// that this program knows.
        case newerSchema(found: Int, known: Int)
        /// Any other reason, for instance missing permissions, a disk error or a damaged file.
        case unusable
    }

    /// The category of the failure.
    public let reason: Reason
    /// One sentence that describes the problem and, if possible, its solution.
    public let description: String
}

extension SQLiteEngineFailure {
    init(_ failure: SQLiteFailure, path: String) {
        if case .newerSchema(let found, let known) = failure.kind {
            self.init(
                reason: .newerSchema(found: found, known: known),
                description:
                    "\(path) has schema version \(found), but this version of Parley supports at most \(known): start a newer version"
            )
        } else {
            self.init(reason: .unusable, description: "cannot use \(path): \(failure)")
        }
    }

    /// Returns the failure for a file whose structure is damaged.
    ///
    /// - Parameter faults: the messages of SQLite's integrity check.
    public static func damaged(_ path: String, _ faults: [String]) -> SQLiteEngineFailure {
        SQLiteEngineFailure(reason: .unusable, description: "\(path) is damaged: \(faults.joined(separator: "; "))")
    }

    static func inUse(_ path: String) -> SQLiteEngineFailure {
        SQLiteEngineFailure(
            reason: .inUse, description: "\(path) is in use by another gateway: stop it, or use another data directory")
    }
}

extension ChatError {
    /// Creates the error that a caller receives for a failure of SQLite. The error does not contain SQLite's message,
    /// which may name tables and files and appears only in the log.
    ///
    /// - Parameter isCommitting: true when COMMIT itself failed. If the fsync of a commit fails, the commit may still
    ///   be complete in the write-ahead log after a crash, so the error does not say that nothing was stored.
    init(_ failure: SQLiteFailure, inCommit isCommitting: Bool = false) {
        switch failure.kind {
        case .full: self = .storageFull
        case .io where isCommitting: self = .outcomeUnknown
        case .tooLarge: self = .dataTooLarge
        case .busy, .io, .access, .corrupt, .constraint, .interrupted, .newerSchema, .other: self = .storeUnavailable
        }
    }
}

extension SQLiteFailure {
    /// The failure when the system cannot create a thread.
    static let noThread = SQLiteFailure(kind: .other, message: "the system cannot start a thread")
}
