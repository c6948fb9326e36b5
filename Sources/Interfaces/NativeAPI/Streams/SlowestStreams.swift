import ChatCore
import ChatModel
import LongPolling
import HTTPServer
import JSON

/// The largest lags of the open streams. `lagBytes` is the largest lag of a connection: the number of bytes of its feed
/// that are not sent yet. `catchUpTicks` is the largest lag of a stream that catches up: the time between its position
/// and the end of the log, in ticks of 100 ns.
struct SlowestStreams: Sendable {
    var lagBytes: UInt64 = 0
    var catchUpTicks: UInt64 = 0
}

extension LiveStreams {
    /// Returns the largest lags of all streams. Examines the streams in parts, so that the loop is not blocked for
    /// long.
    func worst() async -> SlowestStreams {
        var worst = SlowestStreams()
        var position: UInt64? = 0
        while let from = position {
            let part = roll.part(behind: from, limit: 2048)
            for stream in part.streams where stream.connection.isOpen {
                worst.lagBytes = max(worst.lagBytes, stream.connection.lag)
            }
            position = part.last
            if position != nil { await Task.yield() }
        }
        for stream in catchingUp.values {
            let end = logPosition(of: stream.feed)
            guard stream.position < end else { continue }
            worst.catchUpTicks = max(worst.catchUpTicks, end.rawValue - stream.position.rawValue)
        }
        return worst
    }
}

extension LiveStreams {
    /// Returns true when the caller's credential is still valid and still covers the selection.
    func isInForce(_ caller: Caller, _ selection: Selection) -> Bool {
        guard let now = service.keyring.caller(key: caller.credential, in: caller.app) else { return false }
        if let end = caller.expires, end <= service.clock.now { return false }
        if service.isRevoked(caller) { return false }
        // The selection was permitted to a caller with these rights. The right to the user's own channel is not one of
        // them: it depends on the key.
        let hasSameRights =
            !caller.readsOwnChannel && now.scopes == caller.scopes && now.channels == caller.channels
            && now.types == caller.types
        return hasSameRights || selection.isPermitted(to: now)
    }

    func credentialChanged(_ key: APIKey) {
        let changed = ConnectionOwner.Key(app: key.app, id: key.id)
        let expires = service.keyring.caller(key: key.id, in: key.app)?.expires
        guard owners.change(changed, expires: expires) else { return }
        recheck(after: 0) { $0.owner.key == changed }
    }

    /// Closes the streams that `isConcerned` selects and whose credential is no longer valid. Each iteration of the
    /// loop examines a part of the list, beginning after the stream with the number `sequence`.
    func recheck(after sequence: UInt64, _ isConcerned: @escaping @Sendable (LiveStream) -> Bool) {
        let part = roll.part(behind: sequence, limit: 4096)
        for stream in part.streams where isConcerned(stream) { recheck(stream) }
        guard let next = part.last else { return }
        loop.post { [weak self] in self?.assumeIsolated { $0.recheck(after: next, isConcerned) } }
    }

    private func recheck(_ stream: LiveStream) {
        if !isInForce(stream.owner.caller, stream.feed.selection) { close(stream, .unauthorized) }
    }

    /// Closes the streams whose credentials have expired. Called once a second, so it does not visit all streams: it
    /// finds the streams of an expired credential by the user of the credential. Only for an expired credential without
    /// a user it searches all streams.
    func checkExpiries() {
        var ofNoUser: Set<ObjectIdentifier> = []
        for owner in owners.ended(at: service.clock.now) {
            if let user = owner.caller.user {
                for stream in streams(of: UserID(user, in: owner.caller.app)) where stream.owner === owner {
                    recheck(stream)
                }
            } else {
                ofNoUser.insert(ObjectIdentifier(owner))
            }
        }
        guard !ofNoUser.isEmpty else { return }
        recheck(after: 0) { [ofNoUser] in ofNoUser.contains(ObjectIdentifier($0.owner)) }
    }
}

