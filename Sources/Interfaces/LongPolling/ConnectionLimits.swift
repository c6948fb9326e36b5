public import ChatCore
public import ChatModel
public import HTTPServer
import Locking

/// The owner of streams and waiting polls. All streams and polls of one caller share one `ConnectionOwner`, so that
/// each of them stores only a reference.
public final class ConnectionOwner: Sendable {
    /// The caller that has opened the streams and polls.
    public let caller: Caller

    init(_ caller: Caller) { self.caller = caller }

    /// The key of the caller's credential. Several callers may have the same credential.
    public var key: Key { Key(app: caller.app, id: caller.credential) }

    /// The identity of a credential. All tickets and tokens of the credential have the same key.
    public struct Key: Hashable, Sendable {
        /// The app to which the credential belongs.
        public var app: AppID
        /// The credential's id.
        public var id: String

        /// Creates the key of a credential of an app.
        public init(app: AppID, id: String) {
            self.app = app
            self.id = id
        }
    }
}

/// Counts the open streams and waiting polls by owner, address, app, key and user. All interfaces share one object.
public final class ConnectionLimits: Sendable {
    private struct User: Hashable {
        var app: AppID
        var name: ExactText

        /// The user of a caller; nil for a caller without a user.
        init?(_ caller: Caller) {
            guard let user = caller.user else { return nil }
            app = caller.app
            name = ExactText(user)
        }
    }

    private struct Entry {
        let owner: ConnectionOwner
        var count = 0
        /// The earliest known time at which the credential ends; nil when no end is known.
        var expires: Timetoken?
    }

    private struct Table {
        var entries: [Caller: Entry] = [:]
        var expiries = Expiries()
        /// The owners whose credentials have ended and that still have streams or polls.
        var ended: [Caller: ConnectionOwner] = [:]
        var count = 0
        var perKey: [ConnectionOwner.Key: Int] = [:]
        var perApp: [AppID: Int] = [:]
        var perUser: [User: Int] = [:]
        var perAddress: [RemoteAddress: Int] = [:]
    }

    private let liveLimits: LiveLimits
    private var limits: Limits { liveLimits.current }
    private let table = Lock(Table())

    /// Creates counts of zero.
    ///
    /// - Parameter limits: read at every check, so that reloaded settings apply immediately.
    public init(limits: LiveLimits) { liveLimits = limits }

    /// Returns the error for a caller that may not open another stream or poll; nil while no limit is reached.
    ///
    /// - Parameters:
    ///   - address: the caller's address; nil if unknown.
    ///   - replaced: the address of the caller's open stream that the new stream replaces. That stream is not counted.
    ///     Nil when the new stream replaces none.
    public func refusal(
        of caller: Caller, from address: RemoteAddress?, replacing replaced: RemoteAddress? = nil
    ) -> ChatError? {
        let going = replaced == nil ? 0 : 1
        return table.withLock { table in
            if Self.isFull(table.count - going, limits.streamsInGateway) {
                return ChatError(
                    .overloaded, "the gateway has reached its limit of open streams and polls; try again later",
                    retryAfter: .seconds(10))
            }
            if let address,
                Self.isFull((table.perAddress[address] ?? 0) - (replaced == address ? 1 : 0), limits.streamsPerAddress)
            {
                return Self.tooMany("address", limits.streamsPerAddress)
            }
            if Self.isFull((table.perApp[caller.app] ?? 0) - going, limits.streamsPerApp) {
                return Self.tooMany("app", limits.streamsPerApp)
            }
            if Self.isFull((table.perKey[ConnectionOwner.Key(caller)] ?? 0) - going, limits.streamsPerKey) {
                return Self.tooMany("key", limits.streamsPerKey)
            }
            if let user = User(caller), Self.isFull((table.perUser[user] ?? 0) - going, limits.streamsPerUser) {
                return Self.tooMany("user", limits.streamsPerUser)
            }
            return nil
        }
    }

    private static func isFull(_ count: Int, _ limit: Int) -> Bool { limit > 0 && count >= limit }

    private static func tooMany(_ what: String, _ limit: Int) -> ChatError {
        .over(
            .tooMany, "this \(what) has reached its limit of \(limit) open streams and polls; close some of them first",
            slug: "too_many_streams",
            limit: limit, retryAfter: .seconds(5))
    }

    /// Adds one stream or poll of the caller to the counts, and returns the owner of the stream or poll.
    public func enter(_ caller: Caller, from address: RemoteAddress) -> ConnectionOwner {
        table.withLock { table in
            var entry = table.entries[caller] ?? Entry(owner: ConnectionOwner(caller), expires: caller.expires)
            entry.count += 1
            table.entries[caller] = entry
            if entry.count == 1 { Self.record(entry, in: &table) }
            table.count += 1
            if limits.streamsPerAddress > 0 { table.perAddress[address, default: 0] += 1 }
            table.perKey[entry.owner.key, default: 0] += 1
            // The counts are kept even without a limit, because reloaded settings may set one.
            table.perApp[caller.app, default: 0] += 1
            if let user = User(caller) { table.perUser[user, default: 0] += 1 }
            return entry.owner
        }
    }

