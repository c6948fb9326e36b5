public import ChatModel

extension Hub {
    /// As whom a stream may listen, once the hub knows where the user stands.
    ///
    /// - Parameters:
    ///   - names: the channels the stream will name.
    ///   - directory: where memberships, restrictions and blocks are read.
    ///   - board: where participants of open channels are read.
    ///   - sweeps: what of them counts no more.
    /// - Throws: what the store throws; `.unavailable` when the hub stops.
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
        // Whatever the records know of is handed out before they count.
        let newest = try await log.watermark(of: user.app)
        guard await reach(newest) else { throw ChatError.notListening }
        for (name, isPrivate) in reading.named {
            userMemberships.name(listenerIndex.name(ChannelID(name.text, in: user.app), isPrivate: isPrivate), name, at: now)
        }
        userMemberships.take(reading, listenerIndex.recent.filter { $0.app == user.app })
        return Viewer(userMemberships, device: device)
    }

    /// The channels that a device's stream hears now, and where its user may be seen: none that is for others only, none
    /// the user is banned from, and the user's own only by name.
    public func channels(heardBy selection: Selection) -> [String] {
        guard let viewer = selection.viewer else { return [] }
        let own = ExactText(viewer.user)
        let heard = selection.heardNames.filter { channel in
            if channel == own { return selection.channels.names.contains(own) }
            let standing = viewer.userMemberships.place(in: channel)?.standing ?? []
            return selection.admission(viewer, standing, channel).isAmongThem
        }
        return heard.map(\.text)
    }

    /// What a selection's viewer may hear now; nil for one without.
    public func audienceSnapshot(of selection: Selection) -> AudienceSnapshot? {
        selection.viewer.map { AudienceSnapshot(selection, $0) }
    }
}

// MARK: - Handing out

extension Hub {
    /// Hands an event to every feed, with everybody's place as it is at this event: one that changes places counts with
    /// both what was before and what comes after, so that a joiner hears of joining and a leaver of leaving.
    ///
    /// - Parameter feeds: those that want it before any place has changed.
    func distributeAmongViewers(_ trial: inout FeedMatching, _ feeds: [Feed]) {
        let event = trial.event
        guard let change = MembershipEvent(event) else {
            distribute(event, feeds)
            return tellSubjects(&trial)
        }
        listenerIndex.record(change)
        begin(change)
        // Once more, as some hear it by their new places. Their users' streams alone are asked for the first time.
        distribute(event, index.feeds(for: &trial) ?? [])
        tellSubjects(&trial)
        settle(change)
    }

    private func begin(_ change: MembershipEvent) {
        switch change.matter {
        case .step(let step, let users):
            for userMemberships in membershipsByUser(of: users, in: change.app) {
                userMemberships.begin(step, in: change.channel, at: change.timetoken)
                for feed in userMemberships.feeds { index.extend(feed, to: change.channel) }
            }
        case .created: listenerIndex.note(change)
        case .block(let other, of: let user, let isOn):
            listenerIndex.userMemberships(of: user, in: change.app)?.block(other, isOn: isOn)
        case .deleted: break
        }
    }

    private func settle(_ change: MembershipEvent) {
        switch change.matter {
        case .step(let step, let users):
            for userMemberships in membershipsByUser(of: users, in: change.app) {
                userMemberships.settle(step, in: change.channel)
                narrow(userMemberships, from: change.channel)
                tellOfMove(of: userMemberships.user)
            }
        case .created, .block: break
        case .deleted:
            listenerIndex.note(change)
            for userMemberships in listenerIndex.membershipsByUser(in: change.app) {
                userMemberships.leaveDeleted(change.channel)
                narrow(userMemberships, from: change.channel)
            }
        }
    }

    private func tellOfMove(of user: UserID) {
        for observer in moveObservers { observer(user) }
    }

    /// Calls an observer on the hub's executor whenever a user as whom somebody listens has come into a channel or out of
    /// one.
    public func observeMoves(_ observer: @escaping @Sendable (UserID) -> Void) { moveObservers.append(observer) }

    private func narrow(_ userMemberships: UserMemberships, from channel: ExactText) {
        guard userMemberships.place(in: channel) == nil else { return }
        for feed in userMemberships.feeds { index.narrow(feed, from: channel) }
    }

    /// Those whom the event names hear it wherever they stand: who is invited, lifted from a ban, or asked for by name.
    private func tellSubjects(_ trial: inout FeedMatching) {
        let event = trial.event
        guard case .rule(let rule, let subjects) = event.audience else { return }
        let users = Set((rule == .device ? event.user.map { [$0] } ?? [] : subjects).map { ExactText($0) })
        let channel = ExactText(event.channel.name)
        for userMemberships in membershipsByUser(of: users, in: event.channel.app) {
            for feed in userMemberships.feeds where !feed.heard.contains(channel) && feed.selection.covers(channel) {
                if trial.isWanted(by: feed), feed.selection.isForViewer(event) { give(event, to: feed) }
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
