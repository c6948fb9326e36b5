import ChatModel

/// Where one user stands in every channel, as of the hub's position; there while a stream listens as that user.
///
/// Read from the store once, then kept up by the events themselves in the order in which they are handed out, so that no
/// event is shown to whoever was not there when it happened, and none is kept from whoever was.
/// Safe to share: it is read and changed on the hub's executor only.
final class UserMemberships: @unchecked Sendable {
    let user: UserID
    private(set) var places: [ExactText: ChannelPosition] = [:]
    /// Whom the user wants to hear nothing of.
    private(set) var blocked: Set<ExactText> = []
    /// Channels that streams of the user have named.
    private(set) var named: [ExactText: SubscribedChannel] = [:]
    /// When each was named last.
    private var namings: [ExactText: Timetoken] = [:]
    /// False until what the store had was taken in.
    private(set) var isLoaded = false
    /// The user's feeds that hang on the hub.
    private(set) var feeds: [Feed] = []
    /// Until when the roster keeps it, whoever else does.
    var keptUntil = Timetoken.zero
    private let own: ExactText

    init(_ user: UserID) {
        self.user = user
        own = ExactText(user.name)
    }

    /// A user is always at home in the channel named after the user.
    func place(in channel: ExactText) -> ChannelPosition? {
        channel == own ? ChannelPosition(standing: [.joined, .inside], since: .zero) : places[channel]
    }

    /// Every channel the user has a place in.
    var channels: [ExactText] { [own] + places.keys }

    func attach(_ feed: Feed) { feeds.append(feed) }
    func detach(_ feed: Feed) { feeds.removeAll { $0 === feed } }
}

// MARK: - Change

extension UserMemberships {
    /// Takes the step, but keeps what the user was as well, until `settle`.
    func begin(_ step: MembershipTransition, in channel: ExactText, at timetoken: Timetoken) {
        guard isLoaded else { return }
        let before = places[channel] ?? ChannelPosition(standing: [], since: timetoken)
        // Who was only banned, or was nothing, comes now.
        let since = before.standing.subtracting(.banned).isEmpty ? timetoken : before.since
        places[channel] = ChannelPosition(standing: before.standing.union(before.standing.after(step)), since: since)
    }

    /// The step is done: the user is what it leads to, and nothing else.
    func settle(_ step: MembershipTransition, in channel: ExactText) {
        guard isLoaded, let standing = places[channel]?.standing.after(step) else { return }
        if standing.isEmpty { places[channel] = nil } else { places[channel]?.standing = standing }
    }

    func leaveDeleted(_ channel: ExactText) { places[channel] = nil }
}

// MARK: - Loading

extension UserMemberships {
    func block(_ other: ExactText, isOn: Bool) {
        if isOn { blocked.insert(other) } else { blocked.remove(other) }
    }

    func name(_ channel: SubscribedChannel, _ name: ExactText, at now: Timetoken) {
        named[name] = channel
        namings[name] = now
    }

    /// The names have been asked for once more. Where they are many, those go that no stream of the user follows any
    /// more: polls may name others each time.
    func nameAgain(_ names: Set<ExactText>, at now: Timetoken, keeping life: Duration) {
        for name in names where named[name] != nil { namings[name] = now }
        guard named.count > Self.manyNames else { return }
        let followed = feeds.reduce(into: names) { $0.formUnion($1.selection.channels.names) }
        for (name, last) in namings where last.adding(life) < now && !followed.contains(name) {
            named[name] = nil
            namings[name] = nil
        }
    }

    private static let manyNames = 1000

    /// Takes in what was read of the store, and what has happened since then.
    func take(_ reading: MembershipSnapshot, _ recent: [MembershipEvent]) {
        guard !isLoaded else { return }
        places = reading.places
        blocked = reading.blocked
        isLoaded = true
        // In their order, so that the last one counts, whichever of them the reading knew of already.
        for change in recent { replay(change) }
    }

    private func replay(_ change: MembershipEvent) {
        switch change.matter {
        case .step(let step, let users):
            guard users.contains(own) else { return }
            begin(step, in: change.channel, at: change.timetoken)
            settle(step, in: change.channel)
        case .created: break
        case .deleted: leaveDeleted(change.channel)
        case .block(let other, of: let user, let isOn): if user == own { block(other, isOn: isOn) }
        }
    }
}

/// What a user is to a channel. A set, because a change counts as both what it was before and what it is after.
struct MembershipFlags: OptionSet, Sendable {
    let rawValue: UInt8

    static let invited = MembershipFlags(rawValue: 1)
    static let joined = MembershipFlags(rawValue: 2)
    /// Has entered an open channel.
    static let inside = MembershipFlags(rawValue: 4)
    static let banned = MembershipFlags(rawValue: 8)
    /// A member in either state.
    static let member: MembershipFlags = [.invited, .joined]

    /// What it becomes by a step.
    func after(_ step: MembershipTransition) -> MembershipFlags {
        switch step {
        case .invited: contains(.joined) ? self : union(.invited)
        case .joined: subtracting(.invited).union(.joined)
        case .left: subtracting(.member)
        case .entered: union(.inside)
        case .exited: subtracting(.inside)
        case .banned: union(.banned)
        case .unbanned: subtracting(.banned)
        }
    }
}

/// What can happen between a user and a channel, as far as it changes what the user hears.
enum MembershipTransition: Sendable, Equatable {
    case invited, joined, left, entered, exited, banned, unbanned
}

/// Where a user stands in one channel, and since when.
struct ChannelPosition: Sendable {
    var standing: MembershipFlags
    /// When the user came, in whatever way: what is older was not for the user.
    var since: Timetoken
}
