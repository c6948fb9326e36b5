import ChatCore
public import ChatModel
public import JSON
import Locking
import Logging
import Signing

/// The Ed25519 key that signs an app's deliveries for webhooks that request it.
///
/// Each app has a key of its own. With one key for the whole gateway, an app could make the gateway sign any content
/// for a receiver of another app. The key is copied into the record of each webhook that uses it, so that the record
/// contains everything that sending needs.
struct AppSigningKey: Sendable, Equatable {
    /// The key before a rotation, which also signs until `until`.
    struct Previous: Sendable {
        let key: Ed25519PrivateKey
        let until: Timetoken

        var text: String { StandardSigningKey.ed25519(key).text }
    }

    let key: Ed25519PrivateKey
    var previous: Previous?

    init(_ key: Ed25519PrivateKey) { self.key = key }

    /// Parses the key, and the previous key if there is one. Nil when a text is not a valid key.
    init?(_ text: String, previous: (text: String, until: Timetoken)? = nil) {
        guard let key = Self.key(text) else { return nil }
        self.key = key
        guard let previous else { return }
        guard let key = Self.key(previous.text) else { return nil }
        self.previous = Previous(key: key, until: previous.until)
    }

    private static func key(_ text: String) -> Ed25519PrivateKey? {
        // Every error means that the text is not a valid key.
        guard case .ed25519(let key) = try? StandardSigningKey(text) else { return nil }
        return key
    }

    static func == (left: AppSigningKey, right: AppSigningKey) -> Bool {
        left.text == right.text && left.previous?.text == right.previous?.text
            && left.previous?.until == right.previous?.until
    }

    /// The keys that sign now, the current key first.
    func active(at now: Timetoken) -> [Ed25519PrivateKey] {
        [key] + (previous.map { now < $0.until ? [$0.key] : [] } ?? [])
    }

    /// The private key as text: `whsk_…`.
    var text: String { StandardSigningKey.ed25519(key).text }
    /// The id of the key in the published key set.
    var id: String { key.publicKey.thumbprint }
    /// The public key as text: `whpk_…`.
    var publicText: String { StandardVerificationKey.ed25519(key.publicKey).text }
}

/// A cache of the public keys of all apps.
struct PublishedKeys: Sendable {
    static let life: Duration = .seconds(10)

    struct Entry: Sendable {
        let app: AppID
        let etag: String
        /// Each public key as a JSON Web Key, with the time until which it is published. Empty when the record is
        /// damaged.
        let jwks: [(text: String, until: Timetoken)]
    }

    var entries: [Entry] = []
    var until = Timetoken.zero
}

extension WebhookRegistry {
    /// Returns the app's key, which is created on first use.
    func signingKey(of app: AppID) async throws(ChatError) -> AppSigningKey {
        let recordKey = Self.signingKeyRecord(of: app)
        for _ in 0..<2 {
            if let record = try await directory.read(recordKey) { return try open(record) }
            let made = AppSigningKey(Ed25519PrivateKey.generate(from: options.random))
            do {
                try await write(made, to: recordKey, precondition: .absent)
                return made
            } catch {
                // Another caller has created the key in the meantime. That key is used.
                guard error.code == .conflict else { throw error }
            }
        }
        throw ChatError(.unavailable, "the app's signing key cannot be read")
    }

    /// Replaces the app's key. The previous key also signs, and stays published, for the duration `overlap`. An older
    /// key ends immediately.
    ///
    /// - Parameter overlap: zero to ``longestOverlap``.
    /// - Throws: `.forbidden` when the caller may not read everything that webhooks may match; `.malformed` for an
    ///   invalid overlap; `.conflict` when another request changes the key at the same time. If the copies in webhooks
    ///   cannot be updated afterwards, the next call or start updates them.
    public func rotateSigningKey(
        overlap: Duration = .seconds(24 * 3600), by caller: Caller
    ) async throws(ChatError) -> RotatedSigningKey {
        try caller.require(.manage)
        guard caller.channels.contains(.all), caller.types.contains(.all) else {
            throw ChatError(
                .forbidden,
                "the key signs for every webhook of the app, and this credential does not have access to all of them"
            )
        }
        guard overlap >= .zero, overlap <= Self.longestOverlap else {
            throw ChatError(.malformed, "'overlap_seconds' must be 0 to 604800, which is 168 hours")
        }
        let recordKey = Self.signingKeyRecord(of: caller.app)
        let record = try await directory.read(recordKey)
        var made = AppSigningKey(Ed25519PrivateKey.generate(from: options.random))
        if let record, overlap > .zero {
            let present = try open(record)
            made.previous = AppSigningKey.Previous(key: present.key, until: service.clock.now.adding(overlap))
        }
        try await write(made, to: recordKey, precondition: record.map { .etag($0.etag) } ?? .absent)
        try await updateSigningKeyCopies(of: caller.app)
        return RotatedSigningKey(made)
    }

    /// Updates the copies of the app's key in its webhooks.
    func updateSigningKeyCopies(of app: AppID) async throws(ChatError) {
        // Another node may have just created a webhook, with a copy of the former key.
        try await applyCommittedChanges()
        let holders = snapshot.withLock { snapshot in
            snapshot.subscribers(in: app).compactMap { snapshot[$0] }.filter { $0.appKey != nil }
        }
        guard !holders.isEmpty else { return }
        let key = try await signingKey(of: app)
        for webhook in holders where webhook.appKey != key {
            do throws(ChatError) {
                _ = try await change(webhook.subscriber, ifMatch: nil) { if $0.appKey != nil { $0.appKey = key } }
            } catch {
                // The webhook was deleted in the meantime, or its record cannot be read. Nothing is sent to it, so it
                // needs no key.
                if error.code != .notFound, error.code != .conflict { throw error }
            }
        }
    }

