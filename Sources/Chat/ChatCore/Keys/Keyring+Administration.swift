public import ChatModel
import JSON
import Locking
public import Signing
import Text

/// A new key together with its text, which is shown once and never stored.
public struct IssuedKey: Sendable {
    /// The key as it is stored.
    public var key: APIKey
    /// The text of the key. It is returned once and not stored.
    public var text: String
}

/// A new app with its first key.
public struct IssuedApp: Sendable {
    /// The stored app.
    public var app: AppRecord
    /// The app's first admin key.
    public var admin: IssuedKey
}

extension Keyring {
    /// Stores a new key of the caller's app. A key never expires later than the key that created it.
    ///
    /// - Parameters:
    ///   - proof: the evidence with which callers prove that they have the key: its text, or a token signed with it.
    ///   - channels: the channels that the key may use; empty for all channels.
    ///   - types: the event types that the key may use; empty for all types.
    ///   - expires: the time at which the new key expires; nil to use the expiry of the caller's key.
    /// - Throws: `.malformed` for a bad name; `.forbidden` for a caller without access to the whole app, and for an
    ///   `expires` after the expiry of the caller's key.
    public func addKey(
        name: String, proof: APIKey.TokenEvidence, scopes: Scopes, channels: [NamePattern], types: [NamePattern],
        expires: Timetoken?, rates: RatePolicies = RatePolicies(), by caller: Caller
    ) async throws(ChatError) -> APIKey {
        try caller.demandWholeApp()
        try Self.check(keyName: name)
        let end = endOfKey(of: caller)
        if let end, let expires, expires > end {
            throw ChatError(
                .forbidden,
                "'expires_at' must not be later than the expiry of the key that makes this request, \(end.timestamp)")
        }
        var key = Self.newKey(
            name: name, in: caller.app, proof: proof, scopes: scopes, channels: channels.isEmpty ? [.all] : channels,
            types: types.isEmpty ? [.all] : types, expires: expires ?? end, now: clock.now)
        key.rates = rates
        let stored = try await write([RecordChange(key.recordKey, body: key.body, precondition: .absent)])
        (key.etag, key.updated) = (stored[0].etag, stored[0].updated)
        return key
    }

    /// Returns true when a caller may see its app's PubNub keys and secret. The PubNub keys and the secret give access
    /// to the whole app and do not expire. So the caller's own key must give access to the whole app, and must not
    /// expire.
    public func showsSecrets(to caller: Caller) -> Bool { caller.reachesWholeApp && endOfKey(of: caller) == nil }

    /// Returns the expiry of the caller's key; nil for a key that does not expire. For a dashboard session, this is the
    /// expiry of the key that opened the session, not of the session.
    private func endOfKey(of caller: Caller) -> Timetoken? { key(caller.credential, in: caller.app)?.expires }

    /// Returns the app's keys, oldest first.
    ///
    /// - Throws: `.forbidden` for a caller without access to the whole app.
    public func keys(of caller: Caller) throws(ChatError) -> [APIKey] {
        try caller.demandWholeApp()
        return contents.withLock { contents in
            contents.keys.values.filter { $0.app == caller.app }.sorted { $0.created < $1.created }
        }
    }

    static func check(appName name: String) throws(ChatError) {
        guard (1...200).contains(name.utf8.count) else {
            throw ChatError(.malformed, "name must be 1 to 200 bytes long", field: "name")
        }
    }

    private static func check(keyName name: String) throws(ChatError) {
        guard name.utf8.count <= 200 else {
            throw ChatError(.malformed, "name must be at most 200 bytes long", field: "name")
        }
    }

    /// Changes a key's name and rates.
    ///
    /// - Parameter edit: changes the key. Runs again when another request changed the key in the meantime.
    /// - Throws: `.forbidden` for a caller without access to the whole app; `.notFound` when the app has no key with
    ///   this id; `.stale` when the version of the key is not `etag`.
    public func changeKey(
        _ id: String, ifMatch etag: String? = nil, by caller: Caller,
        _ edit: (inout APIKey) throws(ChatError) -> Void
    ) async throws(ChatError) -> APIKey {
        try caller.demandWholeApp()
        while true {
            let record = try await directory.read(RecordKey(.key, id, in: caller.app))
            guard let record, var key = APIKey(record) else { throw Self.unknownKey }
            guard etag ?? key.etag == key.etag else { throw Self.stale }
            try edit(&key)
            try Self.check(keyName: key.name)
            let change = RecordChange(key.recordKey, body: key.body, precondition: .etag(key.etag))
            do throws(ChatError) {
                let stored = try await mirror.write([change], apply)[0]
                (key.etag, key.updated) = (stored.etag, stored.updated)
                return key
            } catch  where error.code == .stale {
                continue
            }
        }
    }

