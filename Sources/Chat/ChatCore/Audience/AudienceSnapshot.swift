public import ChatModel

/// The rules that decide which past events a device's stream may receive, copied from the hub at one moment. With the
/// copy, missed events can be read outside the hub's executor.
///
/// The snapshot applies the user's current relations to past events, and covers the channels of
/// ``Selection/heardNames``. For events before a relation began (``ChannelPosition/since``), the relation does not
/// count, unless it is a ban.
public struct AudienceSnapshot: Sendable {
    let channels: ChannelSet
    private let selection: Selection
    private let viewer: Viewer
    private let places: [ExactText: ChannelPosition]
    private let open: Set<ExactText>
    private let blocked: Set<ExactText>

    /// Creates a snapshot. Must be called on the hub's executor.
    init(_ selection: Selection, _ viewer: Viewer) {
        let userMemberships = viewer.userMemberships
        self.selection = selection
        self.viewer = viewer
        places = userMemberships.places
        blocked = userMemberships.blocked
        open = selection.channels.names.filter { userMemberships.isOpen($0) }
        var channels = ChannelSet(app: selection.channels.app)
        channels.names = Set(selection.heardNames)
        self.channels = channels
    }

    func admits(_ event: Event) -> Bool {
        let channel = ExactText(event.channel.name)
        var access: UserAccess = []
        if channel == ExactText(viewer.user) {
            access = .own.union(places[channel]?.access ?? [])
        } else if let place = places[channel] {
            access = event.timetoken < place.since ? place.access.intersection(.banned) : place.access
        }
        return AudienceCheck(
            viewer: viewer, access: access, isSubscribed: open.contains(channel), blocked: blocked
        ).admits(event)
    }
}

extension Selection {
    /// The channels under which the hub's index lists a device's stream: the channels that the selection names, and
    /// those that its patterns match among the channels to which the user has a relation. Empty for a selection without
    /// a viewer.
    var heardNames: [ExactText] {
        guard let viewer else { return [] }
        let picked = viewer.userMemberships.channels.filter { !channels.names.contains($0) && covers($0) }
        return picked + channels.names
    }
}

extension Hub {
    /// Returns the viewer of a stream: the user and device for whom the stream receives events. Loads the user's
    /// relations to channels first, if the hub does not have them yet.
    ///
    /// - Parameters:
    ///   - names: the channels that the stream selects by name.
    ///   - directory: the source of memberships, restrictions and blocks.
    ///   - board: the store of presence, from which the participants of open channels are read.
    ///   - pendingDeletions: the deleted channels whose membership records are not removed yet.
    /// - Throws: the errors of the store; `.unavailable` when the hub is not running.
    func viewer(
        of user: UserID, on device: String?, naming names: Set<ExactText>, from directory: any Directory,
        _ board: any PresenceStore, pendingDeletions: PendingDeletions, now: Timetoken
    ) async throws(ChatError) -> Viewer {
        guard isRunning else { throw ChatError.notListening }
        let userMemberships = listenerIndex.enter(user)
        listenerIndex.keep(userMemberships, now: now)
        userMemberships.nameAgain(names, at: now, keeping: ListenerIndex.life)
        let unknown = names.filter { userMemberships.named[$0] == nil }
        guard !userMemberships.isLoaded || !unknown.isEmpty else { return Viewer(userMemberships, device: device) }
        listenerIndex.beginLoad()
        defer { listenerIndex.endLoad() }
        let reading = try await MembershipSnapshot.read(
            user, naming: unknown, from: directory, board, pendingDeletions: pendingDeletions, now: now)
        // The loaded records may already reflect recent events. The hub must distribute these events before the records
        // are used.
        let newest = try await log.watermark(of: user.app)
        guard await reach(newest) else { throw ChatError.notListening }
        for (name, isPrivate) in reading.named {
            userMemberships.name(
                listenerIndex.name(ChannelID(name.text, in: user.app), isPrivate: isPrivate), name, at: now)
        }
        userMemberships.add(reading, listenerIndex.recent.filter { $0.app == user.app })
        return Viewer(userMemberships, device: device)
    }

    /// Returns the channels that a device's stream follows now. In these channels, the user may be listed as present.
    /// Channels from which the user is banned are left out. The user's own channel is included only if the selection
    /// names it.
    public func channels(heardBy selection: Selection) -> [String] {
        guard let viewer = selection.viewer else { return [] }
        let own = ExactText(viewer.user)
        let heard = selection.heardNames.filter { channel in
            guard channel != own || selection.channels.names.contains(own) else { return false }
            return selection.audienceCheck(viewer, channel).isFollowed
        }
        return heard.map(\.text)
    }

    /// Returns a snapshot of the rules that decide which past events a selection's viewer may receive; nil for a
    /// selection without a viewer.
    public func audienceSnapshot(of selection: Selection) -> AudienceSnapshot? {
        selection.viewer.map { AudienceSnapshot(selection, $0) }
    }
}

// MARK: - Distribution

