import ChatModel
import JSON
import Locking

/// Tokens that were taken back, held in memory: every request with a token asks.
///
/// A token is taken back by itself, or with all others that its user had at that moment. What was taken back here counts at once,
/// on another node within a second.
final class RevokedTokens: Sendable {
    private struct Known {
        var tokens: Set<RecordKey> = []
        /// Tokens of the user that were made before the moment hold no more.
        var users: [UserID: Timetoken] = [:]
    }

    private let keyring: Keyring
    private let directory: any Directory
    private let mirror: RecordMirror
    private let known = Lock(Known())
    private let observers = Lock<[@Sendable (AppID) -> Void]>([])

    init(directory: any Directory, keyring: Keyring) {
        self.keyring = keyring
        self.directory = directory
        mirror = RecordMirror([.revokedToken], of: directory)
    }

    func contains(_ key: RecordKey) -> Bool { known.withLock { $0.tokens.contains(key) } }

    /// Before when the user's tokens hold no more; nil where none was taken back.
    func moment(of user: UserID) -> Timetoken? { known.withLock { $0.users[user] } }

    /// Whether there is none at all, and nothing to look for.
    var isEmpty: Bool { known.withLock { $0.tokens.isEmpty } }

    /// Calls `body` with the app of each token or user that is taken back, after it counts.
    func observe(_ body: @escaping @Sendable (AppID) -> Void) { observers.withLock { $0.append(body) } }

    func write(_ changes: [RecordChange]) async throws(ChatError) { _ = try await mirror.write(changes, apply) }

    /// Takes what was written beside other records.
    func refresh(_ key: RecordKey) async throws(ChatError) { try await mirror.refresh(key, apply) }

    /// Reads them all; after the keyring.
    ///
    /// - Returns: the revision from which `follow` goes on.
    func load() async throws(ChatError) -> Revision {
        let revision = try await directory.revision()
        for app in keyring.apps { try await mirror.load(.revokedToken, in: app.id, apply) }
        return revision
    }

    /// Applies what changes in the directory, until the engine closes.
    func follow(from revision: Revision) async { await mirror.follow(from: revision, apply) }

    private func apply(_ key: RecordKey, _ record: Record?) {
        known.withLock { known in
            if let user = UserRevocation.user(of: key) {
                known.users[user] = record.flatMap(UserRevocation.init)?.before
            } else if record == nil {
                known.tokens.remove(key)
            } else {
                known.tokens.insert(key)
            }
        }
        guard record != nil else { return }
        for observer in observers.withLock({ $0 }) { observer(key.app) }
    }
}

/// The record of a user whose tokens were taken back. It stays: some of them may say that they never end.
struct UserRevocation {
    private static let prefix = RecordKey.prefix(["user"])

    /// Tokens made before it hold no more.
    var before: Timetoken

    init(before: Timetoken) { self.before = before }

    init?(_ record: Record) {
        let root = try? JSONDocument(record.body).root
        guard let before = root?["before"]?.string.flatMap({ Timetoken(text: $0) }) else { return nil }
        self.before = before
    }

    var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("before", before.description)
            // Behind all those that end.
            writer.member("until", Timetoken.distantFuture.description)
            writer.endObject()
        }
    }

    static func key(_ user: UserID) -> RecordKey {
        RecordKey(.revokedToken, parts: ["user", user.name], in: user.app)
    }

    /// Nil for the record of a single token.
    static func user(of key: RecordKey) -> UserID? {
        key.id.hasPrefix(prefix) ? UserID(String(key.id.dropFirst(prefix.count)), in: key.app) : nil
    }
}
