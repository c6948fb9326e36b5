import Locking

/// A member of a ``TimerQueue``.
protocol Scheduled: AnyObject, Sendable {
    /// The time for which this member is scheduled; nil when it is not scheduled. Only the timer queue changes the
    /// value.
    var scheduledDue: UInt64? { get set }
}

/// A queue of members, ordered by the time for which they are scheduled, earliest first.
struct TimerQueue<Member: Scheduled>: Sendable {
    private struct Entry: Sendable, Comparable {
        let due: UInt64
        let member: Member

        static func == (left: Entry, right: Entry) -> Bool { left.due == right.due }
        static func < (left: Entry, right: Entry) -> Bool { left.due < right.due }
    }

    /// An entry is stale when its time differs from its member's `scheduledDue`.
    private var entries = Heap<Entry>()
    /// The number of entries above which stale entries are removed.
    private var most = 64

    /// The number of entries, including stale ones.
    var count: Int { entries.count }

    /// A lower bound of the times of all scheduled members; nil when the queue is empty.
    var firstDue: UInt64? { entries.first?.due }

    /// Schedules a member for the time `due`. Does nothing when `due` is nil or when the member is scheduled for the
    /// same or an earlier time.
    mutating func schedule(_ member: Member, due: UInt64?) {
        guard let due, due < (member.scheduledDue ?? .max) else { return }
        member.scheduledDue = due
        entries.push(Entry(due: due, member: member))
        if entries.count > most { compact() }
    }

    /// Removes and returns the member with the earliest time; nil when no member is due by `now`.
    mutating func pop(by now: UInt64) -> Member? {
        while let first = entries.first, first.due <= now {
            _ = entries.popFirst()
            guard first.member.scheduledDue == first.due else { continue }
            first.member.scheduledDue = nil
            return first.member
        }
        return nil
    }

    /// Removes stale entries. A member that is repeatedly scheduled for a later time and then for now leaves one stale
    /// entry each time. Without this function, the number of stale entries would have no limit.
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

/// The lanes (queues of subscribers) of one app, and the number of their attempts in progress.
///
/// Safe to share between threads, because only ``SchedulerState`` uses groups, under the scheduler's lock.
final class LaneGroup: @unchecked Sendable, Scheduled {
    /// The number of attempts in progress in all lanes, without the attempts of pulled subscriptions.
    var attemptsUnderWay = 0
    /// The lanes, ordered by the time of their next possible attempt. If an app already uses its whole share of the
    /// capacity, the scheduler skips all of the app's lanes with one check.
    var timerQueue = TimerQueue<Lane>()
    var scheduledDue: UInt64?
}