    /// Removes one stream or poll from the counts.
    ///
    /// - Parameter address: the address passed to `enter`.
    public func leave(_ owner: ConnectionOwner, from address: RemoteAddress) {
        table.withLock { table in
            table.count -= 1
            Self.decrease(&table.perAddress, address)
            if let entry = table.entries[owner.caller] {
                if entry.count > 1 {
                    table.entries[owner.caller]?.count -= 1
                } else {
                    table.entries[owner.caller] = nil
                    table.ended[owner.caller] = nil
                }
            }
            Self.decrease(&table.perKey, owner.key)
            Self.decrease(&table.perApp, owner.caller.app)
            if let user = User(owner.caller) { Self.decrease(&table.perUser, user) }
        }
    }

    private static func decrease<Key>(_ counts: inout [Key: Int], _ key: Key) {
        guard let count = counts[key] else { return }
        counts[key] = count > 1 ? count - 1 : nil
    }

    /// Records the new time at which a credential ends; nil when the credential no longer ends. Returns false when the
    /// credential has no open stream or poll.
    public func change(_ key: ConnectionOwner.Key, expires: Timetoken?) -> Bool {
        table.withLock { table in
            guard table.perKey[key] != nil else { return false }
            for (caller, var entry) in table.entries where entry.owner.key == key {
                // A token or ticket may end earlier than the key with which it was created.
                entry.expires = [expires, caller.expires].compactMap(\.self).min()
                table.entries[caller] = entry
                table.ended[caller] = nil
                Self.record(entry, in: &table)
            }
            return true
        }
    }

    /// Records the time at which a secret of an app ends. The tokens that the secret has signed end then, or earlier if
    /// they expire earlier.
    ///
    /// - Parameter secretPrint: the fingerprint of the secret.
    func recordEnd(of secretPrint: String, in app: AppID, _ end: Timetoken) {
        table.withLock { table in
            for (caller, var entry) in table.entries
            where caller.app == app && caller.proof?.secretPrint == secretPrint {
                entry.expires = [entry.expires, end].compactMap(\.self).min()
                table.entries[caller] = entry
                Self.record(entry, in: &table)
            }
        }
    }

    private static func record(_ entry: Entry, in table: inout Table) {
        guard let expires = entry.expires else { return }
        table.expiries.insert(entry.owner, expires)
        // The entry of an owner without streams stays in the heap until its end. If most entries are of such owners,
        // the heap is built again.
        guard table.expiries.count > 2 * table.entries.count + 64 else { return }
        table.expiries = Expiries()
        for entry in table.entries.values {
            if let expires = entry.expires { table.expiries.insert(entry.owner, expires) }
        }
    }

    /// The owners whose credentials have ended and that still have streams or polls.
    public func ended(at now: Timetoken) -> [ConnectionOwner] {
        table.withLock { table in
            while let (owner, expires) = table.expiries.removeFirst(upTo: now) {
                // The entry may be outdated: the owner has left, has returned as another object, or has a credential
                // that now ends later.
                guard let entry = table.entries[owner.caller], entry.owner === owner, entry.expires == expires
                else { continue }
                table.ended[owner.caller] = owner
            }
            return Array(table.ended.values)
        }
    }

    /// The number of entries in the heap, for tests.
    var expiryCount: Int { table.withLock { $0.expiries.count } }
}

extension ConnectionOwner.Key {
    fileprivate init(_ caller: Caller) { self.init(app: caller.app, id: caller.credential) }
}

/// The times at which credentials end, in a heap with the earliest time first. While no credential has ended, only the
/// earliest time is compared with the current time.
struct Expiries {
    private var heap: [(owner: ConnectionOwner, expires: Timetoken)] = []

    var count: Int { heap.count }

    mutating func insert(_ owner: ConnectionOwner, _ expires: Timetoken) {
        heap.append((owner, expires))
        var place = heap.count - 1
        while place > 0, heap[place].expires < heap[(place - 1) / 2].expires {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    /// Removes and returns the earliest entry. Returns nil and removes nothing when the earliest entry is later than
    /// `end`, or when there is none.
    mutating func removeFirst(upTo end: Timetoken) -> (owner: ConnectionOwner, expires: Timetoken)? {
        guard let first = heap.first, first.expires <= end else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var place = 0
        while true {
            let children = (2 * place + 1)..<min(2 * place + 3, max(heap.count, 2 * place + 1))
            guard let least = children.min(by: { heap[$0].expires < heap[$1].expires }),
                heap[least].expires < heap[place].expires
            else { return first }
            heap.swapAt(place, least)
            place = least
        }
    }
}
