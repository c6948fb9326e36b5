public import ChatCore
public import ChatModel
public import HTTPServer
import Locking

/// Whose streams they are: one object for all streams of one credential, so that a stream carries a reference.
public final class ConnectionOwner: Sendable {
    public let caller: Caller

    init(_ caller: Caller) { self.caller = caller }

    public var key: Key { Key(app: caller.app, id: caller.credential) }

    /// The credential itself, whatever a ticket narrows it to.
    public struct Key: Hashable, Sendable {
        public var app: AppID
        public var id: String

        public init(app: AppID, id: String) {
            self.app = app
            self.id = id
        }
    }
}

/// Whose streams and held polls there are, and how many of whom, in whatever wire language they were asked for.
public final class ConnectionLimits: Sendable {
    private struct User: Hashable {
        var app: AppID
        var name: ExactText

        /// Nil for a caller that speaks for no user in particular.
        init?(_ caller: Caller) {
            guard let user = caller.user else { return nil }
            app = caller.app
            name = ExactText(user)
        }
    }

    private struct Entry {
        let owner: ConnectionOwner
        var count = 0
        /// When the credential ends, as it is known now.
        var expires: Timetoken?
    }

    private struct Table {
        var entries: [Caller: Entry] = [:]
        var expiries = Expiries()
        /// Those whose end has come, until they have left.
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

    public init(limits: LiveLimits) { liveLimits = limits }

    /// Why the caller may have no stream or held poll more; nil while there is room.
    ///
    /// - Parameters:
    ///   - address: where it is, where that is known.
    ///   - replaced: where a stream of the same caller is that goes when this one comes, if there is one.
    public func refusal(
        of caller: Caller, from address: RemoteAddress?, replacing replaced: RemoteAddress? = nil
    ) -> ChatError? {
        let going = replaced == nil ? 0 : 1
        return table.withLock { table in
            if Self.isFull(table.count - going, limits.streamsInGateway) {
                return ChatError(
                    .overloaded, "the gateway has as many streams and polls as it can carry", retryAfter: .seconds(10))
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
            .tooMany, "this \(what) has \(limit) streams and polls open, which is its limit", slug: "too_many_streams",
            limit: limit, retryAfter: .seconds(5))
    }

    /// One stream or poll more.
    public func enter(_ caller: Caller, from address: RemoteAddress) -> ConnectionOwner {
        table.withLock { table in
            var entry = table.entries[caller] ?? Entry(owner: ConnectionOwner(caller), expires: caller.expires)
            entry.count += 1
            table.entries[caller] = entry
            if entry.count == 1 { Self.note(entry, in: &table) }
            table.count += 1
            if limits.streamsPerAddress > 0 { table.perAddress[address, default: 0] += 1 }
            table.perKey[entry.owner.key, default: 0] += 1
            // Counted without a limit too: there may be one as soon as the settings are read again.
            table.perApp[caller.app, default: 0] += 1
            if let user = User(caller) { table.perUser[user, default: 0] += 1 }
            return entry.owner
        }
    }

    /// One stream or poll less.
    ///
    /// - Parameter address: the one it was entered with.
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

    /// Notes when a credential ends now. False when nobody uses it.
    public func change(_ key: ConnectionOwner.Key, expires: Timetoken?) -> Bool {
        table.withLock { table in
            guard table.perKey[key] != nil else { return false }
            for (caller, var entry) in table.entries where entry.owner.key == key {
                // A token or ticket may end before the key it was made with.
                entry.expires = [expires, caller.expires].compactMap(\.self).min()
                table.entries[caller] = entry
                table.ended[caller] = nil
                Self.note(entry, in: &table)
            }
            return true
        }
    }

    /// Notes when a secret ends that has signed tokens.
    func noteEnd(of secretPrint: String, in app: AppID, _ end: Timetoken) {
        table.withLock { table in
            for (caller, var entry) in table.entries
            where caller.app == app && caller.proof?.secretPrint == secretPrint {
                entry.expires = [entry.expires, end].compactMap(\.self).min()
                table.entries[caller] = entry
                Self.note(entry, in: &table)
            }
        }
    }

    private static func note(_ entry: Entry, in table: inout Table) {
        guard let expires = entry.expires else { return }
        table.expiries.insert(entry.owner, expires)
        // Whoever has left stays among them until its time; of many that come and go these would be nearly all.
        guard table.expiries.count > 2 * table.entries.count + 64 else { return }
        table.expiries = Expiries()
        for entry in table.entries.values {
            if let expires = entry.expires { table.expiries.insert(entry.owner, expires) }
        }
    }

    /// Those whose credentials have ended by now and who are still there.
    public func ended(at now: Timetoken) -> [ConnectionOwner] {
        table.withLock { table in
            while let (owner, expires) = table.expiries.removeFirst(upTo: now) {
                // It may have left since, have come back as another, or end later than it was to.
                guard let entry = table.entries[owner.caller], entry.owner === owner, entry.expires == expires
                else { continue }
                table.ended[owner.caller] = owner
            }
            return Array(table.ended.values)
        }
    }

    /// How many ends are remembered: for tests.
    var expiryCount: Int { table.withLock { $0.expiries.count } }
}

extension ConnectionOwner.Key {
    fileprivate init(_ caller: Caller) { self.init(app: caller.app, id: caller.credential) }
}

/// When credentials end, the next one first: a heap, so that a second in which none ends costs nothing.
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

    /// The one that ends first, if that is no later than `end`.
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
