import ChatModel

/// The users as whom streams listen. Belongs to the hub.
struct ListenerIndex {
    private struct Entry {
        weak var userMemberships: UserMemberships?
    }

    private struct Name {
        weak var channel: SubscribedChannel?
    }

    private var entries: [AppID: [ExactText: Entry]] = [:]
    private var names: [ChannelID: Name] = [:]
    /// Viewers that are being made, and what has happened since the first of them began to be.
    private var loads = 0
    private(set) var recent: [MembershipEvent] = []
    /// Entries, and how many of them were made since those whose attendance is gone were last let go.
    private var count = 0
    private var fresh = 0
    /// Attendances that were asked for a moment ago, oldest first: polls come again and again, and each would have to read
    /// the store.
    private var kept: [(userMemberships: UserMemberships, until: Timetoken)] = []

    /// True while nobody listens as a user: then no event is looked at.
    var isEmpty: Bool { entries.isEmpty }

    func userMemberships(of user: ExactText, in app: AppID) -> UserMemberships? { entries[app]?[user]?.userMemberships }

    func membershipsByUser(in app: AppID) -> [UserMemberships] {
        entries[app]?.values.compactMap(\.userMemberships) ?? []
    }

    mutating func enter(_ user: UserID) -> UserMemberships {
        sweep()
        if let known = userMemberships(of: ExactText(user.name), in: user.app) { return known }
        let userMemberships = UserMemberships(user)
        let known = entries[user.app, default: [:]].updateValue(
            Entry(userMemberships: userMemberships), forKey: ExactText(user.name))
        if known == nil { count += 1 }
        fresh += 1
        return userMemberships
    }

    func named(_ channel: ChannelID) -> SubscribedChannel? { names[channel]?.channel }

    /// The channel as all know it who have named it; as it was read, and what has happened since then, where nobody has.
    mutating func name(_ channel: ChannelID, isPrivate: Bool) -> SubscribedChannel {
        if let known = named(channel) { return known }
        let made = SubscribedChannel(isPrivate: isPrivate)
        if names.updateValue(Name(channel: made), forKey: channel) == nil { count += 1 }
        fresh += 1
        for change in recent where change.id == channel { note(change) }
        return made
    }

    /// Notes what a change makes of a channel that somebody has named.
    func note(_ change: MembershipEvent) {
        switch change.matter {
        case .step, .block: break
        case .created(let isPrivate): named(change.id)?.isPrivate = isPrivate
        case .deleted: named(change.id)?.isPrivate = false
        }
    }

    /// Lets go of entries whose attendance is gone, when as many were made as were left the last time: whoever asked for one
    /// need not have attached a stream to it.
    private mutating func sweep() {
        guard fresh > 64, fresh > count / 2 else { return }
        fresh = 0
        for (app, users) in entries {
            let left = users.filter { $0.value.userMemberships != nil }
            entries[app] = left.isEmpty ? nil : left
        }
        names = names.filter { $0.value.channel != nil }
        count = entries.values.reduce(names.count) { $0 + $1.count }
    }

    /// How many entries there are, gone or not.
    var size: Int { count }

    /// Keeps an attendance for a while after its last stream or poll.
    mutating func keep(_ userMemberships: UserMemberships, now: Timetoken) {
        let over = kept.prefix { $0.until <= now }.count
        kept.removeFirst(over)
        guard userMemberships.keptUntil < now.adding(Self.life / 2) else { return }
        userMemberships.keptUntil = now.adding(Self.life)
        kept.append((userMemberships, userMemberships.keptUntil))
    }

    static let life: Duration = .seconds(60)

    mutating func beginLoad() { loads += 1 }

    mutating func endLoad() {
        loads -= 1
        if loads == 0 { recent = [] }
    }

    /// Keeps a change for those who are just being read of the store.
    mutating func record(_ change: MembershipEvent) {
        if loads > 0 { recent.append(change) }
    }
}

/// A channel that streams of users have named, as of the hub's position: one for all who have named it, so that what
/// becomes of the channel is noted once, however many there are.
///
/// Safe to share: it is read and changed on the hub's executor only.
final class SubscribedChannel: @unchecked Sendable {
    /// Whether it is for its members only.
    var isPrivate: Bool

    init(isPrivate: Bool) { self.isPrivate = isPrivate }
}
