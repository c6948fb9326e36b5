import ChatCore
import ChatModel
import Signing

/// The session of one device of a user: open while it has a stream, and for a while after its last one broke.
struct DeviceSession {
    let id: String
    let user: UserID
    let device: String
    let opened: Timetoken
    /// How often it was resumed.
    var attempt = 0
    var streams: Set<UInt64> = []
    /// When its last stream broke; nil while it has one.
    var lost: Timetoken?

    var isOpen: Bool { lost == nil }
}

/// Which devices are connected, so that a client that comes back within two minutes is the same session, and the user's
/// other devices hear of it (`connection.…` on the user's own channel). Belongs to `LiveStreams`; lives in memory.
struct DeviceSessions {
    static let resumeWindow: Duration = .seconds(120)

    struct Device: Hashable {
        let user: UserID
        @ExactText private(set) var device: String

        init(_ user: UserID, _ device: String) {
            self.user = user
            self.device = device
        }
    }

    private var sessions: [Device: DeviceSession] = [:]
    private var devices: [UserID: Set<Device>] = [:]
    /// Lost sessions in the order in which they were lost; some may be back.
    private var lost: [(device: Device, since: Timetoken)] = []
    private let random = SystemRandomSource()

    var isEmpty: Bool { sessions.isEmpty }

    func session(_ device: Device) -> DeviceSession? { sessions[device] }

    func session(_ id: String, of user: UserID) -> DeviceSession? { all(of: user).first { $0.id == id } }

    /// The user's sessions in the order of their opening.
    func all(of user: UserID) -> [DeviceSession] {
        (devices[user] ?? []).compactMap { sessions[$0] }.sorted { ($0.opened, $0.id) < ($1.opened, $1.id) }
    }

    enum Change { case opened, reconnected, none }

    /// A stream of the device is there.
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
        session.lost = nil
        if wasLost { session.attempt += 1 }
        sessions[device] = session
        return wasLost ? .reconnected : .none
    }

    /// A stream of the device is gone. True when it was the last one of a session.
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
        sessions[device] = nil
        devices[device.user]?.remove(device)
        if devices[device.user]?.isEmpty ?? false { devices[device.user] = nil }
    }

    /// Takes out the sessions that were lost for too long.
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
