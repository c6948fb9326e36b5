import ChatModel

/// One user's relations to all channels, as of the last event that the hub has distributed. The object exists while a
/// stream receives events for the user, and for up to a minute after a stream for the user was last requested.
///
/// The relations are read from the store once. Afterwards, each distributed event updates them, in the order of the
/// event log. So every event is checked against the relations at the time of the event.
///
/// Safe to share between tasks, because it is read and changed on the hub's executor only.
final class UserMemberships: @unchecked Sendable {
    let user: UserID
    private(set) var places: [ExactText: ChannelPosition] = [:]
    /// The users that this user has blocked.
    private(set) var blocked: Set<ExactText> = []
    /// The channels that streams of the user select by name.
    private(set) var named: [ExactText: SubscribedChannel] = [:]
    /// The time at which each channel was last requested by name.
    private var namings: [ExactText: Timetoken] = [:]
    /// True when the stored relations are loaded.
    private(set) var isLoaded = false
    /// The user's feeds that are attached to the hub.
    private(set) var feeds: [Feed] = []
    /// The time until which the listener index keeps this object, even when nothing else uses it.
    var keptUntil = Timetoken.zero
    private let own: ExactText

    init(_ user: UserID) {
        self.user = user
        own = ExactText(user.name)
    }

    /// Returns the user's relation to a channel; nil when there is none. A user is always a participant of the channel
    /// with the user's own name, but may be banned there.
    func place(in channel: ExactText) -> ChannelPosition? {
        guard channel == own else { return places[channel] }
        return ChannelPosition(access: .own.union(places[own]?.access ?? []), since: .zero)
    }

    /// Returns true when streams of the user select the channel by name and the channel is not private.
    func isOpen(_ channel: ExactText) -> Bool { named[channel]?.isPrivate == false }

    /// All channels to which the user has a relation, the user's own channel first.
    var channels: [ExactText] { [own] + places.keys.filter { $0 != own } }

    func attach(_ feed: Feed) { feeds.append(feed) }
    func detach(_ feed: Feed) { feeds.removeAll { $0 === feed } }
}

// MARK: - Change

extension UserMemberships {
    /// Begins a change of the user's relation to a channel: adds the new relation to the previous relation. Both
    /// relations count until ``apply(_:in:)`` completes the change.
    func begin(_ step: MembershipTransition, in channel: ExactText, at timetoken: Timetoken) {
        guard isLoaded else { return }
        let before = places[channel] ?? ChannelPosition(access: [], since: timetoken)
        // A user without a relation, or with only a ban, enters the channel now.
        let since = before.access.subtracting(.banned).isEmpty ? timetoken : before.since
        places[channel] = ChannelPosition(access: before.access.union(before.access.after(step)), since: since)
    }

    /// Completes a change that ``begin(_:in:at:)`` has begun: removes the relation that the change ends.
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

    /// Records that the channels `names` were requested by name again. If more than `manyNames` channels are stored by
    /// name, also removes old channels. A channel is old when it was last requested more than `life` ago and no stream
    /// of the user selects it by name. The number of stored channels is limited because each poll may request other
    /// channels.
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

    /// Stores the relations read from the store, and applies the changes since the read began.
    func add(_ reading: MembershipSnapshot, _ recent: [MembershipEvent]) {
        guard !isLoaded else { return }
        places = reading.places
        blocked = reading.blocked
        isLoaded = true
        // All recent changes are applied in order. So the result is the same whether or not the read already included
        // some of these changes.
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

/// A user's relation to one channel, and the time at which it began.
struct ChannelPosition: Sendable {
    var access: UserAccess
    /// The time at which the user joined, entered or was invited to the channel; zero when the time is unknown. For an
    /// event before this time, the user does not count as a member or participant.
    var since: Timetoken
}
