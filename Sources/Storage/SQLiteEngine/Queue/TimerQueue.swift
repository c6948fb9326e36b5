import Locking

/// Something that waits for a moment in an ``TimerQueue``.
protocol Scheduled: AnyObject, Sendable {
    /// The moment at which it stands in the agenda; nil: it does not. The agenda's to change.
    var agendaDue: UInt64? { get set }
}

/// Who can do something when: the earliest first.
struct TimerQueue<Member: Scheduled>: Sendable {
    private struct Entry: Sendable, Comparable {
        let due: UInt64
        let member: Member

        static func == (left: Entry, right: Entry) -> Bool { left.due == right.due }
        static func < (left: Entry, right: Entry) -> Bool { left.due < right.due }
    }

    /// An entry is stale unless it agrees with its member's `agendaDue`.
    private var entries = Heap<Entry>()
    /// Beyond it the stale ones are thrown out.
    private var most = 64

    /// How many entries there are, stale ones among them.
    var count: Int { entries.count }

    /// Before this nobody can do anything.
    var firstDue: UInt64? { entries.first?.due }

    /// Puts a member down for a moment, if it does not stand for an earlier one.
    mutating func enlist(_ member: Member, due: UInt64?) {
        guard let due, due < (member.agendaDue ?? .max) else { return }
        member.agendaDue = due
        entries.push(Entry(due: due, member: member))
        if entries.count > most { tidy() }
    }

    /// Takes out the earliest whose moment has come.
    mutating func pop(by now: UInt64) -> Member? {
        while let first = entries.first, first.due <= now {
            _ = entries.popFirst()
            guard first.member.agendaDue == first.due else { continue }
            first.member.agendaDue = nil
            return first.member
        }
        return nil
    }

    /// A member that goes back and forth between now and a moment far ahead leaves an entry there each time.
    private mutating func tidy() {
        var kept: [Entry] = []
        while let entry = entries.popFirst() {
            guard entry.member.agendaDue == entry.due else { continue }
            entry.member.agendaDue = nil
            kept.append(entry)
        }
        for entry in kept {
            entry.member.agendaDue = entry.due
            entries.push(entry)
        }
        most = max(64, 2 * kept.count)
    }
}

/// The lanes of one app, and what all of them have under way.
///
/// Safe to share for the reasons ``Lane`` is.
final class LaneGroup: @unchecked Sendable, Scheduled {
    /// Attempts under way: the sum of the lanes' `leased`, without those that are pulled.
    var leased = 0
    /// By what its lanes can do next. One look finds that an app holds its share, however many lanes it has.
    var timerQueue = TimerQueue<Lane>()
    var agendaDue: UInt64?
}
