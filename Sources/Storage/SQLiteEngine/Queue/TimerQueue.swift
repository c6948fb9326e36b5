import Locking

/// A member of a ``TimerQueue``.
protocol Scheduled: AnyObject, Sendable {
    /// The time at which it is scheduled; nil when it is not. Only the timer queue changes it.
    var scheduledDue: UInt64? { get set }
}

/// Members ordered by the time of their next possible step, earliest first.
struct TimerQueue<Member: Scheduled>: Sendable {
    private struct Entry: Sendable, Comparable {
        let due: UInt64
        let member: Member

        static func == (left: Entry, right: Entry) -> Bool { left.due == right.due }
        static func < (left: Entry, right: Entry) -> Bool { left.due < right.due }
    }

    /// An entry is stale when its time differs from its member's `scheduledDue`.
    private var entries = Heap<Entry>()
    /// The number of entries above which stale ones are removed.
    private var most = 64

    /// The number of entries, including stale ones.
    var count: Int { entries.count }

    /// The time before which no member can take a step.
    var firstDue: UInt64? { entries.first?.due }

    /// Schedules a member at `due`, unless it is scheduled earlier.
    mutating func schedule(_ member: Member, due: UInt64?) {
        guard let due, due < (member.scheduledDue ?? .max) else { return }
        member.scheduledDue = due
        entries.push(Entry(due: due, member: member))
        if entries.count > most { compact() }
    }

    /// Removes and returns the earliest member that is due.
    mutating func pop(by now: UInt64) -> Member? {
        while let first = entries.first, first.due <= now {
            _ = entries.popFirst()
            guard first.member.scheduledDue == first.due else { continue }
            first.member.scheduledDue = nil
            return first.member
        }
        return nil
    }

    /// Removes stale entries. A member that alternates between now and a time far ahead leaves an entry there each
    /// time.
    private mutating func compact() {
        var kept: [Entry] = []
        while let entry = entries.popFirst() {
            guard entry.member.scheduledDue == entry.due else { continue }
            entry.member.scheduledDue = nil
            kept.append(entry)
        }
        for entry in kept {
            entry.member.scheduledDue = entry.due
            entries.push(entry)
        }
        most = max(64, 2 * kept.count)
    }
}

/// The lanes of one app and the number of their attempts under way.
///
/// Safe to share for the same reasons as ``Lane``.
final class LaneGroup: @unchecked Sendable, Scheduled {
    /// Attempts under way: the sum of `leased` over the lanes, without pulled ones.
    var attemptsUnderWay = 0
    /// The lanes, ordered by their next possible step. One check shows that an app holds its share, however many lanes
    /// it has.
    var timerQueue = TimerQueue<Lane>()
    var scheduledDue: UInt64?
}
