public import ChatModel
public import JSON
import Locking
public import Signing
import Synchronization

/// The apps and API keys in memory, so that requests are authenticated without waiting for the store.
///
/// The stored records of apps and keys are authoritative; the keyring follows their changes. A key that is added or
/// removed on this node takes effect immediately on this node, and within a second on other nodes.
public final class Keyring: Sendable {
    struct Contents {
        var apps: [AppID: AppRecord] = [:]
        var bySubscribeKey: [ExactText: Keyset] = [:]
        /// The apps that accept only events of declared types.
        var declaredOnly: Set<AppID> = []
        var keys: [RecordKey: APIKey] = [:]
        var byDigest: [String: RecordKey] = [:]
        /// The record keys of the API keys that sign tokens, by the id of the API key. These ids are unique in the
        /// gateway.
        var signing: [String: RecordKey] = [:]
        /// The deployment's rate limits for keys and apps without limits of their own.
        private var keyDefaults = RatePolicies()
        private var appDefaults = RatePolicies()

        var meters: [RecordKey: RateMeters] = [:]
        /// A cache: the caller of each key that was looked up, by the key's text. Emptied when the keyring
        /// changes.
        private var callers: [Secret: CachedCaller] = [:]
        /// The entry of `callers` that was used last. Nil when the keyring has changed since. Most installations send
        /// their requests with one key, which is then found without hashing its text.
        private var lastUsed: CachedCaller?
        /// The caller that ``caller(key:in:)`` has found last. Nil when the keyring has changed since.
        private var lastFound: Caller?
        var uses = KeyUses()

        init(_ limits: Limits) { setDefaults(limits) }

        mutating func setDefaults(_ limits: Limits) {
            keyDefaults = RatePolicies(
                requests: RatePolicy(default: limits.keyRequestsPerSecond, in: .seconds(1)))
            appDefaults = RatePolicies(
                requests: RatePolicy(default: limits.appRequestsPerSecond, in: .seconds(1)),
                events: RatePolicy(default: limits.appEventsPerDay, in: .seconds(24 * 3600)))
            forgetCallers()
            apps = apps.mapValues { metered($0, former: $0) }
            bySubscribeKey = bySubscribeKey.mapValues { apps[$0.app].map(Keyset.init) ?? $0 }
            for key in keys.values { meter(key) }
        }

        private mutating func forgetCallers() {
            callers.removeAll()
            lastUsed = nil
            lastFound = nil
        }

        /// An entry of the cache. A class, so that a lookup copies a reference and not the fields.
        private final class CachedCaller {
            let credential: Secret
            let caller: Caller
            let key: RecordKey
            /// The time at which the key expires or its next use must be recorded, whichever is earlier.
            var nextCheck = Timetoken.zero

            init(_ credential: Secret, caller: Caller, key: RecordKey) {
                self.credential = credential
                self.caller = caller
                self.key = key
            }
        }

        /// Returns the caller of a key, and records the use of the key; nil when no key has this text, or when the key
        /// has expired.
        mutating func caller(of credential: Swift.Span<UInt8>, at now: Timetoken) -> Caller? {
            let known: CachedCaller
            if let lastUsed, lastUsed.credential.equals(credential) {
                known = lastUsed
            } else {
                guard let entry = entry(of: Secret(credential)) else { return nil }
                known = entry
                lastUsed = entry
            }
            guard now >= known.nextCheck else { return known.caller }
            guard !known.caller.isExpired(at: now) else { return nil }
            known.nextCheck = min(uses.record(known.key, at: now), known.caller.expires ?? .distantFuture)
            return known.caller
        }

        private mutating func entry(of credential: Secret) -> CachedCaller? {
            if let known = callers[credential] { return known }
            guard let key = byDigest[Keyring.digest(of: credential)].flatMap({ keys[$0] }) else { return nil }
            let entry = CachedCaller(credential, caller: caller(of: key), key: key.recordKey)
            callers[credential] = entry
            return entry
        }

        /// Returns the caller of the key with this id, even if the key has expired; nil when there is no such key.
        mutating func caller(key id: String, in app: AppID) -> Caller? {
            if let lastFound, lastFound.credential == id, lastFound.app == app { return lastFound }
            lastFound = keys[RecordKey(.key, id, in: app)].map { caller(of: $0) }
            return lastFound
        }

        func caller(of key: APIKey) -> Caller {
            Caller(
                app: key.app, credential: key.id, scopes: key.scopes, channels: key.channels, types: key.types,
                expires: key.expires, isOperator: isOperator(key), meters: meters[key.recordKey])
        }

        private func isOperator(_ key: APIKey) -> Bool {
            apps[key.app]?.isFirst == true && key.scopes.contains(.admin) && key.channels.contains(.all)
                && key.types.contains(.all)
        }

