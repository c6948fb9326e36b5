import ChatCore
import ChatModel

/// Whose streams and held polls there are, and how many of whom.
struct StreamOwners {
    private struct User: Hashable {
        var space: SpaceID
        var name: ExactText

        /// Nil for a caller that speaks for no user in particular.
        init?(_ caller: Caller) {
            guard let user = caller.user else { return nil }
            space = caller.space
            name = ExactText(user)
        }
    }

    private let limits: Limits
    private var owners: [Caller: StreamOwner] = [:]
    private var perKey: [StreamOwner.Key: Int] = [:]
    private var perApp: [SpaceID: Int] = [:]
    private var perUser: [User: Int] = [:]

    init(limits: Limits) { self.limits = limits }

    /// Why the caller may have no stream or held poll more; nil while there is room.
    func refusal(of caller: Caller) -> ChatError? {
        if Self.isFull(perApp[caller.space], limits.streamsPerApp) {
            return Self.tooMany("app", limits.streamsPerApp)
        }
        if Self.isFull(perKey[StreamOwner.Key(caller)], limits.streamsPerKey) {
            return Self.tooMany("key", limits.streamsPerKey)
        }
        if let user = User(caller), Self.isFull(perUser[user], limits.streamsPerUser) {
            return Self.tooMany("user", limits.streamsPerUser)
        }
        return nil
    }

    private static func isFull(_ count: Int?, _ limit: Int) -> Bool { limit > 0 && (count ?? 0) >= limit }

    private static func tooMany(_ what: String, _ limit: Int) -> ChatError {
        ChatError(
            .tooMany, "this \(what) has \(limit) streams and polls open, which is its limit",
            slug: "too_many_streams", retryAfter: .seconds(5))
    }

    /// One stream or poll more.
    mutating func enter(_ caller: Caller) -> StreamOwner {
        let owner = owners[caller] ?? StreamOwner(caller)
        owners[caller] = owner
        owner.count += 1
        perKey[owner.key, default: 0] += 1
        if limits.streamsPerApp > 0 { perApp[caller.space, default: 0] += 1 }
        if limits.streamsPerUser > 0, let user = User(caller) { perUser[user, default: 0] += 1 }
        return owner
    }

    /// One stream or poll less.
    mutating func leave(_ owner: StreamOwner) {
        owner.count -= 1
        if owner.count == 0 { owners[owner.caller] = nil }
        Self.decrease(&perKey, owner.key)
        Self.decrease(&perApp, owner.caller.space)
        if let user = User(owner.caller) { Self.decrease(&perUser, user) }
    }

    private static func decrease<Key>(_ counts: inout [Key: Int], _ key: Key) {
        guard let count = counts[key] else { return }
        counts[key] = count > 1 ? count - 1 : nil
    }

    /// Notes when a credential ends now. False when nobody uses it.
    func change(_ key: StreamOwner.Key, expires: Timetoken?) -> Bool {
        guard perKey[key] != nil else { return false }
        for owner in owners.values where owner.key == key { owner.expires = expires }
        return true
    }

    /// The credentials that have ended by now.
    func ended(at now: Timetoken) -> Set<StreamOwner.Key> {
        Set(owners.values.compactMap { owner in owner.expires.flatMap { $0 <= now ? owner.key : nil } })
    }
}

extension StreamOwner.Key {
    fileprivate init(_ caller: Caller) { self.init(space: caller.space, id: caller.credential) }
}
