import ChatModel
import Locking

/// When restrictions end, so that their end is told. It counts without this: whoever looks at a restriction looks at its
/// end too.
///
/// The nearest ends of each app are held, and read anew when those are through: an app may have any number.
final class RestrictionExpiries: Sendable {
    fileprivate struct End: Sendable {
        var moment: Timetoken
        /// When the restriction began: one that began later is in its place.
        var since: Timetoken
        /// Of the restriction.
        var key: RecordKey

        init?(_ restriction: RestrictionRecord?, _ key: RecordKey) {
            guard let restriction, let until = restriction.until else { return nil }
            (moment, since, self.key) = (until, restriction.since, key)
        }
    }

    fileprivate struct State: Sendable {
        /// In order, the nearest last: most are far away, so few move when one comes in.
        var ends: [End] = []
        /// The same by restriction: each ends once.
        var held: [RecordKey: End] = [:]
        /// Ends after it are not held, but in the store.
        var horizon = Timetoken.distantFuture
        /// While the store is read, whatever comes in is held: it may not be there to be read.
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

    /// Whenever there may be an end to wait for. For one task.
    var arrivals: AsyncStream<Void> { arrival.stream }

    /// Whether an end is still to come.
    var isExpecting: Bool { state.withLock { !$0.ends.isEmpty || $0.horizon != .distantFuture } }

    /// Has the end of a restriction told when it comes, instead of any that was expected before it.
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

    /// A restriction was lifted: its end is none any more, but that of one which has come after it is.
    func lifted(_ restriction: RestrictionRecord, at key: RecordKey) {
        state.withLock { state in
            guard state.held[key].map({ $0.since <= restriction.since }) ?? false else { return }
            state.remove(key)
        }
    }

    /// Reads the nearest ends of all apps.
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
            // What came in meanwhile may not have been there to be read.
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

    /// Lifts what is over by now, and reads on when what was held is through.
    ///
    /// - Parameter lift: lifts a restriction if it is over; what is in force afterwards. That may be one whose end seemed
    ///   to have come: the wall clock steps back as well.
    func sweep(_ lift: (_ restriction: RecordKey) async throws(ChatError) -> RestrictionRecord?) async {
        var left: [(restriction: RestrictionRecord, key: RecordKey)] = []
        while let end = next() {
            do throws(ChatError) {
                if let restriction = try await lift(end.key) { left.append((restriction, end.key)) }
            } catch {
                // The store cannot be reached: again with the next sweep.
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
    /// One that is expected already stays as it is.
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

    /// Where the ends at a moment begin; those after it stand before.
    private func place(of moment: Timetoken) -> Int {
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle].moment > moment { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Leaves the nearest.
    fileprivate mutating func shorten(to capacity: Int) {
        guard ends.count > capacity else { return }
        for end in ends.prefix(ends.count - capacity) { held[end.key] = nil }
        ends.removeFirst(ends.count - capacity)
        horizon = min(horizon, ends[0].moment)
    }
}