    /// Removes a key and closes the connections that it opened.
    ///
    /// - Throws: `.forbidden` for a caller without access to the whole app; `.notFound` when the app has no key with
    ///   this id; `.conflict` for the caller's own key; `.stale` when the version of the key is not `etag`.
    public func removeKey(_ id: String, ifMatch etag: String? = nil, by caller: Caller) async throws(ChatError) {
        try caller.demandWholeApp()
        guard id != caller.credential else {
            throw ChatError(.conflict, "a key cannot delete itself; use another admin key")
        }
        let precondition = etag.map { RecordChange.Precondition.etag($0) } ?? .present
        do {
            try await write([RecordChange(RecordKey(.key, id, in: caller.app), body: nil, precondition: precondition)])
        } catch  where error.code == .notFound {
            throw Self.unknownKey
        }
    }

    private static let unknownApp = ChatError(.notFound, "no app has this id")
    private static let unknownKey = ChatError(.notFound, "no key has this id")
    private static let stale = ChatError(
        .stale, "the resource has changed since it was read; read it again, and repeat the change")

    /// Creates an app with an admin key that never expires. The caller must be an operator whose own key never expires.
    ///
    /// - Throws: `.forbidden` for any other caller; `.malformed` for a bad name.
    public func issueApp(
        name: String, retention: Duration? = nil, by caller: Caller
    ) async throws(ChatError) -> IssuedApp {
        try Self.requireOperator(caller)
        try Self.check(appName: name)
        guard endOfKey(of: caller) == nil else {
            throw ChatError(
                .forbidden,
                "this key expires before the new app's admin key; create apps with a key that does not expire")
        }
        let id = AppID(SystemRandomSource().identifier(prefix: "app_"))
        return try await establish(newApp(id, name: name, retention: retention), keyText: nil)
    }

    /// Creates an app unless it exists. For a program that embeds the gateway and uses no API key.
    ///
    /// - Throws: `.malformed` unless the id is 1 to 200 bytes long; the errors of the store.
    public func ensure(_ id: AppID) async throws(ChatError) {
        guard app(id) == nil else { return }
        guard (1...200).contains(id.name.utf8.count) else {
            throw ChatError(.malformed, "an app's id must be 1 to 200 bytes long")
        }
        let app = newApp(id, name: id.name, isFirst: apps.isEmpty)
        do throws(ChatError) {
            try await write([RecordChange(app.recordKey, body: app.body(sealedBy: vault), precondition: .absent)])
        } catch {
            // Another node has created the app.
            guard error.code == .conflict else { throw error }
            try await mirror.refresh(app.recordKey, apply)
        }
    }

    private func newApp(
        _ id: AppID, name: String, isFirst: Bool = false, retention: Duration? = nil
    ) -> AppRecord {
        let random = SystemRandomSource()
        return AppRecord(
            id: id, name: name, publishKey: random.identifier(prefix: "pub-c-"),
            subscribeKey: random.identifier(prefix: "sub-c-"), secretKey: random.token(prefix: "sec-c-"),
            isFirst: isFirst, retention: retention, created: clock.now)
    }

    /// Removes an app and all its keys.
    ///
    /// - Throws: `.forbidden` when the caller is not an operator of the gateway; `.notFound` when the app does not
    ///   exist; `.conflict` for the first app; `.stale` when the version of the app is not `etag`.
    public func removeApp(_ id: String, ifMatch etag: String? = nil, by caller: Caller) async throws(ChatError) {
        try Self.requireOperator(caller)
        // The store is read, because another node may have added the app or a key a moment ago.
        let record = try await directory.read(AppRecord.recordKey(of: AppID(id)))
        guard let app = record.flatMap({ AppRecord($0, vault) }) else { throw Self.unknownApp }
        guard !app.isFirst else {
            throw ChatError(.conflict, "the first app, which the gateway created at its first start, cannot be deleted")
        }
        var keys: [RecordKey] = []
        try await directory.forEachPage(RecordQuery(.key, in: app.id, limit: 500)) { keys += $0.map(\.key) }
        try await write(
            [RecordChange(app.recordKey, body: nil, precondition: etag.map { .etag($0) } ?? .present)]
                + keys.map { RecordChange($0, body: nil) })
    }

    /// The maximum time for which the previous secret stays valid after a rotation.
    public static let longestOverlap: Duration = .seconds(7 * 24 * 3600)

    /// Replaces the secret of the caller's app by a new one. The current secret stays valid for `overlap`, so that
    /// programs without the new secret can still sign. The secret before the current one becomes invalid immediately.
    ///
    /// - Parameter overlap: zero to ``longestOverlap``.
    /// - Throws: `.forbidden` for a caller without access to the whole app, and for a caller whose key expires, because
    ///   tokens signed with the new secret would outlive that key; `.malformed` for an overlap out of range.
    public func rotateSecret(overlap: Duration, by caller: Caller) async throws(ChatError) -> AppRecord {
        try caller.demandWholeApp()
        guard endOfKey(of: caller) == nil else {
            throw ChatError(
                .forbidden,
                "this key expires before tokens that the new secret signs; use a key that does not expire"
            )
        }
        guard overlap >= .zero, overlap <= Self.longestOverlap else {
            throw ChatError(.malformed, "'overlap_seconds' must be 0 to 604800")
        }
        let (made, until) = (SystemRandomSource().token(prefix: "sec-c-"), clock.now.adding(overlap))
        return try await change(caller.app) { app in
            app.previousSecret = overlap > .zero ? (app.secretKey, until) : nil
            app.secretKey = made
        }
    }

