import ChatModel
import Locking

/// When restrictions end, so that their end is told. It counts without this: whoever looks at a restriction looks at its
/// end too.
///
/// The nearest ends of each app are held, and read anew when those are through: an app may have any number.
final class RestrictionEnds: Sendable {
    fileprivate struct End: Sendable {
        var moment: Timetoken
        /// Of the restriction.
        var key: RecordKey
    }

    fileprivate struct State: Sendable {
        /// In order, the nearest last: most are far away, so few move when one comes in.
        var ends: [End] = []
        /// The same by restriction: each ends once.
        var moments: [RecordKey: Timetoken] = [:]
        /// Ends after it are not held, but in the store.
        var horizon = Timetoken.distantFuture
    }

    private let directory: any Directory
    private let keyring: Keyring
    private let clock: WallClock
    private let capacity: Int
    private let state = Lock(State())

    init(directory: any Directory, keyring: Keyring, clock: WallClock, limits: Limits) {
        self.directory = directory
        self.keyring = keyring
        self.clock = clock
        capacity = limits.restrictionEndsHeld
    }

    /// Has the end of a restriction told when it comes, instead of any that was expected before.
    ///
    /// - Parameter restriction: as it is now; nil where there is none.
    func expect(_ restriction: RestrictionRecord?, at key: RecordKey) {
        state.withLock { state in
            state.remove(key)
            guard let until = restriction?.until, until <= state.horizon else { return }
            state.insert(End(moment: until, key: key))
            state.shorten(to: capacity)
        }
    }

    /// Reads the nearest ends of all apps.
    func load() async throws(ChatError) {
        var found = State()
        for app in keyring.apps {
            var query = RecordQuery(.restriction, in: app.space, limit: capacity)
            query.filter = .not(.compare(field: "until_timetoken", .equal, .null))
            query.sort = [(.field("until_timetoken"), true)]
            let page = try await directory.list(query)
            let ends = page.items.compactMap { record in
                RestrictionRecord(record)?.until.map { End(moment: $0, key: record.key) }
            }
            for end in ends { found.insert(end) }
            if page.hasMore, let last = ends.last?.moment { found.horizon = min(found.horizon, last) }
        }
        found.shorten(to: capacity)
        let loaded = found
        state.withLock { state in
            // What came in meanwhile may not have been there to be read.
            let ends = state.ends
            state = loaded
            for end in ends {
                state.remove(end.key)
                state.insert(end)
            }
        }
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

extension RestrictionEnds.State {
    /// One that is expected already stays as it is.
    fileprivate mutating func insert(_ end: RestrictionEnds.End) {
        guard moments[end.key] == nil else { return }
        moments[end.key] = end.moment
        ends.insert(end, at: place(of: end.moment))
    }

    fileprivate mutating func remove(_ key: RecordKey) {
        guard let moment = moments.removeValue(forKey: key) else { return }
        let index = ends[place(of: moment)...].firstIndex { $0.key == key }
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
        for end in ends.prefix(ends.count - capacity) { moments[end.key] = nil }
        ends.removeFirst(ends.count - capacity)
        horizon = min(horizon, ends[0].moment)
    }
}
