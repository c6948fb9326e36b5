public import ChatModel
public import JSON
import Locking
public import Signing

/// Apps and API keys, held in memory so that a request is authenticated without waiting for the store.
///
/// The directory is the truth; this follows it. A key made or removed on this node counts at once, on another within a
/// second.
public final class Keyring: Sendable {
    struct Contents {
        var apps: [AppID: AppRecord] = [:]
        var bySubscribeKey: [ExactText: AppID] = [:]
        var keys: [RecordKey: APIKey] = [:]
        var byDigest: [String: RecordKey] = [:]
        /// The keys that sign tokens, by their ids, which are unique in the gateway.
        var signing: [String: RecordKey] = [:]
        /// What the deployment holds keys and apps to that say nothing themselves.
        private var keyDefaults = RatePolicies()
        private var appDefaults = RatePolicies()

        var meters: [RecordKey: RateMeters] = [:]
        /// Whom the digests that were shown stand for, until anything here changes.
        private var callers: [String: CachedCaller] = [:]
        var uses = KeyUses()

        init(_ limits: Limits) { setDefaults(limits) }

        mutating func setDefaults(_ limits: Limits) {
            keyDefaults = RatePolicies(
                requests: RatePolicy(default: limits.keyRequestsPerSecond, in: .seconds(1)))
            appDefaults = RatePolicies(
                requests: RatePolicy(default: limits.appRequestsPerSecond, in: .seconds(1)),
                events: RatePolicy(default: limits.appEventsPerDay, in: .seconds(24 * 3600)))
            callers.removeAll()
            apps = apps.mapValues { metered($0, former: $0) }
            for key in keys.values { meter(key) }
        }

        private struct CachedCaller {
            let caller: Caller
            let key: RecordKey
            /// A use before this moment needs no note.
            var noted: Timetoken
        }

        /// The caller that a digest stands for, by whom the key is used now; nil when there is no such key, or it has expired.
        mutating func caller(digest: String, at now: Timetoken) -> Caller? {
            if let index = callers.index(forKey: digest) {
                let known = callers.values[index]
                guard !known.caller.isExpired(at: now) else { return nil }
                if now >= known.noted { callers.values[index].noted = uses.note(known.key, at: now) }
                return known.caller
            }
            guard let key = byDigest[digest].flatMap({ keys[$0] }) else { return nil }
            let caller = caller(of: key)
            guard !caller.isExpired(at: now) else { return nil }
            callers[digest] = CachedCaller(caller: caller, key: key.recordKey, noted: uses.note(key.recordKey, at: now))
            return caller
        }

        func caller(of key: APIKey) -> Caller {
            var caller = Caller(
                app: key.app, credential: key.id, scopes: key.scopes, channels: key.channels, types: key.types,
                expires: key.expires, isOperator: isOperator(key))
            // Looking into an empty table costs nothing.
            caller.meters = meters[key.recordKey]
            return caller
        }

        private func isOperator(_ key: APIKey) -> Bool {
            apps[key.app]?.isFirst == true && key.scopes.contains(.admin) && key.channels.contains(.all)
                && key.types.contains(.all)
        }

        mutating func put(_ app: AppRecord?, for id: AppID) {
            callers.removeAll()
            let former = apps[id]
            if let former, bySubscribeKey[ExactText(former.subscribeKey)] == id {
                bySubscribeKey[ExactText(former.subscribeKey)] = nil
            }
            let app = app.map { metered($0, former: former) }
            apps[id] = app
            if let app { bySubscribeKey[ExactText(app.subscribeKey)] = id }
            if app?.meters != nil || former?.meters != nil {
                for key in keys.values where key.app == id { meter(key) }
            }
        }

        /// The app with the meters of its policies; where one stays as it was, so does its bucket.
        private func metered(_ app: AppRecord, former: AppRecord?) -> AppRecord {
            var app = app
            app.meters = RateMeters(app.rates.completed(by: appDefaults), name: "app", former: former?.meters)
            return app
        }

        /// Brings the meters of a key in line with its policies and its app's. An operator's requests do not count as the
        /// app's: whoever floods an app must not keep out the one who can stop it.
        mutating func meter(_ key: APIKey) {
            let app = apps[key.app]
            meters[key.recordKey] = RateMeters(
                key.rates.completed(by: keyDefaults), name: "key",
                next: isOperator(key) ? app?.meters?.ofEvents : app?.meters, former: meters[key.recordKey])
        }

