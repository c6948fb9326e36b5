import ChatModel
import Locking

/// The expiry times of restrictions, used to announce their ends on time. An expired restriction has no effect even
/// before its end is announced, because every check compares the expiry with the current time.
///
/// An app may have any number of restrictions, so only the next expiries are in memory. After these expiries have
/// passed, the next ones are read from the store.
final class RestrictionExpiries: Sendable {
    fileprivate struct End: Sendable {
        var moment: Timetoken
        /// The time at which the restriction began. This time distinguishes the restriction from a later restriction
        /// that has replaced it.
        var since: Timetoken
        /// The key of the restriction's record.
        var key: RecordKey

        init?(_ restriction: RestrictionRecord?, _ key: RecordKey) {
            guard let restriction, let until = restriction.until else { return nil }
            (moment, since, self.key) = (until, restriction.since, key)
        }
    }

    fileprivate struct State: Sendable {
        /// The expiries in descending order of time. The next expiry is the last element, so that its removal moves no
        /// other element.
        var ends: [End] = []
        /// The expiries by the key of the restriction. Each restriction has at most one.
        var held: [RecordKey: End] = [:]
        /// The time after which expiries are only in the store.
        var horizon = Timetoken.distantFuture
        /// The number of reads of the store that are running. During a read, every new expiry is stored in memory,
        /// because the read may miss it.
        var loads = 0
    }

    private let directory: any Directory
    private let mirror: RecordMirror
    private let keyring: Keyring
    private let clock: WallClock
    private let capacity: Int
    private let state = Lock(State())
    private let arrival = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(directory: any Directory, keyring: Keyring, clock: WallClock, limits: Limits) {
        self.directory = directory
        mirror = RecordMirror([.restriction], of: directory)
        self.keyring = keyring
        self.clock = clock
        capacity = limits.restrictionEndsHeld
    }

    /// A sequence that yields an element when an expiry may have been added. It supports one consumer.
    var arrivals: AsyncStream<Void> { arrival.stream }

    /// True when there is an expiry that was not handled yet, in memory or in the store.
    var isExpecting: Bool { state.withLock { !$0.ends.isEmpty || $0.horizon != .distantFuture } }

    /// Adds the expiry of a restriction, and replaces a previous expiry of the same key.
    func expect(_ restriction: RestrictionRecord, at key: RecordKey) {
        state.withLock { state in
            guard state.held[key].map({ $0.since <= restriction.since }) ?? true else { return }
            state.remove(key)
            guard let end = End(restriction, key), state.loads > 0 || end.moment <= state.horizon else { return }
            state.insert(end)
            state.shorten(to: capacity)
        }
        if restriction.until != nil { arrival.continuation.yield() }
    }

    /// Adds and removes the expiries of restrictions that change after `revision`, on any node. Returns when the task
    /// is cancelled or the engine closes.
    func follow(from revision: Revision) async {
        await mirror.follow(from: revision) { key, record in
            if let restriction = record.flatMap({ RestrictionRecord($0) }) {
                expect(restriction, at: key)
            } else {
                state.withLock { $0.remove(key) }
            }
        }
    }

    /// Waits until the expiries include all changes up to a revision.
    func reach(_ revision: Revision) async { await mirror.reach(revision) }

    /// Reads the next expiries of all apps from the store.
    func load() async throws(ChatError) {
        state.withLock { $0.loads += 1 }
        defer { state.withLock { $0.loads -= 1 } }
        var found = State()
        for app in keyring.apps {
            var query = RecordQuery(.restriction, in: app.id, limit: capacity)
            query.filter = .not(.compare(field: "until_timetoken", .equal, .null))
            query.sort = [(.field("until_timetoken"), true)]
            let page = try await directory.list(query)
            let ends = page.items.compactMap { record in
                End(RestrictionRecord(record), record.key)
            }
            for end in ends { found.insert(end) }
            if page.hasMore, let last = ends.last?.moment { found.horizon = min(found.horizon, last) }
        }
        found.shorten(to: capacity)
        let loaded = found
        state.withLock { state in
            // Add the expiries that were added during the read, because the read may have missed them.
            let (ends, loads) = (state.ends, state.loads)
            state = loaded
            state.loads = loads
            for end in ends where state.held[end.key].map({ $0.since <= end.since }) ?? true {
                state.remove(end.key)
                state.insert(end)
            }
            state.shorten(to: capacity)
        }
        arrival.continuation.yield()
    }

    /// Ends expired restrictions, and reads the next expiries when none are left in memory.
    ///
    /// - Parameter lift: ends a restriction if it has expired, and returns the restriction that is still in force; nil
    ///   when there is none. A restriction may still be in force although its expiry was reached, because the wall
    ///   clock can be set back.
    func sweep(_ lift: (_ restriction: RecordKey) async throws(ChatError) -> RestrictionRecord?) async {
        var left: [(restriction: RestrictionRecord, key: RecordKey)] = []
        while let end = next() {
            do throws(ChatError) {
                if let restriction = try await lift(end.key) { left.append((restriction, end.key)) }
            } catch {
                // The store cannot be read or written. The next sweep tries again.
                state.withLock { $0.insert(end) }
                break
            }
        }
        for (restriction, key) in left { expect(restriction, at: key) }
        guard state.withLock({ $0.ends.isEmpty && $0.horizon != .distantFuture }) else { return }
        try? await load()
    }

    private func next() -> End? {
        let now = clock.now
        return state.withLock { state in
            guard let end = state.ends.last, end.moment <= now else { return nil }
            state.remove(end.key)
            return end
        }
    }
}

extension RestrictionExpiries.State {
    /// Adds an expiry. Does nothing if there is already an expiry of the same key.
    fileprivate mutating func insert(_ end: RestrictionExpiries.End) {
        guard held[end.key] == nil else { return }
        held[end.key] = end
        ends.insert(end, at: place(of: end.moment))
    }

    fileprivate mutating func remove(_ key: RecordKey) {
        guard let end = held.removeValue(forKey: key) else { return }
        let index = ends[place(of: end.moment)...].firstIndex { $0.key == key }
        if let index { ends.remove(at: index) }
    }

    /// Returns the index of the first expiry at or before `moment`. Later expiries come before it.
    private func place(of moment: Timetoken) -> Int {
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle].moment > moment { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Removes the latest expiries until at most `capacity` are left.
    fileprivate mutating func shorten(to capacity: Int) {
        guard ends.count > capacity else { return }
        for end in ends.prefix(ends.count - capacity) { held[end.key] = nil }
        ends.removeFirst(ends.count - capacity)
        horizon = min(horizon, ends[0].moment)
    }
}