    /// Applies `edit` to the stored app. Runs `edit` again when another request changed the app in the meantime, so
    /// that concurrent changes do not overwrite each other.
    ///
    /// - Throws: `.notFound` when the app does not exist; `.stale` when the version of the app is not `etag`.
    func change(
        _ id: AppID, ifMatch etag: String? = nil, _ edit: (inout AppRecord) throws(ChatError) -> Void
    ) async throws(ChatError) -> AppRecord {
        while true {
            let record = try await directory.read(AppRecord.recordKey(of: id))
            guard let record, var app = AppRecord(record, vault) else { throw Self.unknownApp }
            guard etag ?? app.etag == app.etag else { throw Self.stale }
            try edit(&app)
            let change = RecordChange(app.recordKey, body: app.body(sealedBy: vault), precondition: .etag(record.etag))
            do throws(ChatError) {
                let stored = try await mirror.write([change], apply)[0]
                (app.etag, app.updated) = (stored.etag, stored.updated)
                return app
            } catch  where error.code == .stale {
                // Another request changed the app in the meantime: try again. Each failed attempt means that one
                // competing change has finished.
                continue
            }
        }
    }

    /// Stores a new app and its first admin key. At its first start, the gateway calls this method to create the first
    /// app.
    ///
    /// - Parameter keyText: the text of the key from the configuration; nil to generate a random one.
    /// - Throws: `.conflict` when the app exists. The keyring then contains the app, even if another node has created it.
    public func establish(_ app: AppRecord, keyText: String?) async throws(ChatError) -> IssuedApp {
        let text = keyText ?? SystemRandomSource().token(prefix: "parley_")
        let key = Self.newKey(
            name: "admin", in: app.id, proof: .text(digest: Self.digest(of: text)), scopes: [.admin],
            channels: [.all], types: [.all], expires: nil, now: app.created)
        let stored: [Record]
        do throws(ChatError) {
            stored = try await write([
                RecordChange(app.recordKey, body: app.body(sealedBy: vault), precondition: .absent),
                RecordChange(key.recordKey, body: key.body, precondition: .absent),
            ])
        } catch {
            if error.code == .conflict { try await mirror.refresh(app.recordKey, apply) }
            throw error
        }
        var app = app
        (app.etag, app.updated) = (stored[0].etag, stored[0].updated)
        return IssuedApp(app: app, admin: IssuedKey(key: key, text: text))
    }

    /// Creates an admin key of the first app without requiring a credential; nil when there is no app. Only for
    /// commands on the gateway's own machine.
    func recover() async throws(ChatError) -> IssuedKey? {
        _ = try await load()
        guard let app = apps.first(where: \.isFirst) else { return nil }
        let text = SystemRandomSource().token(prefix: "parley_")
        let key = Self.newKey(
            name: "recovered", in: app.id, proof: .text(digest: Self.digest(of: text)), scopes: [.admin],
            channels: [.all], types: [.all], expires: nil, now: clock.now)
        try await write([RecordChange(key.recordKey, body: key.body, precondition: .absent)])
        return IssuedKey(key: key, text: text)
    }

    static func requireOperator(_ caller: Caller) throws(ChatError) {
        guard caller.isOperator else {
            throw ChatError(
                .forbidden,
                "only an admin key of the first app, which the gateway created at its first start, can manage apps; "
                    + "the key must have access to every channel and type")
        }
    }

    private static func newKey(
        name: String, in app: AppID, proof: APIKey.TokenEvidence, scopes: Scopes, channels: [NamePattern],
        types: [NamePattern], expires: Timetoken?, now: Timetoken
    ) -> APIKey {
        APIKey(
            id: SystemRandomSource().identifier(prefix: "key_"), app: app, name: name, proof: proof, scopes: scopes,
            channels: channels, types: types, expires: expires, created: now)
    }

    /// The digest by which a key's text is looked up: SHA-256 in hex. Keys are random, so an unsalted digest is
    /// sufficient.
    public static func digest(of text: String) -> String { digest(of: Secret(text: text)) }

    /// The digest of a text that is given as UTF-8.
    public static func digest(of credential: Secret) -> String { Hex.encode(sha256(credential.bytes)) }

    @discardableResult
    private func write(_ changes: [RecordChange]) async throws(ChatError) -> [Record] {
        try await mirror.write(changes, apply)
    }
}