        mutating func put(_ app: AppRecord?, for id: AppID) {
            forgetCallers()
            let former = apps[id]
            if let former, bySubscribeKey[ExactText(former.subscribeKey)]?.app == id {
                bySubscribeKey[ExactText(former.subscribeKey)] = nil
            }
            let app = app.map { metered($0, former: former) }
            apps[id] = app
            if app?.requiresDeclaredTypes == true { declaredOnly.insert(id) } else { declaredOnly.remove(id) }
            if let app { bySubscribeKey[ExactText(app.subscribeKey)] = Keyset(app) }
            if app?.meters != nil || former?.meters != nil {
                for key in keys.values where key.app == id { meter(key) }
            }
        }

        /// Returns a copy of the app with meters for its rate limits. For a limit that is the same in `former`, the
        /// meter keeps its state.
        private func metered(_ app: AppRecord, former: AppRecord?) -> AppRecord {
            var app = app
            app.meters = RateMeters(app.rates.completed(by: appDefaults), name: "app", former: former?.meters)
            return app
        }

        /// Updates the meters of a key to the rate limits of the key and of its app. The requests of an operator do not
        /// count against the app's limits, so that a client that floods an app cannot lock out the operator.
        mutating func meter(_ key: APIKey) {
            let app = apps[key.app]
            meters[key.recordKey] = RateMeters(
                key.rates.completed(by: keyDefaults), name: "key",
                next: isOperator(key) ? app?.meters?.ofEvents : app?.meters, former: meters[key.recordKey])
        }

        /// Sets or removes a key. Returns the previous key.
        mutating func put(_ key: APIKey?, for record: RecordKey) -> APIKey? {
            forgetCallers()
            let old = keys[record]
            switch old?.proof {
            case .text(let digest): byDigest[digest] = nil
            case .signature: signing[record.id] = nil
            case nil: break
            }
            keys[record] = key
            switch key?.proof {
            case .text(let digest): byDigest[digest] = record
            case .signature: signing[record.id] = record
            case nil: break
            }
            if let key {
                meter(key)
            } else {
                meters[record] = nil
                uses.forget(record)
            }
            return old
        }
    }

    let directory: any Directory
    let mirror: RecordMirror
    let clock: WallClock
    let vault: Vault
    let contents: Lock<Contents>
    /// True when any app accepts only events of declared types. While it is false, an emit does not take the lock of
    /// `contents` to ask for its app.
    private let anyRequiresDeclaredTypes = Atomic(false)
    static let gatewayKeyBytes = 32
    /// The gateway's own key. Until `load` has read the stored key, the value is a new random key.
    let gatewayKey = Lock(Secret(SystemRandomSource().bytes(gatewayKeyBytes)))
    private let observers = Lock<[@Sendable (APIKey) -> Void]>([])
    private let appObservers = Lock<[@Sendable (AppID) -> Void]>([])

    init(directory: any Directory, clock: WallClock, vault: Vault, limits: Limits) {
        contents = Lock(Contents(limits))
        self.directory = directory
        mirror = RecordMirror([.app, .key, .setting], of: directory)
        self.clock = clock
        self.vault = vault
    }

    /// Sets the default rate limits of keys and apps without limits of their own. A limit that did not change keeps the
    /// state of its meter.
    public func replace(limits: Limits) { contents.withLock { $0.setDefaults(limits) } }

    /// Returns the caller of a key; nil when no key has this text, or when the key has expired.
    ///
    /// The duration of the lookup reveals nothing about a key: texts are compared in constant time, and a text that is
    /// not in the cache is looked up by its SHA-256 digest.
    ///
    /// - Parameter credential: the text of the key, as UTF-8.
    public func caller(of credential: Swift.Span<UInt8>) -> Caller? {
        let now = clock.now
        return contents.withLock { $0.caller(of: credential, at: now) }
    }

    /// Returns the caller of a key; see ``caller(of:)-(Swift.Span<UInt8>)``.
    public func caller(of credential: Secret) -> Caller? { caller(of: credential.bytes.span) }

    /// The credential id of user tokens signed with an app's `secret_key`. The credential has the scopes `read` and
    /// `emit`, and is valid as long as the app exists.
    public static let secretCredential = "secret_key"

    /// Returns the caller of the key with this id, for credentials derived from a key; nil when the key does not exist
    /// or has expired. The id ``secretCredential`` means the app's secret.
    public func caller(key id: String, in app: AppID) -> Caller? {
        let now = clock.now
        return contents.withLock { contents in
            if id == Self.secretCredential {
                return contents.apps[app].map { app in
                    Caller(app: app.id, credential: id, scopes: [.read, .emit], meters: app.meters)
                }
            }
            guard let caller = contents.caller(key: id, in: app) else { return nil }
            return caller.isExpired(at: now) ? nil : caller
        }
    }

    /// Returns the signing key with this id, and its app; nil when the key does not exist or does not sign tokens.
    public func signingKey(_ id: String) -> (key: WebTokenKey, app: AppID)? {
        contents.withLock { contents in
            guard let record = contents.signing[id], let key = contents.keys[record],
                case .signature(let verifier, _) = key.proof
            else { return nil }
            return (verifier, key.app)
        }
    }

