import ChatModel

/// The users as whom streams listen. Belongs to the hub.
struct Roster {
    private struct Entry {
        weak var attendance: Attendance?
    }

    private struct Name {
        weak var channel: NamedChannel?
    }

    private var entries: [SpaceID: [ExactText: Entry]] = [:]
    private var names: [ChannelID: Name] = [:]
    /// Viewers that are being made, and what has happened since the first of them began to be.
    private var loads = 0
    private(set) var recent: [RosterChange] = []
    private var departures = 0
    /// Attendances that were asked for a moment ago, oldest first: polls come again and again, and each would have to read
    /// the store.
    private var kept: [(attendance: Attendance, until: Timetoken)] = []

    /// True while nobody listens as a user: then no event is looked at.
    var isEmpty: Bool { entries.isEmpty }

    func attendance(of user: ExactText, in space: SpaceID) -> Attendance? { entries[space]?[user]?.attendance }

    func attendances(in space: SpaceID) -> [Attendance] { entries[space]?.values.compactMap(\.attendance) ?? [] }

    mutating func enter(_ user: UserID) -> Attendance {
        sweep()
        if let known = attendance(of: ExactText(user.name), in: user.space) { return known }
        let attendance = Attendance(user)
        entries[user.space, default: [:]][ExactText(user.name)] = Entry(attendance: attendance)
        return attendance
    }

    func named(_ channel: ChannelID) -> NamedChannel? { names[channel]?.channel }

    /// The channel as all know it who have named it; as it was read, and what has happened since then, where nobody has.
    mutating func name(_ channel: ChannelID, isPrivate: Bool) -> NamedChannel {
        if let known = named(channel) { return known }
        let made = NamedChannel(isPrivate: isPrivate)
        names[channel] = Name(channel: made)
        for change in recent where change.id == channel { note(change) }
        return made
    }

    /// Notes what a change makes of a channel that somebody has named.
    func note(_ change: RosterChange) {
        switch change.matter {
        case .step, .block: break
        case .created(let isPrivate): named(change.id)?.isPrivate = isPrivate
        case .deleted: named(change.id)?.isPrivate = false
        }
    }

    /// A feed of a user has gone; perhaps nobody needs the attendance any more.
    mutating func noteDeparture() { departures += 1 }

    /// Lets go of entries whose attendance is gone, when they may be half of all.
    private mutating func sweep() {
        let count = entries.values.reduce(0) { $0 + $1.count }
        guard departures > count / 2 else { return }
        departures = 0
        for (space, users) in entries {
            let left = users.filter { $0.value.attendance != nil }
            entries[space] = left.isEmpty ? nil : left
        }
        names = names.filter { $0.value.channel != nil }
    }

    /// Keeps an attendance for a while after its last stream or poll.
    mutating func keep(_ attendance: Attendance, now: Timetoken) {
        let over = kept.prefix { $0.until <= now }.count
        kept.removeFirst(over)
        guard attendance.keptUntil < now.adding(Self.life / 2) else { return }
        attendance.keptUntil = now.adding(Self.life)
        kept.append((attendance, attendance.keptUntil))
    }

    private static let life: Duration = .seconds(60)

    mutating func beginLoad() { loads += 1 }

    mutating func endLoad() {
        loads -= 1
        if loads == 0 { recent = [] }
    }

    /// Keeps a change for those who are just being read of the store.
    mutating func record(_ change: RosterChange) {
        if loads > 0 { recent.append(change) }
    }
}
