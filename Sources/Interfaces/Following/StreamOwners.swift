public import ChatCore
public import ChatModel
import Locking

/// Whose streams they are: one object for all streams of one credential, so that a stream carries a reference.
public final class StreamOwner: Sendable {
    public let caller: Caller

    init(_ caller: Caller) { self.caller = caller }

    public var key: Key { Key(space: caller.space, id: caller.credential) }

    /// The credential itself, whatever a ticket narrows it to.
    public struct Key: Hashable, Sendable {
        public var space: SpaceID
        public var id: String

        public init(space: SpaceID, id: String) {
            self.space = space
            self.id = id
        }
    }
}

/// Whose streams and held polls there are, and how many of whom, in whatever wire language they were asked for.
public final class StreamOwners: Sendable {
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

    private struct Entry {
        let owner: StreamOwner
        var count = 0
        /// When the credential ends, as it is known now.
        var expires: Timetoken?
    }

    private struct Table {
        var entries: [Caller: Entry] = [:]
        var perKey: [StreamOwner.Key: Int] = [:]
        var perApp: [SpaceID: Int] = [:]
        var perUser: [User: Int] = [:]
    }

    private let liveLimits: LiveLimits
    private var limits: Limits { liveLimits.current }
    private let table = Lock(Table())

    public init(limits: LiveLimits) { liveLimits = limits }

    /// Why the caller may have no stream or held poll more; nil while there is room.
    public func refusal(of caller: Caller) -> ChatError? {
        table.withLock { table in
            if Self.isFull(table.perApp[caller.space], limits.streamsPerApp) {
                return Self.tooMany("app", limits.streamsPerApp)
            }
            if Self.isFull(table.perKey[StreamOwner.Key(caller)], limits.streamsPerKey) {
                return Self.tooMany("key", limits.streamsPerKey)
            }
            if let user = User(caller), Self.isFull(table.perUser[user], limits.streamsPerUser) {
                return Self.tooMany("user", limits.streamsPerUser)
            }
            return nil
        }
    }

    private static func isFull(_ count: Int?, _ limit: Int) -> Bool { limit > 0 && (count ?? 0) >= limit }

    private static func tooMany(_ what: String, _ limit: Int) -> ChatError {
        ChatError(
            .tooMany, "this \(what) has \(limit) streams and polls open, which is its limit",
            slug: "too_many_streams", retryAfter: .seconds(5))
    }

    /// One stream or poll more.
    public func enter(_ caller: Caller) -> StreamOwner {
        table.withLock { table in
            var entry = table.entries[caller] ?? Entry(owner: StreamOwner(caller), expires: caller.expires)
            entry.count += 1
            table.entries[caller] = entry
            table.perKey[entry.owner.key, default: 0] += 1
            // Counted without a limit too: there may be one as soon as the settings are read again.
            table.perApp[caller.space, default: 0] += 1
            if let user = User(caller) { table.perUser[user, default: 0] += 1 }
            return entry.owner
        }
    }

    /// One stream or poll less.
    public func leave(_ owner: StreamOwner) {
        table.withLock { table in
            if let entry = table.entries[owner.caller] {
                if entry.count > 1 {
                    table.entries[owner.caller]?.count -= 1
                } else {
                    table.entries[owner.caller] = nil
                }
            }
            Self.decrease(&table.perKey, owner.key)
            Self.decrease(&table.perApp, owner.caller.space)
            if let user = User(owner.caller) { Self.decrease(&table.perUser, user) }
        }
    }

    private static func decrease<Key>(_ counts: inout [Key: Int], _ key: Key) {
        guard let count = counts[key] else { return }
        counts[key] = count > 1 ? count - 1 : nil
    }

    /// Notes when a credential ends now. False when nobody uses it.
    public func change(_ key: StreamOwner.Key, expires: Timetoken?) -> Bool {
        table.withLock { table in
            guard table.perKey[key] != nil else { return false }
            for (caller, entry) in table.entries where entry.owner.key == key {
                // A token or ticket may end before the key it was made with.
                table.entries[caller]?.expires = [expires, caller.expires].compactMap(\.self).min()
            }
            return true
        }
    }

    /// The credentials that have ended by now.
    public func ended(at now: Timetoken) -> Set<StreamOwner.Key> {
        table.withLock { table in
            Set(
                table.entries.values.compactMap { entry in
                    entry.expires.flatMap { $0 <= now ? entry.owner.key : nil }
                })
        }
    }
}

extension StreamOwner.Key {
    fileprivate init(_ caller: Caller) { self.init(space: caller.space, id: caller.credential) }
}
