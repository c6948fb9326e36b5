import ChatCore
import ChatModel
import HTTPServer
import JSON

/// The record of a lost session, by which the device can resume the session on any node. The node in the record is the
/// one that may end the session. It exists from the event `connection.reconnecting` to the next event of the session.
struct SessionOffer: Sendable {
    var node: Int64
    var id: String
    var opened: Timetoken
    var attempt: Int
    var lost: Timetoken

    init(_ session: DeviceSession, lost: Timetoken, node: Int64) {
        self.node = node
        id = session.id
        opened = session.opened
        attempt = session.attempt
        self.lost = lost
    }

    /// Parses the body of a record; nil for another value.
    init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root, let node = root["node"]?.integer,
            let id = root["id"]?.string, let opened = root["opened"]?.integer, let attempt = root["attempt"]?.integer,
            let lost = root["lost"]?.integer
        else { return nil }
        (self.node, self.id, self.attempt) = (node, id, Int(attempt))
        self.opened = Timetoken(UInt64(clamping: opened))
        self.lost = Timetoken(UInt64(clamping: lost))
    }

    var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("node", node)
            writer.member("id", id)
            writer.member("opened", Int64(clamping: opened.rawValue))
            writer.member("attempt", attempt)
            writer.member("lost", Int64(clamping: lost.rawValue))
            writer.endObject()
        }
    }

    /// The key of the record of a session.
    static func key(_ session: DeviceSession) -> RecordKey {
        RecordKey(
            .deviceSession, parts: [session.user.app.name, session.user.name, session.device, session.id], in: .gateway)
    }

    /// The offers of a device's sessions.
    static func query(_ device: DeviceSessions.Device) -> RecordQuery {
        var query = RecordQuery(.deviceSession, in: .gateway, limit: 100)
        query.idPrefix = RecordKey.prefix([device.user.app.name, device.user.name, device.device])
        return query
    }
}

/// An event about a session that was not yet appended to the log, and the change of the session's offer in the same
/// commit.
struct SessionReport: Sendable {
    enum Change: Sendable {
        /// Stores the offer, for a session of this device.
        case store(SessionOffer, DeviceSessions.Device)
        case remove
        /// Removes the offer and appends the event, or does neither if the offer is no longer this node's.
        case removeOwn
    }

    var draft: EventDraft
    /// The key of the session's offer, and its change; nil on a single node.
    var offer: (key: RecordKey, change: Change)?

    /// The changes and events of reports about different sessions.
    static func decision(_ reports: [SessionReport], node: Int64, _ snapshot: RecordSnapshot) -> Decision<Void> {
        var decision = Decision(())
        for report in reports {
            if let (key, change) = report.offer {
                let stored = snapshot[key]
                switch change {
                case .store(let offer, _): decision.changes.append(RecordChange(key, body: offer.body))
                case .removeOwn where stored.flatMap(SessionOffer.init)?.node != node: continue
                case .remove, .removeOwn:
                    if stored != nil { decision.changes.append(RecordChange(key, body: nil)) }
                }
            }
            decision.events.append(report.draft)
        }
        return decision
    }
}

/// Sessions that devices resume on another node.
extension LiveStreams {
    /// True if other processes can share the store.
    private var isOneOfSeveral: Bool { service.nodes.node != 0 }

    /// The change of the offer of a session, for the commit of an event about the session.
    func offerChange(after type: String, _ session: DeviceSession) -> (key: RecordKey, change: SessionReport.Change)? {
        guard isOneOfSeveral else { return nil }
        let key = SessionOffer.key(session)
        switch type {
        case "connection.reconnecting":
            guard let lost = session.lost else { return nil }
            let device = DeviceSessions.Device(session.user, session.device)
            return (key, .store(SessionOffer(session, lost: lost, node: service.nodes.node), device))
        case "connection.reconnected", "connection.canceled": return (key, .remove)
        case "connection.failed": return session.isOffered ? (key, .removeOwn) : nil
        default: return nil
        }
    }

    /// Takes over the newest session that another node offers to a device, if this node has none of the device. The
    /// next stream of the device then resumes the session here.
    func takeOverSession(of device: DeviceSessions.Device) async {
        guard isOneOfSeveral else { return }
        if let session = sessions.session(device), session.mayHaveMoved { await forgetIfMoved(session) }
        guard sessions.session(device) == nil else { return }
        // Streams that the device opens at the same time wait for the same session.
        if let takeover = takeovers[device] { return await takeover.value }
        // Without the store, the device gets a new session.
        let takeover = Task {
            guard let offer = try? await self.acceptOffer(to: device) else { return }
            self.sessions.receive(offer, device)
            // The device may disconnect before it opens a stream. The session must end on an idle node too.
            self.startBeating()
        }
        takeovers[device] = takeover
        await takeover.value
        takeovers[device] = nil
    }

    private func acceptOffer(to device: DeviceSessions.Device) async throws(ChatError) -> SessionOffer? {
        let oldest = service.clock.now.adding(.zero - DeviceSessions.resumeWindow)
        let offers = try await service.engine.directory.list(SessionOffer.query(device)).items
            .compactMap { record in SessionOffer(record).map { (key: record.key, offer: $0) } }
            .filter { $0.offer.lost > oldest }
        guard let (key, found) = offers.max(by: { $0.offer.lost < $1.offer.lost }) else { return nil }
        var offer = found
        offer.node = service.nodes.node
        // Another node may take over the session, or the former one may end it, at the same moment.
        let isTaken = try await service.engine.directory.decide([key]) { [offer] snapshot in
            guard snapshot[key].flatMap(SessionOffer.init)?.node == found.node else { return Decision(false) }
            return Decision(true, changes: [RecordChange(key, body: offer.body)])
        }.value
        return isTaken ? offer : nil
    }

    /// Forgets the sessions that other nodes take over.
    nonisolated func forgetMovedSessions() {
        service.engine.directory.observe { [weak self] changes in
            let keys = changes.keys.filter { $0.kind == .deviceSession }
            guard let self, !keys.isEmpty else { return }
            loop.post {
                self.assumeIsolated { streams in
                    for session in keys.compactMap({ streams.sessions.offerChanged($0) }) {
                        Task { await streams.forgetIfMoved(session) }
                    }
                }
            }
        }
    }

    /// Forgets an offered session, if its record is one of another node or was removed by another node.
    private func forgetIfMoved(_ session: DeviceSession) async {
        // After a failure, the session stays until it expires. It ends without an event if another node has it.
        guard let records = try? await service.engine.directory.read([SessionOffer.key(session)]) else { return }
        if records[0].flatMap(SessionOffer.init)?.node != service.nodes.node { sessions.forget(session) }
    }
}
