import ChatModel
import Locking

/// The expiry times of restrictions, so that their ends are announced on time. An expired restriction has no effect
/// even without this, because every check compares the expiry.
///
/// The nearest expiries are held in memory, and the next ones are read when those are done: an app may have any number.
final class RestrictionExpiries: Sendable {
    fileprivate struct End: Sendable {
        var moment: Timetoken
        /// The beginning of the restriction. A restriction that began later has replaced it.
        var since: Timetoken
        /// The key of the restriction.
        var key: RecordKey

        init?(_ restriction: RestrictionRecord?, _ key: RecordKey) {
            guard let restriction, let until = restriction.until else { return nil }
            (moment, since, self.key) = (until, restriction.since, key)
        }
    }

    fileprivate struct State: Sendable {
        /// In order, nearest last. Most expiries are far away, so an insertion moves few entries.
        var ends: [End] = []
        /// The same by restriction; each restriction has one end.
        var held: [RecordKey: End] = [:]
        /// Expiries after it are only in the store.
        var horizon = Timetoken.distantFuture
        /// The number of reads of the store under way. Meanwhile every new expiry is held, because the read may miss
        /// it.
        var loads = 0
    }

    private let directory: any Directory
    private let keyring: Keyring
    private let clock: WallClock
    private let capacity: Int
    private let state = Lock(State())
    private let arrival = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(directory: any Directory, keyring: Keyring, clock: WallClock, limits: Limits) {
        self.directory = directory
        self.keyring = keyring
        self.clock = clock
        capacity = limits.restrictionEndsHeld
    }

    /// Signals that there may be an expiry to wait for. For a single task.
    var arrivals: AsyncStream<Void> { arrival.stream }

    /// True when an expiry is still to come.
    var isExpecting: Bool { state.withLock { !$0.ends.isEmpty || $0.horizon != .distantFuture } }

    /// Adds the expiry of a restriction, replacing an earlier one of the same key.
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

    /// Removes the expiry of a lifted restriction, but keeps the expiry of a restriction that replaced it.
    func lifted(_ restriction: RestrictionRecord, at key: RecordKey) {
        state.withLock { state in
            guard state.held[key].map({ $0.since <= restriction.since }) ?? false else { return }
            state.remove(key)
        }
    }

    /// Reads the nearest expiries of all apps.
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
            // The read may have missed expiries that were added meanwhile.
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

    /// Lifts expired restrictions, and reads the next expiries when those in memory are done.
    ///
    /// - Parameter lift: lifts a restriction if it has expired, and returns the one in force afterwards. That may be a
    ///   restriction that seemed to have expired, because the wall clock can step back.
    func sweep(_ lift: (_ restriction: RecordKey) async throws(ChatError) -> RestrictionRecord?) async {
        var left: [(restriction: RestrictionRecord, key: RecordKey)] = []
        while let end = next() {
            do throws(ChatError) {
                if let restriction = try await lift(end.key) { left.append((restriction, end.key)) }
            } catch {
                // The store cannot be reached; the next sweep tries again.
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
    /// Adds an expiry; one that is already present stays.
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

    /// The index of the first end at or before `moment`; later ends are before it.
    private func place(of moment: Timetoken) -> Int {
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle].moment > moment { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Drops all but the nearest.
    fileprivate mutating func shorten(to capacity: Int) {
        guard ends.count > capacity else { return }
        for end in ends.prefix(ends.count - capacity) { held[end.key] = nil }
        ends.removeFirst(ends.count - capacity)
        horizon = min(horizon, ends[0].moment)
    }
}
