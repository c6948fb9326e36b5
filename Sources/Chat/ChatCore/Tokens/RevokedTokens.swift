import ChatModel
import JSON
import Locking

/// The revoked tokens, held in memory because every request with a token checks them.
///
/// A token is revoked by itself, or with all other tokens that its user had at a time. A revocation takes effect on
/// this node at once, and on other nodes within a second.
final class RevokedTokens: Sendable {
    private struct Known {
        var tokens: Set<RecordKey> = []
        /// The time of revocation by user: tokens that were issued before it are not valid.
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

    /// The time before which the user's tokens are revoked; nil when they never were.
    func moment(of user: UserID) -> Timetoken? { known.withLock { $0.users[user] } }

    /// True when no single token is revoked.
    var isEmpty: Bool { known.withLock { $0.tokens.isEmpty } }

    /// Calls `body` with the app of each revocation of a token or a user, after it takes effect.
    func observe(_ body: @escaping @Sendable (AppID) -> Void) { observers.withLock { $0.append(body) } }

    func write(_ changes: [RecordChange]) async throws(ChatError) { _ = try await mirror.write(changes, apply) }

    /// Reads a record that was written with other records.
    func refresh(_ key: RecordKey) async throws(ChatError) { try await mirror.refresh(key, apply) }

    /// Reads all revocations. Must run after the keyring was loaded.
    ///
    /// - Returns: the revision from which `follow` continues.
    func load() async throws(ChatError) -> Revision {
        let revision = try await directory.revision()
        for app in keyring.apps { try await mirror.load(.revokedToken, in: app.id, apply) }
        return revision
    }

    /// Applies changes of the directory, until the engine closes.
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

/// The record of a user whose tokens were revoked. It is never removed, because some of these tokens may have no
/// expiry.
struct UserRevocation {
    private static let prefix = RecordKey.prefix(["user"])

    /// The time before which the tokens are revoked.
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
            // Sorts after all records that expire.
            writer.member("until", Timetoken.distantFuture.description)
            writer.endObject()
        }
    }

    static func key(_ user: UserID) -> RecordKey {
        RecordKey(.revokedToken, parts: ["user", user.name], in: user.app)
    }

    /// The user of a key; nil for the record of a single token.
    static func user(of key: RecordKey) -> UserID? {
        key.id.hasPrefix(prefix) ? UserID(String(key.id.dropFirst(prefix.count)), in: key.app) : nil
    }
}
