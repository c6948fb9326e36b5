import ChatModel

/// One user's positions in all channels, as of the hub's position. It exists while a stream listens for that user.
///
/// It is read from the store once and then updated by the events themselves, in the order of their distribution. So an
/// event is never shown to a user who was not there when it happened, and never withheld from one who was.
///
/// Safe to share: it is read and changed on the hub's executor only.
final class UserMemberships: @unchecked Sendable {
    let user: UserID
    private(set) var places: [ExactText: ChannelPosition] = [:]
    /// The users that this user has blocked.
    private(set) var blocked: Set<ExactText> = []
    /// Channels that streams of the user have named.
    private(set) var named: [ExactText: SubscribedChannel] = [:]
    /// The time at which each channel was last named.
    private var namings: [ExactText: Timetoken] = [:]
    /// False until the stored state was taken in.
    private(set) var isLoaded = false
    /// The user's feeds that are attached to the hub.
    private(set) var feeds: [Feed] = []
    /// The time until which the listener index keeps this object, even without another owner.
    var keptUntil = Timetoken.zero
    private let own: ExactText

    init(_ user: UserID) {
        self.user = user
        own = ExactText(user.name)
    }

    /// The user's position in a channel. A user is always a participant of the channel named after the user, but may be
    /// banned there.
    func place(in channel: ExactText) -> ChannelPosition? {
        guard channel == own else { return places[channel] }
        return ChannelPosition(access: .own.union(places[own]?.access ?? []), since: .zero)
    }

    /// True when streams of the user have named the channel and it is not private.
    func isOpen(_ channel: ExactText) -> Bool { named[channel]?.isPrivate == false }

    /// Every channel in which the user has a position.
    var channels: [ExactText] { [own] + places.keys.filter { $0 != own } }

    func attach(_ feed: Feed) { feeds.append(feed) }
    func detach(_ feed: Feed) { feeds.removeAll { $0 === feed } }
}

// MARK: - Change

extension UserMemberships {
    /// Applies a transition, but keeps the previous relation as well, until `apply`.
    func begin(_ step: MembershipTransition, in channel: ExactText, at timetoken: Timetoken) {
        guard isLoaded else { return }
        let before = places[channel] ?? ChannelPosition(access: [], since: timetoken)
        // A user who had no position, or was only banned, comes in now.
        let since = before.access.subtracting(.banned).isEmpty ? timetoken : before.since
        places[channel] = ChannelPosition(access: before.access.union(before.access.after(step)), since: since)
    }

    /// Completes a transition: only the relation that it leads to remains.
    func apply(_ step: MembershipTransition, in channel: ExactText) {
        guard isLoaded, let access = places[channel]?.access.after(step) else { return }
        if access.isEmpty { places[channel] = nil } else { places[channel]?.access = access }
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

    /// Notes that these names were requested again. When there are many names, removes those that were not requested
    /// for `life` and that no stream of the user follows, because polls may give other names each time.
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

    /// Takes in the state read from the store, and the changes since the reading began.
    func add(_ reading: MembershipSnapshot, _ recent: [MembershipEvent]) {
        guard !isLoaded else { return }
        places = reading.places
        blocked = reading.blocked
        isLoaded = true
        // Replayed in their order, so that the last change decides, whether or not the reading already included it.
        for change in recent { replay(change) }
    }

    private func replay(_ change: MembershipEvent) {
        switch change.change {
        case .step(let step, let users):
            guard users.contains(own) else { return }
            begin(step, in: change.channel, at: change.timetoken)
            apply(step, in: change.channel)
        case .created: break
        case .deleted: leaveDeleted(change.channel)
        case .block(let other, of: let user, let isOn): if user == own { block(other, isOn: isOn) }
        }
    }
}

/// A user's relation to one channel, and since when.
struct ChannelPosition: Sendable {
    var access: UserAccess
    /// The time at which the user came into the channel, in whatever way. Older events were not for the user.
    var since: Timetoken
}
