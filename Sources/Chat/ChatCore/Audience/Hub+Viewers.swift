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
        _ board: any PresenceStore, sweeps: Sweeps, now: Timetoken
    ) async throws(ChatError) -> Viewer {
        guard isRunning else { throw ChatError.notListening }
        let attendance = roster.enter(user)
        roster.keep(attendance, now: now)
        attendance.nameAgain(names, at: now, keeping: Roster.life)
        let unknown = names.filter { attendance.named[$0] == nil }
        guard !attendance.isLoaded || !unknown.isEmpty else { return Viewer(attendance, device: device) }
        roster.beginLoad()
        defer { roster.endLoad() }
        let reading = try await RosterReading.read(
            user, naming: unknown, from: directory, board, sweeps: sweeps, now: now)
        // Whatever the records know of is handed out before they count.
        let newest = try await log.watermark(of: user.app)
        guard await reach(newest) else { throw ChatError.notListening }
        for (name, isPrivate) in reading.named {
            attendance.name(roster.name(ChannelID(name.text, in: user.app), isPrivate: isPrivate), name, at: now)
        }
        attendance.take(reading, roster.recent.filter { $0.app == user.app })
        return Viewer(attendance, device: device)
    }

    /// The channels that a device's stream hears now, and where its user may be seen: none that is for others only, none
    /// the user is banned from, and the user's own only by name.
    public func channels(heardBy selection: Selection) -> [String] {
        guard let viewer = selection.viewer else { return [] }
        let own = ExactText(viewer.user)
        let heard = selection.heardNames.filter { channel in
            if channel == own { return selection.channels.names.contains(own) }
            let standing = viewer.attendance.place(in: channel)?.standing ?? []
            return selection.admission(viewer, standing, channel).isAmongThem
        }
        return heard.map(\.text)
    }

    /// What a selection's viewer may hear now; nil for one without.
    public func hearing(of selection: Selection) -> Hearing? {
        selection.viewer.map { Hearing(selection, $0) }
    }
}

// MARK: - Handing out

extension Hub {
    /// Hands an event to every feed, with everybody's place as it is at this event: one that changes places counts with
    /// both what was before and what comes after, so that a joiner hears of joining and a leaver of leaving.
    ///
    /// - Parameter feeds: those that want it before any place has changed.
    func distributeAmongViewers(_ trial: inout FeedTrial, _ feeds: [Feed]) {
        let event = trial.event
        guard let change = RosterChange(event) else {
            distribute(event, feeds)
            return tellSubjects(&trial)
        }
        roster.record(change)
        begin(change)
        // Once more, as some hear it by their new places. Their users' streams alone are asked for the first time.
        distribute(event, index.feeds(for: &trial) ?? [])
        tellSubjects(&trial)
        settle(change)
    }

    private func begin(_ change: RosterChange) {
        switch change.matter {
        case .step(let step, let users):
            for attendance in attendances(of: users, in: change.app) {
                attendance.begin(step, in: change.channel, at: change.timetoken)
                for feed in attendance.feeds { index.extend(feed, to: change.channel) }
            }
        case .created: roster.note(change)
        case .block(let other, of: let user, let isOn):
            roster.attendance(of: user, in: change.app)?.block(other, isOn: isOn)
        case .deleted: break
        }
    }

    private func settle(_ change: RosterChange) {
        switch change.matter {
        case .step(let step, let users):
            for attendance in attendances(of: users, in: change.app) {
                attendance.settle(step, in: change.channel)
                narrow(attendance, from: change.channel)
                tellOfMove(of: attendance.user)
            }
        case .created, .block: break
        case .deleted:
            roster.note(change)
            for attendance in roster.attendances(in: change.app) {
                attendance.leaveDeleted(change.channel)
                narrow(attendance, from: change.channel)
            }
        }
    }

    private func tellOfMove(of user: UserID) {
        for observer in moveObservers { observer(user) }
    }

    /// Calls an observer on the hub's executor whenever a user as whom somebody listens has come into a channel or out of
    /// one.
    public func observeMoves(_ observer: @escaping @Sendable (UserID) -> Void) { moveObservers.append(observer) }

    private func narrow(_ attendance: Attendance, from channel: ExactText) {
        guard attendance.place(in: channel) == nil else { return }
        for feed in attendance.feeds { index.narrow(feed, from: channel) }
    }

    /// Those whom the event names hear it wherever they stand: who is invited, lifted from a ban, or asked for by name.
    private func tellSubjects(_ trial: inout FeedTrial) {
        let event = trial.event
        guard case .rule(let rule, let subjects) = event.audience else { return }
        let users = Set((rule == .device ? event.user.map { [$0] } ?? [] : subjects).map { ExactText($0) })
        let channel = ExactText(event.channel.name)
        for attendance in attendances(of: users, in: event.channel.app) {
            for feed in attendance.feeds where !feed.heard.contains(channel) && feed.selection.covers(channel) {
                if trial.isWanted(by: feed), feed.selection.isForViewer(event) { give(event, to: feed) }
            }
        }
    }

    private func attendances(of users: some Sequence<ExactText>, in app: AppID) -> [Attendance] {
        users.compactMap { roster.attendance(of: $0, in: app) }
    }

    func leave(_ feed: Feed, _ viewer: Viewer) {
        viewer.attendance.detach(feed)
    }
}