    private func write(
        _ key: AppSigningKey, to recordKey: RecordKey, precondition: RecordChange.Precondition
    ) async throws(ChatError) {
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("key", service.vault.seal(key.text, context: recordKey.vaultContext))
            if let previous = key.previous {
                writer.member("previous_key", service.vault.seal(previous.text, context: recordKey.vaultContext))
                writer.member("previous_until", previous.until.description)
            }
            writer.endObject()
        }
        _ = try await directory.write([RecordChange(recordKey, body: body, precondition: precondition)])
    }

    /// Returns the public keys of all apps, or of one app, as JSON Web Keys. The keys are cached, because anyone may
    /// request them. A change of a key on any node ends the cache. The keys of a damaged record are left out.
    ///
    /// - Parameter app: the app; nil for all apps.
    /// - Throws: the errors of the store.
    public func publishedKeys(of app: AppID? = nil) async throws(ChatError) -> [String] {
        let kept = published.withLock { [now = service.clock.now] in now < $0.until ? $0 : nil }
        let keys = if let kept { kept } else { try await readPublishedKeys() }
        let now = service.clock.now
        return keys.entries.filter { (app == nil || $0.app == app) && service.keyring.app($0.app) != nil }
            .flatMap { $0.jwks.filter { now < $0.until }.map(\.text) }
    }

    private func readPublishedKeys() async throws(ChatError) -> PublishedKeys {
        let known = Dictionary(published.withLock(\.entries).map { ($0.etag, $0) }, uniquingKeysWith: { $1 })
        var keys = PublishedKeys(until: service.clock.now.adding(PublishedKeys.life))
        var query = RecordQuery(.setting, in: .gateway, limit: 500)
        query.idPrefix = Self.signingKeyPrefix
        try await directory.forEachPage(query) { records in
            for record in records {
                let app = AppID(String(record.key.id.dropFirst(Self.signingKeyPrefix.count)))
                let same = known[record.etag].flatMap { $0.app == app ? $0 : nil }
                keys.entries.append(same ?? PublishedKeys.Entry(app: app, etag: record.etag, jwks: jwks(record)))
            }
        }
        published.withLock { $0 = keys }
        return keys
    }

    /// The public keys in a record. Empty for a damaged record, so that the keys of other apps are still returned.
    private func jwks(_ record: Record) -> [(text: String, until: Timetoken)] {
        do {
            let key = try open(record)
            let previous = key.previous.map { [($0.key.publicKey.jwk, $0.until)] } ?? []
            return [(key.key.publicKey.jwk, .distantFuture)] + previous
        } catch {
            logger.error(
                "cannot read a signing key; /.well-known/jwks.json leaves it out",
                metadata: ["record": "\(record.key.id)", "error": "\(error.message)"])
            return []
        }
    }

    private func open(_ record: Record) throws(ChatError) -> AppSigningKey {
        let root = (try? JSONDocument(record.body))?.root
        func opened(_ name: String) -> String? {
            root?[name]?.string.flatMap { try? service.vault.openText($0, context: record.key.vaultContext) }
        }
        let until = root?["previous_until"]?.string.flatMap { Timetoken(text: $0) }
        // If the previous key cannot be decrypted, the current key still signs.
        let previous = opened("previous_key").flatMap { text in until.map { (text, $0) } }
        guard let key = opened("key").flatMap({ AppSigningKey($0, previous: previous) }) else {
            throw ChatError(.unavailable, "the app's signing key cannot be read; is a key missing in secrets_key?")
        }
        return key
    }

    private static let signingKeyPrefix = "webhook-signing-key/"

    /// Returns true for the record of any app's key.
    static func isSigningKey(_ key: RecordKey) -> Bool {
        key.kind == .setting && key.app == .gateway && key.id.hasPrefix(signingKeyPrefix)
    }

    /// The key of the record that contains an app's signing key. The record belongs to the gateway's own app, because
    /// the encrypted records of that app are re-encrypted when the vault's key changes.
    private static func signingKeyRecord(of app: AppID) -> RecordKey {
        RecordKey(.setting, signingKeyPrefix + app.name, in: .gateway)
    }
}

/// The public part of an app's signing key, as the response to a rotation.
public struct RotatedSigningKey: Sendable {
    /// The id of the key in the published key set.
    public let id: String
    /// The public key as text: `whpk_…`.
    let publicText: String
    /// The id of the previous key and the time until which it also signs; nil if there was no previous key or it ended
    /// immediately.
    public let previous: (id: String, until: Timetoken)?

    init(_ key: AppSigningKey) {
        id = key.id
        publicText = key.publicText
        previous = key.previous.map { ($0.key.publicKey.thumbprint, $0.until) }
    }

    /// Prints the key as the next value of `writer`.
    public func print(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("key_id", id)
        writer.member("public_key", publicText)
        writer.optionalMember("previous_key_id", previous?.id)
        writer.optionalMember("previous_until", previous?.until.timestamp)
        writer.endObject()
    }
}
