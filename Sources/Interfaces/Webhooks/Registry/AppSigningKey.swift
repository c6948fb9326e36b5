import ChatCore
public import ChatModel
public import JSON
import Locking
import Logging
import Signing

/// The Ed25519 key that signs an app's deliveries where a webhook asks for it.
///
/// One for each app and not one for the gateway: with a shared key an app could have the gateway sign, for a receiver of
/// another app, whatever it likes. It is copied into the record of each webhook that uses it, so that all that is needed to
/// send stands in one place.
struct AppSigningKey: Sendable, Equatable {
    /// The one before a rotation, which signs beside the present one for a while.
    struct Previous: Sendable {
        let key: Ed25519PrivateKey
        let until: Timetoken

        var text: String { StandardSigningKey.ed25519(key).text }
    }

    let key: Ed25519PrivateKey
    var previous: Previous?

    init(_ key: Ed25519PrivateKey) { self.key = key }

    /// Reads `text`, and that of the previous one where there is one.
    init?(_ text: String, previous: (text: String, until: Timetoken)? = nil) {
        guard let key = Self.key(text) else { return nil }
        self.key = key
        guard let previous else { return }
        guard let key = Self.key(previous.text) else { return nil }
        self.previous = Previous(key: key, until: previous.until)
    }

    private static func key(_ text: String) -> Ed25519PrivateKey? {
        // The only news of a failure is that it is no key of ours.
        guard case .ed25519(let key) = try? StandardSigningKey(text) else { return nil }
        return key
    }

    static func == (left: AppSigningKey, right: AppSigningKey) -> Bool {
        left.text == right.text && left.previous?.text == right.previous?.text
            && left.previous?.until == right.previous?.until
    }

    /// What signs now, the present one first.
    func active(at now: Timetoken) -> [Ed25519PrivateKey] {
        [key] + (previous.map { now < $0.until ? [$0.key] : [] } ?? [])
    }

    /// `whsk_…`
    var text: String { StandardSigningKey.ed25519(key).text }
    /// Names it in the published set.
    var id: String { key.publicKey.thumbprint }
    /// `whpk_…`
    var publicText: String { StandardVerificationKey.ed25519(key.publicKey).text }
}

/// The public keys as they were last read.
struct PublishedKeys: Sendable {
    static let life: Duration = .seconds(10)

    struct Entry: Sendable {
        let app: AppID
        let etag: String
        /// Each until the moment beside it; empty: its record is damaged.
        let jwks: [(text: String, until: Timetoken)]
    }

    var entries: [Entry] = []
    var until = Timetoken.zero
}

extension WebhookRegistry {
    /// The app's key, made when it is first asked for.
    func signingKey(of app: AppID) async throws(ChatError) -> AppSigningKey {
        let recordKey = Self.signingKeyRecord(of: app)
        for _ in 0..<2 {
            if let record = try await directory.read(recordKey) { return try open(record) }
            let made = AppSigningKey(Ed25519PrivateKey.generate(from: options.random))
            do {
                try await write(made, to: recordKey, demand: .absent)
                return made
            } catch {
                // Made by somebody else in between: theirs counts.
                guard error.code == .conflict else { throw error }
            }
        }
        throw ChatError(.unavailable, "the app's signing key cannot be had")
    }

    /// Changes to another key; the present one signs beside it, and is published beside it, for `overlap`. One from before
    /// the present one ends.
    /// - Parameter overlap: zero to ``longestOverlap``.
    /// - Throws: `.forbidden` for who does not reach all that webhooks may be told of; `.malformed` for another overlap;
    ///   `.conflict` when somebody else changes it. What fails after that is made good by the next call or start.
    public func rotateSigningKey(
        overlap: Duration = .seconds(24 * 3600), by caller: Caller
    ) async throws(ChatError) -> RotatedSigningKey {
        try caller.demand(.manage)
        guard caller.channels.contains(.all), caller.types.contains(.all) else {
            throw ChatError(
                .forbidden, "the key signs for every webhook of the app, and this credential does not reach all")
        }
        guard overlap >= .zero, overlap <= Self.longestOverlap else {
            throw ChatError(.malformed, "the overlap must be between 0 and 168 hours")
        }
        let recordKey = Self.signingKeyRecord(of: caller.app)
        let record = try await directory.read(recordKey)
        var made = AppSigningKey(Ed25519PrivateKey.generate(from: options.random))
        if let record, overlap > .zero {
            let present = try open(record)
            made.previous = AppSigningKey.Previous(key: present.key, until: service.clock.now.adding(overlap))
        }
        try await write(made, to: recordKey, demand: record.map { .etag($0.etag) } ?? .absent)
        try await handOutSigningKey(of: caller.app)
        return RotatedSigningKey(made)
    }

