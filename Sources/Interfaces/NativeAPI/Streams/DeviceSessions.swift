import ChatCore
import ChatModel
import Signing

/// The session of one device of a user. It is open while the device has a stream, and for two minutes after the last
/// stream broke.
struct DeviceSession {
    let id: String
    let user: UserID
    let device: String
    let opened: Timetoken
    /// The number of times that the session was resumed after its last stream had broken.
    var attempt = 0
    var streams: Set<UInt64> = []
    /// The time at which the session's last stream broke; nil while a stream is open.
    var lost: Timetoken?
    /// True while the device can resume the lost session on any node (``SessionOffer``).
    var isOffered = false
    /// True after a change of the offer's record, which may mean that another node has taken the session over.
    var mayHaveMoved = false

    var isOpen: Bool { lost == nil }
}

/// The sessions of devices. A client that reconnects within two minutes continues its session. The user's other devices
/// receive the session's changes, as `connection.…` events on the user's own channel. Confined to `LiveStreams`; stored
/// in memory only, apart from the lost sessions of a node of a cluster.
struct DeviceSessions {
    static let resumeWindow: Duration = .seconds(120)

    struct Device: Hashable {
        let user: UserID
        @ExactText private(set) var device: String

        init(_ user: UserID, _ device: String) {
            self.user = user
            self.device = device
        }

        /// The device of a selection; nil without one.
        init?(_ selection: Selection) {
            guard let viewer = selection.viewer, let device = viewer.device else { return nil }
            self.init(UserID(viewer.user, in: selection.channels.app), device)
        }
    }

    private var sessions: [Device: DeviceSession] = [:]
    private var devices: [UserID: Set<Device>] = [:]
    /// The sessions that were lost, in the order in which their last streams broke. The entry of a resumed session
    /// stays until ``expire(now:)`` skips it.
    private var lost: [(device: Device, since: Timetoken)] = []
    /// The devices of the sessions with ``DeviceSession/isOffered``, by the keys of their offers.
    private var offered: [RecordKey: Device] = [:]
    private let random = SystemRandomSource()

    var isEmpty: Bool { sessions.isEmpty }

    func session(_ device: Device) -> DeviceSession? { sessions[device] }

    func session(_ id: String, of user: UserID) -> DeviceSession? { all(of: user).first { $0.id == id } }

    /// The user's sessions in the order in which they were opened.
    func all(of user: UserID) -> [DeviceSession] {
        (devices[user] ?? []).compactMap { sessions[$0] }.sorted { ($0.opened, $0.id) < ($1.opened, $1.id) }
    }

    enum Change { case opened, reconnected, none }

    /// Adds a stream to the device's session, and opens the session if there is none.
    mutating func enter(_ device: Device, _ stream: UInt64, now: Timetoken) -> Change {
        guard var session = sessions[device] else {
            var session = DeviceSession(
                id: random.identifier(prefix: "ses_"), user: device.user, device: device.device, opened: now)
            session.streams = [stream]
            sessions[device] = session
            devices[device.user, default: []].insert(device)
            return .opened
        }
        let wasLost = !session.isOpen
        session.streams.insert(stream)
        offered[SessionOffer.key(session)] = nil
        (session.isOffered, session.mayHaveMoved) = (false, false)
        session.lost = nil
        if wasLost { session.attempt += 1 }
        sessions[device] = session
        return wasLost ? .reconnected : .none
    }

    /// Removes a stream from the device's session. Returns true when it was the session's last stream.
    mutating func leave(_ device: Device, _ stream: UInt64, now: Timetoken) -> Bool {
        guard var session = sessions[device], session.streams.remove(stream) != nil else { return false }
        let isLost = session.streams.isEmpty
        if isLost {
            session.lost = now
            lost.append((device, now))
        }
        sessions[device] = session
        return isLost
    }

    mutating func remove(_ session: DeviceSession) { remove(Device(session.user, session.device)) }

    private mutating func remove(_ device: Device) {
        if let session = sessions.removeValue(forKey: device) { offered[SessionOffer.key(session)] = nil }
        devices[device.user]?.remove(device)
        if devices[device.user]?.isEmpty ?? false { devices[device.user] = nil }
    }

    /// Removes and returns the sessions that were lost more than two minutes ago.
    mutating func expire(now: Timetoken) -> [DeviceSession] {
        let due = lost.prefix { $0.since.adding(Self.resumeWindow) <= now }
        guard !due.isEmpty else { return [] }
        lost.removeFirst(due.count)
        return due.compactMap { entry in
            guard let session = sessions[entry.device], session.lost == entry.since else { return nil }
            remove(entry.device)
            return session
        }
    }
}

/// The lost sessions that devices can resume on any node.
extension DeviceSessions {
    /// Marks a session as offered, if it was not resumed since the offer was made.
    mutating func offerStored(_ offer: SessionOffer, for device: Device) {
        guard let session = sessions[device], !session.isOpen, session.id == offer.id, session.attempt == offer.attempt
        else { return }
        sessions[device]?.isOffered = true
        offered[SessionOffer.key(session)] = device
    }

    /// Marks the offered session whose record has changed, and returns it. This node may see a change of its own after
    /// the session is offered.
    mutating func offerChanged(_ key: RecordKey) -> DeviceSession? {
        guard let device = offered[key] else { return nil }
        sessions[device]?.mayHaveMoved = true
        return sessions[device]
    }

    /// Forgets an offered session that another node has, if it was not resumed here meanwhile.
    mutating func forget(_ session: DeviceSession) {
        let device = Device(session.user, session.device)
        guard let now = sessions[device], now.mayHaveMoved, now.id == session.id, now.attempt == session.attempt
        else { return }
        remove(device)
    }

    /// Adds the lost session of an offer that this node has taken over, if there is no session of the device.
    mutating func receive(_ offer: SessionOffer, _ device: Device) {
        guard sessions[device] == nil else { return }
        let session = DeviceSession(
            id: offer.id, user: device.user, device: device.device, opened: offer.opened, attempt: offer.attempt,
            lost: offer.lost, isOffered: true)
        sessions[device] = session
        devices[device.user, default: []].insert(device)
        let index = lost.lastIndex { $0.since <= offer.lost }.map { $0 + 1 } ?? 0
        lost.insert((device, offer.lost), at: index)
        offered[SessionOffer.key(session)] = device
    }
}