    /// Returns the key with this id, even if it has expired; nil when it does not exist.
    public func key(_ id: String, in app: AppID) -> APIKey? {
        contents.withLock { $0.keys[RecordKey(.key, id, in: app)] }
    }

    /// Returns the app with this id; nil when there is none.
    public func app(_ app: AppID) -> AppRecord? { contents.withLock { $0.apps[app] } }

    /// Returns true when there is an app with this id.
    public func contains(_ app: AppID) -> Bool { contents.withLock { $0.apps.index(forKey: app) != nil } }

    /// Returns the meters of an app's rate limits; nil when the app does not exist or has no rate limits.
    public func meters(of app: AppID) -> RateMeters? { contents.withLock { $0.apps[app]?.meters } }

    /// Returns the keyset with this subscribe key; nil when there is none.
    public func keyset(subscribeKey key: String) -> Keyset? {
        contents.withLock { $0.bySubscribeKey[ExactText(key)] }
    }

    /// Returns true when an app accepts only events of declared types.
    func requiresDeclaredTypes(_ app: AppID) -> Bool {
        anyRequiresDeclaredTypes.load(ordering: .acquiring) && contents.withLock { $0.declaredOnly.contains(app) }
    }

    /// All apps, ordered by id.
    public var apps: [AppRecord] {
        contents.withLock { contents in contents.apps.values.sorted { $0.id.name < $1.id.name } }
    }

    /// Calls `body` whenever a key is changed or removed. In `body`, check whether the connections that were opened
    /// with the key are still permitted.
    public func observe(_ body: @escaping @Sendable (APIKey) -> Void) {
        observers.withLock { $0.append(body) }
    }

    /// Calls `body` for each app that is changed or removed, after the change took effect. For connections that depend
    /// on the settings of an app instead of a key.
    public func observeApps(_ body: @escaping @Sendable (AppID) -> Void) {
        appObservers.withLock { $0.append(body) }
    }
}

extension Caller {
    fileprivate func isExpired(at now: Timetoken) -> Bool { expires.map { $0 <= now } ?? false }
}

extension Keyring {
    /// Reads all apps and keys. Must finish before the first request.
    ///
    /// - Returns: the revision to pass to `follow`.
    func load() async throws(ChatError) -> Revision {
        try await loadGatewayKey()
        let revision = try await directory.revision()
        try await mirror.load(.app, in: .gateway, apply)
        for app in apps { try await mirror.load(.key, in: app.id, apply) }
        try await loadUses()
        return revision
    }

    /// Updates the keyring after each change of a stored app or key, beginning after `revision`. Returns when the task
    /// is cancelled or the engine closes.
    func follow(from revision: Revision) async { await mirror.follow(from: revision, apply) }

    /// Updates the keyring from the record of one app or key. `record` is nil when the record was removed.
    func apply(_ key: RecordKey, _ record: Record?) {
        switch key.kind {
        case .app:
            put(record.flatMap { AppRecord($0, vault) }, for: AppID(key.id))
            for observer in appObservers.withLock({ $0 }) { observer(AppID(key.id)) }
        case .key:
            let apiKey = record.flatMap(APIKey.init)
            if let old = contents.withLock({ $0.put(apiKey, for: key) }) { notify(old) }
        case .setting where key == KeyUses.recordKey(of: key.app):
            if let record { mergeUses(record) }
        default: break
        }
    }

    private func put(_ app: AppRecord?, for id: AppID) {
        contents.withLock { contents in
            contents.put(app, for: id)
            anyRequiresDeclaredTypes.store(!contents.declaredOnly.isEmpty, ordering: .releasing)
        }
    }

    private func notify(_ key: APIKey) {
        for observer in observers.withLock({ $0 }) { observer(key) }
    }
}

extension RatePolicies {
    /// Prints the members `rate_limit` and `event_quota` of a JSON object, and leaves out a limit that is not set. Used
    /// for stored records and for the native API.
    func printMembers(to writer: inout JSONWriter) {
        if let requests { writer.member("rate_limit", requests.text) }
        if let events { writer.member("event_quota", events.text) }
    }

    /// Creates the rate limits from a JSON object with the members that ``printMembers(to:)`` prints.
    init(_ root: JSONValue) {
        self.init(requests: RatePolicy(root["rate_limit"]), events: RatePolicy(root["event_quota"]))
    }
}

extension RatePolicy {
    /// The policy as JSON: `{"quantity":…,"window_seconds":…}`.
    public var text: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("quantity", quantity)
            writer.member("window_seconds", window.components.seconds)
            writer.endObject()
        }
    }

    fileprivate init?(_ value: JSONValue?) {
        guard let quantity = value?["quantity"]?.integer, let seconds = value?["window_seconds"]?.integer else {
            return nil
        }
        self.init(Int(quantity), in: .seconds(seconds))
    }
}