/// Sessions of devices, presence and unread counts, which depend on the streams of devices.
extension LiveStreams {
    private func device(of stream: LiveStream) -> DeviceSessions.Device? {
        DeviceSessions.Device(stream.feed.selection)
    }

    /// The id of the session to which a stream belongs; nil when the stream belongs to no device, or its device is not
    /// registered yet.
    func session(of stream: LiveStream) -> String? { device(of: stream).flatMap { sessions.session($0)?.id } }

    /// Registers the new stream of a device: its session, its presence and its user's unread counts.
    func deviceCame(_ stream: LiveStream, hasGap: Bool) {
        guard let viewer = stream.feed.selection.viewer else { return }
        let present = stream.presentOn == nil ? [] : presence(on: stream.feed.selection)
        if stream.presentOn != nil { stream.presentOn = present }
        service.presence.opened(
            holder(of: stream), of: UserID(viewer.user, in: stream.owner.caller.app), presentOn: present.map(\.text))
        watchUnread(of: UserID(viewer.user, in: stream.owner.caller.app), isOn: true)
        guard let device = device(of: stream) else { return }
        let change = sessions.enter(device, stream.sequence, now: service.clock.now)
        guard let session = sessions.session(device) else { return }
        switch change {
        case .opened:
            sendReport("connection.opened", session) { [heartbeatSeconds] writer in
                writer.member("heartbeat_s", Int(heartbeatSeconds))
                writer.member("resume_window_s", Int(DeviceSessions.resumeWindow.components.seconds))
            }
        case .reconnected: sendReport("connection.reconnected", session) { $0.member("gap", hasGap) }
        case .none: break
        }
    }

    /// Handles the end of a device's stream for any reason.
    func deviceWent(_ stream: LiveStream) {
        guard let viewer = stream.feed.selection.viewer else { return }
        watchUnread(of: UserID(viewer.user, in: stream.owner.caller.app), isOn: false)
        if stream.isEnded {
            service.presence.closed(holder(of: stream))
        } else {
            service.presence.disconnected(holder(of: stream))
        }
        guard let device = device(of: stream) else { return }
        let isLost = sessions.leave(device, stream.sequence, now: service.clock.now)
        guard isLost, !isDraining, let session = sessions.session(device) else { return }
        sendReport("connection.reconnecting", session)
    }

    /// Moves the presence of a device's user to the channels of the stream's new selection.
    func deviceMoves(_ stream: LiveStream, to selection: Selection) {
        guard let before = stream.presentOn, let user = stream.user else { return }
        let after = presence(on: selection)
        stream.presentOn = after
        let (came, went) = (after.subtracting(before), before.subtracting(after))
        if !came.isEmpty { service.presence.opened(holder(of: stream), of: user, presentOn: came.map(\.text)) }
        if !went.isEmpty { service.presence.narrowed(holder(of: stream), of: user, without: went.map(\.text)) }
    }

    /// Handles that a user has joined or left a channel: updates the streams that make the user present.
    func userMoved(_ user: UserID) {
        for stream in streams(of: user) { deviceMoves(stream, to: stream.feed.selection) }
    }

    /// The open streams of a user.
    func streams(of user: UserID) -> [LiveStream] { (userStreams[user] ?? []).compactMap { roll[$0] } }

    /// Starts or stops watching the number of a user's unread messages. The number is watched while the user has a
    /// stream, and changes are sent to the user's devices. Starts and stops are applied in order; otherwise a user
    /// could be watched permanently.
    private func watchUnread(of user: UserID, isOn: Bool) {
        watches.append((user: user, isOn: isOn))
        if watching == nil { watching = Task { await updateWatches() } }
    }

    private func updateWatches() async {
        while !watches.isEmpty {
            let (user, isOn) = watches.removeFirst()
            await service.watchUnread(of: user, isOn: isOn)
        }
        watching = nil
    }

