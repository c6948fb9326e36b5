import ChatModel

/// An index of the users for whom streams receive events, and of the channels that these streams select by name. Used
/// only by the hub, which distributes new events to streams.
struct ListenerIndex {
    private struct Entry {
        weak var userMemberships: UserMemberships?
    }

    private struct Name {
        weak var channel: SubscribedChannel?
    }

    private var entries: [AppID: [ExactText: Entry]] = [:]
    private var names: [ChannelID: Name] = [:]
    /// The number of viewers whose memberships are being read from the store. While it is not zero, `recent` collects
    /// the changes of memberships since the first of these reads began.
    private var loads = 0
    private(set) var recent: [MembershipEvent] = []
    /// The number of entries for users and channels. It includes entries whose object no longer exists, until a sweep
    /// removes them.
    private var count = 0
    /// The number of entries added since the last sweep.
    private var fresh = 0
    /// The memberships of users for whom a selection was requested recently, oldest request first. The memberships stay
    /// in memory, so that a series of polls does not read the store each time.
    private var kept: [(userMemberships: UserMemberships, until: Timetoken)] = []

    /// True while no stream receives events for a user. The audiences of events are then not examined.
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

    /// Returns the shared object of a channel, which all streams that select the channel by name use. If the channel
    /// has no shared object, creates one and applies the recent changes of the channel to it.
    ///
    /// - Parameter isPrivate: true when the store says that the channel's events are for its members only. Used only if
    ///   a new object is created.
    mutating func name(_ channel: ChannelID, isPrivate: Bool) -> SubscribedChannel {
        if let known = named(channel) { return known }
        let made = SubscribedChannel(isPrivate: isPrivate)
        if names.updateValue(Name(channel: made), forKey: channel) == nil { count += 1 }
        fresh += 1
        for change in recent where change.id == channel { apply(change) }
        return made
    }

    /// Applies a change to the shared object of a channel, if streams have selected the channel by name.
    func apply(_ change: MembershipEvent) {
        switch change.change {
        case .step, .block: break
        case .created(let isPrivate): named(change.id)?.isPrivate = isPrivate
        case .deleted: named(change.id)?.isPrivate = false
        }
    }

    /// Removes the entries whose object no longer exists. Only this method removes such entries. Does nothing unless
    /// more than 64 entries, and more than half of all entries, were added since the last sweep.
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

    /// The number of entries for users and channels, including entries whose object no longer exists.
    var size: Int { count }

    /// Keeps memberships in memory for up to `life` after the last request.
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

    /// Records a change for the viewers whose memberships are being read from the store. Does nothing when no
    /// memberships are being read.
    mutating func record(_ change: MembershipEvent) {
        if loads > 0 { recent.append(change) }
    }
}

/// A channel that users' streams select by name, in its state as of the last event that the hub has distributed. All
/// streams that name the channel share one object, so a change of the channel is stored once.
///
/// Safe to share between tasks, because it is read and changed on the hub's executor only.
final class SubscribedChannel: @unchecked Sendable {
    /// True when the channel's events are for its members only.
    var isPrivate: Bool

    init(isPrivate: Bool) { self.isPrivate = isPrivate }
}