extension Hub {
    /// Distributes an event to the feeds, using each user's relation to the channel at the time of the event. If the
    /// event changes the relation of a user, both the old and the new relation count. So a user who joins or leaves the
    /// channel receives the event that reports this.
    ///
    /// - Parameter feeds: the feeds that match the event before it changes any relation.
    func distributeAmongViewers(_ matching: inout FeedMatching, _ feeds: [Feed]) {
        let event = matching.event
        guard let change = MembershipEvent(event) else {
            distribute(event, feeds)
            return notifySubjects(&matching)
        }
        listenerIndex.record(change)
        begin(change)
        // Matches the event again, for the users whose new relation admits it. Filters that were already evaluated are
        // not evaluated again.
        distribute(event, index.feeds(for: &matching) ?? [])
        notifySubjects(&matching)
        apply(change)
    }

    private func begin(_ change: MembershipEvent) {
        switch change.change {
        case .step(let step, let users):
            for userMemberships in membershipsByUser(of: users, in: change.app) {
                userMemberships.begin(step, in: change.channel, at: change.timetoken)
                for feed in userMemberships.feeds { index.extend(feed, to: change.channel) }
            }
        case .created: listenerIndex.apply(change)
        case .block(let other, of: let user, let isOn):
            listenerIndex.userMemberships(of: user, in: change.app)?.block(other, isOn: isOn)
        case .deleted: break
        }
    }

    private func apply(_ change: MembershipEvent) {
        switch change.change {
        case .step(let step, let users):
            for userMemberships in membershipsByUser(of: users, in: change.app) {
                userMemberships.apply(step, in: change.channel)
                narrow(userMemberships, from: change.channel)
                notifyOfMove(of: userMemberships.user)
            }
        case .created, .block: break
        case .deleted:
            listenerIndex.apply(change)
            for userMemberships in listenerIndex.membershipsByUser(in: change.app) {
                userMemberships.leaveDeleted(change.channel)
                narrow(userMemberships, from: change.channel)
            }
        }
    }

    private func notifyOfMove(of user: UserID) {
        for observer in moveObservers { observer(user) }
    }

    /// Registers an observer of changed relations to channels. The hub calls the observer on its executor with each
    /// user who has a stream and whose relation to a channel has changed.
    public func observeMoves(_ observer: @escaping @Sendable (UserID) -> Void) { moveObservers.append(observer) }

    private func narrow(_ userMemberships: UserMemberships, from channel: ExactText) {
        guard userMemberships.place(in: channel) == nil else { return }
        for feed in userMemberships.feeds { index.narrow(feed, from: channel) }
    }

    /// Distributes an event to the users to whom its audience rule refers and whose feeds are not listed under the
    /// channel: users who are invited, unbanned or mentioned, for example.
    private func notifySubjects(_ matching: inout FeedMatching) {
        let event = matching.event
        guard case .rule(let rule, let subjects) = event.audience else { return }
        let users = Set((rule == .device ? event.user.map { [$0] } ?? [] : subjects).map { ExactText($0) })
        let channel = ExactText(event.channel.name)
        for userMemberships in membershipsByUser(of: users, in: event.channel.app) {
            for feed in userMemberships.feeds where !feed.heard.contains(channel) && feed.selection.covers(channel) {
                if matching.isWanted(by: feed), feed.selection.isForViewer(event) { deliver(event, to: feed) }
            }
        }
    }

    private func membershipsByUser(of users: some Sequence<ExactText>, in app: AppID) -> [UserMemberships] {
        users.compactMap { listenerIndex.userMemberships(of: $0, in: app) }
    }

    func leave(_ feed: Feed, _ viewer: Viewer) {
        viewer.userMemberships.detach(feed)
    }
}

/// The identity for which a stream receives events: a user and, if the client sent a device id, a device. A viewer is
/// part of the stream's selection.
///
/// Created by `Hub.viewer`. While a viewer exists, the hub keeps the relations of its user to channels up to date.
public struct Viewer: Sendable {
    /// The user's name.
    @ExactText public private(set) var user: String
    private let exactDevice: ExactText?
    let userMemberships: UserMemberships

    init(_ userMemberships: UserMemberships, device: String?) {
        user = userMemberships.user.name
        exactDevice = device.map { ExactText($0) }
        self.userMemberships = userMemberships
    }

    /// The id of the device; nil when the client sent none.
    public var device: String? { exactDevice?.text }

    /// Returns true when the event was caused by a request of this device.
    func isOrigin(of event: Event) -> Bool {
        guard let device = exactDevice, let origin = event.draft.originDevice, let author = event.user else {
            return false
        }
        return ExactText(origin) == device && ExactText(author) == _user
    }
}

extension Viewer: Hashable {
    public static func == (left: Viewer, right: Viewer) -> Bool {
        left._user == right._user && left.exactDevice == right.exactDevice
            && left.userMemberships === right.userMemberships
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(_user)
        hasher.combine(exactDevice)
    }
}
