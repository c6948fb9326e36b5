public import ChatCore
public import ChatModel
public import HTTPServer
import Locking
import Synchronization

/// The owner of streams and waiting polls. All streams and polls of one caller share one `ConnectionOwner`, so that
/// each of them stores only a reference.
public final class ConnectionOwner: Sendable {
    /// The caller that has opened the streams and polls.
    public let caller: Caller
    /// The key of the caller's credential. Several callers may have the same credential.
    public let key: Key
    fileprivate let own = ConnectionCount()
    /// The counts that the owner shares with other owners of the same key, app and user.
    fileprivate let ofKey: ConnectionCount
    fileprivate let ofApp: ConnectionCount
    fileprivate let ofUser: ConnectionCount?

    fileprivate init(
        _ caller: Caller, _ key: Key, ofKey: ConnectionCount, ofApp: ConnectionCount, ofUser: ConnectionCount?
    ) {
        self.caller = caller
        self.key = key
        self.ofKey = ofKey
        self.ofApp = ofApp
        self.ofUser = ofUser
    }

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

/// A number of open streams and waiting polls. Changed only while ``ConnectionLimits`` holds its lock.
private final class ConnectionCount: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    func increase() { count.add(1, ordering: .relaxed) }

    /// Returns true when the count is zero afterwards.
    func decrease() -> Bool { count.subtract(1, ordering: .relaxed).newValue == 0 }
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
        /// The earliest known time at which the credential ends; nil when no end is known.
        var expires: Timetoken?
    }

    private struct Table {
        var entries: [Caller: Entry] = [:]
        var expiries = Expiries()
        /// The owners whose credentials have ended and that still have streams or polls.
        var ended: [Caller: ConnectionOwner] = [:]
        var count = 0
        var perKey: [ConnectionOwner.Key: ConnectionCount] = [:]
        var perApp: [AppID: ConnectionCount] = [:]
        var perUser: [User: ConnectionCount] = [:]
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
        let limits = limits
        return table.withLock { table in
            Self.refusal(of: caller, table.entries[caller]?.owner, from: address, replacing: replaced, table, limits)
        }
    }

    private static func refusal(
        of caller: Caller, _ owner: ConnectionOwner?, from address: RemoteAddress?, replacing replaced: RemoteAddress?,
        _ table: Table, _ limits: Limits
    ) -> ChatError? {
        let going = replaced == nil ? 0 : 1
        if isFull(table.count - going, limits.streamsInGateway) {
            return ChatError(
                .overloaded, "the gateway has reached its limit of open streams and polls; try again later",
                retryAfter: .seconds(10))
        }
        if let address, limits.streamsPerAddress > 0,
            isFull((table.perAddress[address] ?? 0) - (replaced == address ? 1 : 0), limits.streamsPerAddress)
        {
            return tooMany("address", limits.streamsPerAddress)
        }
        let ofApp = owner?.ofApp ?? table.perApp[caller.app]
        if isFull((ofApp?.value ?? 0) - going, limits.streamsPerApp) { return tooMany("app", limits.streamsPerApp) }
        let ofKey = owner?.ofKey ?? table.perKey[ConnectionOwner.Key(caller)]
        if isFull((ofKey?.value ?? 0) - going, limits.streamsPerKey) { return tooMany("key", limits.streamsPerKey) }
        let ofUser = owner == nil ? User(caller).flatMap { table.perUser[$0] } : owner?.ofUser
        if let ofUser, isFull(ofUser.value - going, limits.streamsPerUser) {
            return tooMany("user", limits.streamsPerUser)
        }
        return nil
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
        let limits = limits
        return table.withLock { table in
            let owner = table.entries[caller]?.owner ?? Self.addOwner(caller, to: &table)
            Self.add(owner, from: address, to: &table, limits)
            return owner
        }
    }

    /// Adds one stream or poll of the caller to the counts, unless a limit is reached. Returns the owner of the stream or
    /// poll.
    ///
    /// - Throws: the error that ``refusal(of:from:replacing:)`` returns.
    func admit(_ caller: Caller, from address: RemoteAddress) throws(ChatError) -> ConnectionOwner {
        let limits = limits
        return try table.withLock { table throws(ChatError) in
            let known = table.entries[caller]?.owner
            if let refusal = Self.refusal(of: caller, known, from: address, replacing: nil, table, limits) {
                throw refusal
            }
            let owner = known ?? Self.addOwner(caller, to: &table)
            Self.add(owner, from: address, to: &table, limits)
            return owner
        }
    }

    private static func add(
        _ owner: ConnectionOwner, from address: RemoteAddress, to table: inout Table, _ limits: Limits
    ) {
        table.count += 1
        if limits.streamsPerAddress > 0 { table.perAddress[address, default: 0] += 1 }
        owner.own.increase()
        // The counts are kept even without a limit, because reloaded settings may set one.
        owner.ofKey.increase()
        owner.ofApp.increase()
        owner.ofUser?.increase()
    }

    private static func addOwner(_ caller: Caller, to table: inout Table) -> ConnectionOwner {
        let key = ConnectionOwner.Key(caller)
        let owner = ConnectionOwner(
            caller, key, ofKey: count(of: key, in: &table.perKey), ofApp: count(of: caller.app, in: &table.perApp),
            ofUser: User(caller).map { count(of: $0, in: &table.perUser) })
        let entry = Entry(owner: owner, expires: caller.expires)
        table.entries[caller] = entry
        record(entry, in: &table)
        return owner
    }

    private static func count<Key>(of key: Key, in counts: inout [Key: ConnectionCount]) -> ConnectionCount {
        if let known = counts[key] { return known }
        let count = ConnectionCount()
        counts[key] = count
        return count
    }

    /// Removes one stream or poll from the counts.
    ///
    /// - Parameter address: the address passed to `enter`.
    public func leave(_ owner: ConnectionOwner, from address: RemoteAddress) {
        table.withLock { table in
            table.count -= 1
            if let count = table.perAddress[address] { table.perAddress[address] = count > 1 ? count - 1 : nil }
            if owner.own.decrease() {
                table.entries[owner.caller] = nil
                table.ended[owner.caller] = nil
            }
            if owner.ofKey.decrease() { table.perKey[owner.key] = nil }
            if owner.ofApp.decrease() { table.perApp[owner.caller.app] = nil }
            if owner.ofUser?.decrease() == true, let user = User(owner.caller) { table.perUser[user] = nil }
        }
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
