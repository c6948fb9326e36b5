import ChatModel
import Locking

/// When restrictions end, so that their end is told. It counts without this: whoever looks at a restriction looks at its
/// end too.
///
/// The nearest ends of each app are held, and read anew when those are through: an app may have any number.
final class RestrictionEnds: Sendable {
    fileprivate struct End: Sendable {
        var moment: Timetoken
        var space: SpaceID
        var user: String
        var channel: String
    }

    fileprivate struct State: Sendable {
        /// In order, the nearest last: most are far away, so few move when one comes in.
        var ends: [End] = []
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

    /// Has the end of a restriction told when it comes.
    func expect(_ restriction: RestrictionRecord, in space: SpaceID) {
        guard let until = restriction.until else { return }
        state.withLock { state in
            guard until <= state.horizon else { return }
            state.insert(End(moment: until, space: space, user: restriction.user, channel: restriction.channel))
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
            for restriction in page.items.compactMap({ RestrictionRecord($0) }) {
                guard let until = restriction.until else { continue }
                found.ends.append(
                    End(moment: until, space: app.space, user: restriction.user, channel: restriction.channel))
            }
            if page.hasMore, let last = found.ends.last?.moment { found.horizon = min(found.horizon, last) }
        }
        found.ends.removeAll { $0.moment > found.horizon }
        found.ends.sort { $0.moment > $1.moment }
        found.shorten(to: capacity)
        let loaded = found
        state.withLock { state in
            // What came in meanwhile may not have been there to be read.
            let ends = state.ends
            state = loaded
            for end in ends { state.insert(end) }
        }
    }

    /// Lifts what is over by now, and reads on when what was held is through.
    func sweep(_ lift: (_ user: String, _ channel: String, SpaceID) async throws(ChatError) -> Void) async {
        while let end = next() {
            do throws(ChatError) {
                try await lift(end.user, end.channel, end.space)
            } catch {
                // The store cannot be reached: again with the next sweep.
                return state.withLock { $0.insert(end) }
            }
        }
        guard state.withLock({ $0.ends.isEmpty && $0.horizon != .distantFuture }) else { return }
        try? await load()
    }

    private func next() -> End? {
        let now = clock.now
        return state.withLock { state in
            guard let end = state.ends.last, end.moment <= now else { return nil }
            return state.ends.popLast()
        }
    }
}

extension RestrictionEnds.State {
    fileprivate mutating func insert(_ end: RestrictionEnds.End) {
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle].moment > end.moment { low = middle + 1 } else { high = middle }
        }
        ends.insert(end, at: low)
    }

    /// Leaves the nearest.
    fileprivate mutating func shorten(to capacity: Int) {
        guard ends.count > capacity else { return }
        ends.removeFirst(ends.count - capacity)
        horizon = min(horizon, ends[0].moment)
    }
}