    /// Treats a user who polls as connected until `pollWatchBeats` seconds after the last poll. The number of unread
    /// messages is watched for this time, so each poll returns the changes of the number since the previous poll.
    func pollCame(_ selection: Selection) {
        guard let viewer = selection.viewer else { return }
        let user = UserID(viewer.user, in: selection.channels.app)
        let most = service.limits.streamsInGateway
        guard pollWatches[user] != nil || most == 0 || pollWatches.count < most else { return }
        if pollWatches.updateValue(beats.now + Self.pollWatchBeats, forKey: user) == nil {
            watchUnread(of: user, isOn: true)
        }
        startBeating()
    }

    /// The number of seconds for which a user counts as connected after a poll. It is longer than the longest wait of a
    /// poll plus the two minutes for which transient events can be caught up.
    private static let pollWatchBeats: UInt64 = 150

    func expirePollWatches(at tick: UInt64) {
        // The expiries are checked every ten seconds, because there may be many users and a delay does no harm.
        guard tick.isMultiple(of: 10) else { return }
        for (user, end) in pollWatches where end <= tick {
            pollWatches[user] = nil
            watchUnread(of: user, isOn: false)
        }
    }

    func presence(on selection: Selection) -> Set<ExactText> {
        Set(service.hub.assumeIsolated { $0.channels(heardBy: selection) }.map { ExactText($0) })
    }

    private func holder(of stream: LiveStream) -> HolderID { HolderID(id(of: stream.sequence)) }

    /// Ends the sessions of devices that have not reconnected within the resume window.
    func expireSessions() {
        for session in sessions.expire(now: service.clock.now) { sendReport("connection.failed", session) }
    }

    /// Ends a session of this node and its streams permanently. Returns false when the user has no session with this id.
    func cancelSession(_ id: String, of user: UserID) -> Bool {
        guard let session = sessions.session(id, of: user) else { return false }
        sessions.remove(session)
        sendReport("connection.canceled", session)
        for stream in session.streams.compactMap({ roll[$0] }) { close(stream, .deleted) }
        return true
    }
}

// MARK: - Session events

extension LiveStreams {
    private func sendReport(
        _ type: String, _ session: DeviceSession, _ more: (inout JSONWriter) -> Void = { _ in }
    ) {
        let data = JSONText { writer in
            writer.beginObject()
            writer.member("session_id", session.id)
            writer.member("device_id", session.device)
            writer.member("attempt", session.attempt)
            writer.member("state", Self.state(after: type))
            more(&writer)
            writer.endObject()
        }
        var draft = EventDraft(
            channel: ChannelID(session.user.name, in: session.user.app), type: type, retention: .passing, data: data,
            user: session.user.name)
        draft.audience = .rule(.user, subjects: [session.user.name])
        draft.originDevice = session.device
        reports.append(SessionReport(draft: draft, offer: offerChange(after: type, session)))
        if reportTask == nil { reportTask = Task { await sendPending() } }
    }

    private static func state(after type: String) -> String {
        switch type {
        case "connection.opened", "connection.reconnected": "open"
        case "connection.reconnecting": "reconnecting"
        default: "closed"
        }
    }

    /// Appends the events about sessions one after the other, so that the log has a device's states in order. An event
    /// that cannot be appended is dropped. The event is transient, and the list of sessions shows the current state.
    private func sendPending() async {
        while !reports.isEmpty {
            // One change of an offer per commit.
            var keys: Set<RecordKey> = []
            let part = Array(reports.prefix(200).prefix { $0.offer.map { keys.insert($0.key).inserted } ?? true })
            reports.removeFirst(part.count)
            await append(part)
        }
        reportTask = nil
    }

    private func append(_ part: [SessionReport]) async {
        let offers = part.compactMap(\.offer)
        guard !offers.isEmpty else {
            _ = try? await service.engine.log.append(part.map(\.draft), claim: nil)
            return
        }
        let decided = try? await service.engine.directory.decide(offers.map(\.key)) {
            [node = service.nodes.node] snapshot in SessionReport.decision(part, node: node, snapshot)
        }
        guard decided != nil else { return }
        for case (_, .store(let offer, let device)) in offers { sessions.offerStored(offer, for: device) }
    }
}
