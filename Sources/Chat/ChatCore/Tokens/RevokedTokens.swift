import ChatModel
import JSON
import Locking

/// Tokens that were taken back, held in memory: every request with a token asks.
///
/// One that was taken back here counts at once, on another node within a second.
final class RevokedTokens: Sendable {
    private let keyring: Keyring
    private let directory: any Directory
    private let mirror: RecordMirror
    private let known = Lock<Set<RecordKey>>([])

    init(directory: any Directory, keyring: Keyring) {
        self.keyring = keyring
        self.directory = directory
        mirror = RecordMirror([.revokedToken], of: directory)
    }

    func contains(_ key: RecordKey) -> Bool { known.withLock { $0.contains(key) } }

    /// Whether there is none at all, and nothing to look for.
    var isEmpty: Bool { known.withLock { $0.isEmpty } }

    func write(_ changes: [RecordChange]) async throws(ChatError) { _ = try await mirror.write(changes, apply) }

    /// Reads them all; after the keyring.
    ///
    /// - Returns: the revision from which `follow` goes on.
    func load() async throws(ChatError) -> Revision {
        let revision = try await directory.revision()
        for app in keyring.apps { try await mirror.load(.revokedToken, in: app.space, apply) }
        return revision
    }

    /// Applies what changes in the directory, until the engine closes.
    func follow(from revision: Revision) async { await mirror.follow(from: revision, apply) }

    private func apply(_ key: RecordKey, _ record: Record?) {
        known.withLock { known in
            if record == nil { known.remove(key) } else { known.insert(key) }
        }
    }
}