        /// Puts a key, or takes it away. Returns what was there.
        mutating func put(_ key: APIKey?, for record: RecordKey) -> APIKey? {
            callers.removeAll()
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
    static let gatewayKeyBytes = 32
    /// A random one until `load` has read the stored one.
    let gatewayKey = Lock(Secret(SystemRandomSource().bytes(gatewayKeyBytes)))
    private let observers = Lock<[@Sendable (APIKey) -> Void]>([])
    private let appObservers = Lock<[@Sendable (AppID) -> Void]>([])

    init(directory: any Directory, clock: WallClock, vault: Vault, limits: Limits) {
        contents = Lock(Contents(limits))
        self.directory = directory
        mirror = RecordMirror([.app, .key], of: directory)
        self.clock = clock
        self.vault = vault
    }

    /// Holds keys and apps that say nothing themselves to other rates from now on. Buckets whose rate stays are kept.
    public func replace(limits: Limits) { contents.withLock { $0.setDefaults(limits) } }

    /// The caller a key stands for; nil when there is no such key, or it has expired.
    ///
    /// - Parameter digest: SHA-256 of the key's text, in hex. Looking a digest up tells an attacker nothing about the
    ///   key by its timing.
    public func caller(digest: String) -> Caller? {
        let now = clock.now
        return contents.withLock { $0.caller(digest: digest, at: now) }
    }

    /// The credential of users' tokens that an app's `secret_key` has signed: what such a token can allow, for as long as the
    /// app is there.
    public static let secretCredential = "secret_key"

    /// The caller a key's id stands for, for credentials derived from it; the app's own secret counts as one.
    public func caller(key id: String, in app: AppID) -> Caller? {
        let now = clock.now
        return contents.withLock { contents in
            if id == Self.secretCredential {
                return contents.apps[app].map { app in
                    var caller = Caller(app: app.id, credential: id, scopes: [.read, .emit])
                    caller.meters = app.meters
                    return caller
                }
            }
            guard let key = contents.keys[RecordKey(.key, id, in: app)] else { return nil }
            let caller = contents.caller(of: key)
            return caller.isExpired(at: now) ? nil : caller
        }
    }

    /// The key of that id when it is one that signs tokens, and its app.
    public func signingKey(_ id: String) -> (key: WebTokenKey, app: AppID)? {
        contents.withLock { contents in
            guard let record = contents.signing[id], let key = contents.keys[record],
                case .signature(let verifier, _) = key.proof
            else { return nil }
            return (verifier, key.app)
        }
    }

    /// The key with an id, whether or not it still holds.
    public func key(_ id: String, in app: AppID) -> APIKey? {
        contents.withLock { $0.keys[RecordKey(.key, id, in: app)] }
    }

    public func app(_ app: AppID) -> AppRecord? { contents.withLock { $0.apps[app] } }

    /// The app that a subscribe key names.
    public func app(subscribeKey key: String) -> AppRecord? {
        contents.withLock { contents in contents.bySubscribeKey[ExactText(key)].flatMap { contents.apps[$0] } }
    }

    /// Whether an app takes events of declared types only.
    func requiresDeclaredTypes(_ app: AppID) -> Bool {
        contents.withLock { $0.apps[app]?.requiresDeclaredTypes ?? false }
    }

    /// In the order of their ids.
    public var apps: [AppRecord] {
        contents.withLock { contents in contents.apps.values.sorted { $0.id.name < $1.id.name } }
    }

    /// Calls `body` whenever a key was removed or changed: what it opened must be looked at again.
    public func observe(_ body: @escaping @Sendable (APIKey) -> Void) {
        observers.withLock { $0.append(body) }
    }

    /// Calls `body` with each app that is changed or gone, after it counts: for whoever holds a connection by what the app
    /// says rather than by a key.
    public func observeApps(_ body: @escaping @Sendable (AppID) -> Void) {
        appObservers.withLock { $0.append(body) }
    }
}

extension Caller {
    fileprivate func isExpired(at now: Timetoken) -> Bool { expires.map { $0 <= now } ?? false }
}

extension Keyring {
    /// Reads every app and key. Before the first request.
    ///
    /// - Returns: the revision from which `follow` goes on.
    func load() async throws(ChatError) -> Revision {
        try await loadGatewayKey()
        let revision = try await directory.revision()
        try await mirror.load(.app, in: .gateway, apply)
        for app in apps { try await mirror.load(.key, in: app.id, apply) }
        try await loadUses()
        return revision
    }

    /// Applies what changes in the directory, until the engine closes.
    func follow(from revision: Revision) async { await mirror.follow(from: revision, apply) }

    /// Takes one record as it is now; nil when it was removed.
    func apply(_ key: RecordKey, _ record: Record?) {
        switch key.kind {
        case .app:
            if let app = record.flatMap({ AppRecord($0, vault) }) {
                put(app)
            } else {
                contents.withLock { $0.put(nil, for: AppID(key.id)) }
            }
            for observer in appObservers.withLock({ $0 }) { observer(AppID(key.id)) }
        case .key:
            let apiKey = record.flatMap(APIKey.init)
            if let old = contents.withLock({ $0.put(apiKey, for: key) }) { tell(old) }
        default: break
        }
    }

    private func put(_ app: AppRecord) { contents.withLock { $0.put(app, for: app.id) } }

    private func tell(_ key: APIKey) {
        for observer in observers.withLock({ $0 }) { observer(key) }
    }
}

extension RatePolicies {
    /// Prints those that are set as members of an object: of records, and of the native API.
    func printMembers(to writer: inout JSONWriter) {
        if let requests { writer.member("rate_limit", requests.text) }
        if let events { writer.member("event_quota", events.text) }
    }

    /// Reads what `printMembers` printed.
    init(_ root: JSONValue) {
        self.init(requests: RatePolicy(root["rate_limit"]), events: RatePolicy(root["event_quota"]))
    }
}

extension RatePolicy {
    /// `{"quantity":…,"window_seconds":…}`
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