    /// Brings the copies that webhooks have of the app's key in line with it.
    func handOutSigningKey(of app: AppID) async throws(ChatError) {
        let holders = snapshot.withLock { snapshot in
            snapshot.subscribers(in: app).compactMap { snapshot[$0] }.filter { $0.appKey != nil }
        }
        guard !holders.isEmpty else { return }
        let key = try await signingKey(of: app)
        for webhook in holders where webhook.appKey != key {
            do throws(ChatError) {
                _ = try await change(webhook.subscriber, ifMatch: nil) { if $0.appKey != nil { $0.appKey = key } }
            } catch {
                // Deleted meanwhile, or no longer to be read: nothing is signed for it.
                if error.code != .notFound, error.code != .conflict { throw error }
            }
        }
    }

    private func write(
        _ key: AppSigningKey, to recordKey: RecordKey, demand: RecordChange.Precondition
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
        _ = try await directory.write([RecordChange(recordKey, body: body, demand: demand)])
        published.withLock { $0.until = .zero }
    }

    /// The public halves of the keys of all apps, or of one, as JSON Web Keys. Kept in memory: anybody may ask. One made on
    /// another node is there within ``PublishedKeys/life``.
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
        repeat {
            let page = try await directory.list(query)
            for record in page.items {
                let app = AppID(String(record.key.id.dropFirst(Self.signingKeyPrefix.count)))
                let same = known[record.etag].flatMap { $0.app == app ? $0 : nil }
                keys.entries.append(same ?? PublishedKeys.Entry(app: app, etag: record.etag, jwks: jwks(record)))
            }
            query.cursor = page.cursor
        } while query.cursor != nil
        published.withLock { $0 = keys }
        return keys
    }

    /// Empty for a damaged one: the keys of other apps are there all the same.
    private func jwks(_ record: Record) -> [(text: String, until: Timetoken)] {
        do {
            let key = try open(record)
            let previous = key.previous.map { [($0.key.publicKey.jwk, $0.until)] } ?? []
            return [(key.key.publicKey.jwk, .distantFuture)] + previous
        } catch {
            logger.error(
                "signing key not published", metadata: ["record": "\(record.key.id)", "error": "\(error.message)"])
            return []
        }
    }

    private func open(_ record: Record) throws(ChatError) -> AppSigningKey {
        let root = (try? JSONDocument(record.body))?.root
        func opened(_ name: String) -> String? {
            root?[name]?.string.flatMap { try? service.vault.openText($0, context: record.key.vaultContext) }
        }
        let until = root?["previous_until"]?.string.flatMap { Timetoken(text: $0) }
        // A previous one that cannot be opened is no reason to sign nothing.
        let previous = opened("previous_key").flatMap { text in until.map { (text, $0) } }
        guard let key = opened("key").flatMap({ AppSigningKey($0, previous: previous) }) else {
            throw ChatError(.unavailable, "the app's signing key cannot be read; is a key missing in secrets_key?")
        }
        return key
    }

    private static let signingKeyPrefix = "webhook-signing-key/"

    /// In the gateway's own space, where sealed settings are kept current.
    private static func signingKeyRecord(of app: AppID) -> RecordKey {
        RecordKey(.setting, signingKeyPrefix + app.name, in: .gateway)
    }
}

/// An app's signing key as it is after a rotation: what is public of it.
public struct RotatedSigningKey: Sendable {
    public let id: String
    /// `whpk_…`
    let publicText: String
    /// The one before, until when it signs too; nil where there was none, or it ended at once.
    public let previous: (id: String, until: Timetoken)?

    init(_ key: AppSigningKey) {
        id = key.id
        publicText = key.publicText
        previous = key.previous.map { ($0.key.publicKey.thumbprint, $0.until) }
    }

    /// Prints it as the next value of `writer`.
    public func print(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("key_id", id)
        writer.member("public_key", publicText)
        writer.optionalMember("previous_key_id", previous?.id)
        writer.optionalMember("previous_until", previous?.until.timestamp)
        writer.endObject()
    }
}
