import ChatModel
import JSON
import Locking

/// The revoked tokens, in memory, because every request with a token checks them.
///
/// A token is revoked alone, or together with all tokens that were issued to its user before a given time. A revocation
/// takes effect immediately on this node, and within a second on other nodes.
final class RevokedTokens: Sendable {
    private struct Known {
        var tokens: Set<RecordKey> = []
        /// A time for each user. Tokens issued to the user before this time are revoked.
        var users: [UserID: Timetoken] = [:]
    }

    private let keyring: Keyring
    let mirror: RecordMirror
    private let known = Lock(Known())
    private let observers = Lock<[@Sendable (AppID) -> Void]>([])

    init(directory: any Directory, keyring: Keyring) {
        self.keyring = keyring
        mirror = RecordMirror([.revokedToken], of: directory)
    }

    func contains(_ key: RecordKey) -> Bool { known.withLock { $0.tokens.contains(key) } }

    /// Returns the user's time of revocation: tokens issued to the user before this time are revoked. Nil when no
    /// tokens of the user were revoked together.
    func moment(of user: UserID) -> Timetoken? { known.withLock { $0.users[user] } }

    /// True when no single token is revoked. Revocations of all tokens of a user are not considered.
    var isEmpty: Bool { known.withLock { $0.tokens.isEmpty } }

    /// Calls `body` with the app of each revocation, after it took effect. A revocation affects one token, or all
    /// tokens of one user.
    func observe(_ body: @escaping @Sendable (AppID) -> Void) { observers.withLock { $0.append(body) } }

    func write(_ changes: [RecordChange]) async throws(ChatError) { _ = try await mirror.write(changes, apply) }

    /// Reads the record of a revocation from the store, and puts the revocation into force. For a record that was
    /// written in a commit with other records.
    func refresh(_ key: RecordKey) async throws(ChatError) { try await mirror.refresh(key, apply) }

    /// Reads all revocations. Must run after the keyring is loaded.
    func load() async throws(ChatError) {
        for app in keyring.apps { try await mirror.load(.revokedToken, in: app.id, apply) }
    }

    /// Updates the revoked tokens in memory after each change of a stored revocation, beginning after `revision`.
    /// Returns when the task is cancelled or the engine closes.
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

/// The revocation of a user's tokens. Its record is never removed, because some of the tokens may not expire.
struct UserRevocation {
    private static let prefix = RecordKey.prefix(["user"])

    /// Tokens issued before this time are revoked.
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
            // A time in the far future, so that the record sorts after all records that expire.
            writer.member("until", Timetoken.distantFuture.description)
            writer.endObject()
        }
    }

    static func key(_ user: UserID) -> RecordKey {
        RecordKey(.revokedToken, parts: ["user", user.name], in: user.app)
    }

    /// Returns the user of a record's key; nil for the record of a single token.
    static func user(of key: RecordKey) -> UserID? {
        key.id.hasPrefix(prefix) ? UserID(String(key.id.dropFirst(prefix.count)), in: key.app) : nil
    }
}
