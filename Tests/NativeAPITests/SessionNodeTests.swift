import ChatCore
import ChatModel
import ChatSupport
import LongPolling
import JSON
import TestSupport
import Testing

@testable import NativeAPI

@Suite("The session of a device on two nodes", .timeLimit(.minutes(2))) struct SessionNodeTests {
    /// The next session event that another device of the user receives: its type, session and attempt.
    private func state(_ reader: EventStreamReader) async -> String? {
        while let event = await reader.next() {
            guard event.type.hasPrefix("connection."), let data = event.json?["data"] else { continue }
            return "\(event.type) \(data["session_id"]?.string ?? "") \(data["attempt"]?.integer ?? -1)"
        }
        return nil
    }

    private func openPhone(_ node: StreamHarness) async throws -> (reader: EventStreamReader, session: String) {
        let reader = try await node.open("user=ana&device=phone")
        return (reader, try #require(await reader.next()?["session"]))
    }

    /// Opens a session of the phone and breaks its stream. Returns the id of the lost session.
    private func losePhone(on node: StreamHarness, _ watcher: EventStreamReader) async throws -> String {
        let (phone, id) = try await openPhone(node)
        #expect(await state(watcher) == "connection.opened \(id) 0")
        phone.close()
        #expect(await state(watcher) == "connection.reconnecting \(id) 0")
        return id
    }

    /// Advances the clock of both nodes by the time for which a session can be resumed.
    private func passWindow(_ one: StreamHarness, _ two: StreamHarness) async {
        one.clock.advance(by: DeviceSessions.resumeWindow)
        for node in [one, two] {
            await node.tick()
            await node.until { $0.reports.isEmpty && $0.reportTask == nil }
        }
    }

    private func offers(_ node: StreamHarness) async throws -> Int {
        let query = RecordQuery(.deviceSession, in: .gateway, limit: 10)
        return try await node.service.engine.directory.list(query).items.count
    }

    @Test("continues on the node to which the device reconnects, and ends there once")
    func takeover() async throws {
        try await StreamHarness.runTwo { one, two, _ in
            let (watcher, _, _) = try await one.openReady("user=ana")
            let (phone, id) = try await openPhone(one)
            #expect(await state(watcher) == "connection.opened \(id) 0")
            var (open, attempt) = (phone, 0)
            for node in [two, one, two] {
                open.close()
                #expect(await state(watcher) == "connection.reconnecting \(id) \(attempt)")
                attempt += 1
                let next = try await openPhone(node)
                #expect(next.session == id)
                #expect(await state(watcher) == "connection.reconnected \(id) \(attempt)")
                // The former node has forgotten the session, and does not end it.
                await passWindow(one, two)
                for node in [one, two] {
                    let list = try await node.call("GET", "/v1/users/ana/sessions").json?["data"]?.elements ?? []
                    #expect(list.map { $0["id"]?.string } == [id] && list.map { $0["state"]?.string } == ["open"])
                }
                #expect(try await offers(one) == 0)
                open = next.reader
            }
            open.close()
            #expect(await state(watcher) == "connection.reconnecting \(id) \(attempt)")
            await passWindow(one, two)
            #expect(await state(watcher) == "connection.failed \(id) \(attempt)")
            #expect(try await offers(one) == 0)
            let (later, other) = try await openPhone(one)
            #expect(other != id)
            #expect(await state(watcher) == "connection.opened \(other) 0")
            later.close()
        }
    }

    @Test("is the same for the streams that the device opens at the same time")
    func severalStreams() async throws {
        try await StreamHarness.runTwo { one, two, _ in
            let (watcher, _, _) = try await one.openReady("user=ana")
            let id = try await losePhone(on: one, watcher)
            try await withThrowingTaskGroup { group in
                for _ in 0..<4 { group.addTask { try await openPhone(two) } }
                for try await (reader, session) in group {
                    #expect(session == id)
                    reader.close()
                }
            }
        }
    }

    @Test("continues after its node has stopped")
    func stoppedNode() async throws {
        try await StreamHarness.runTwo { one, two, nodes in
            let (watcher, _, _) = try await two.openReady("user=ana")
            let id = try await losePhone(on: one, watcher)
            nodes.end(1)
            #expect(try await openPhone(two).session == id)
            #expect(await state(watcher) == "connection.reconnected \(id) 1")
        }
    }

    @Test("cannot be resumed after two minutes, or after it was deleted while it was lost")
    func ended() async throws {
        try await StreamHarness.runTwo { one, two, _ in
            let (watcher, _, _) = try await one.openReady("user=ana")
            let id = try await losePhone(on: one, watcher)
            // The first node has not looked at its sessions yet.
            one.clock.advance(by: DeviceSessions.resumeWindow)
            let (tardy, second) = try await openPhone(two)
            #expect(second != id)
            #expect(await state(watcher) == "connection.opened \(second) 0")
            await one.tick()
            #expect(await state(watcher) == "connection.failed \(id) 0")
            tardy.close()
            #expect(await state(watcher) == "connection.reconnecting \(second) 0")
            #expect(try await one.call("DELETE", "/v1/users/ana/sessions/\(second)").status == 204)
            #expect(await state(watcher) == "connection.canceled \(second) 0")
            #expect(try await offers(one) == 0)
            #expect(try await openPhone(one).session != second)
        }
    }

    @Test("is offered when the offer of its last loss is stored, not with an earlier offer")
    func staleOffer() throws {
        var sessions = DeviceSessions()
        let phone = DeviceSessions.Device(UserID("ana", in: StreamHarness.app), "phone")
        var offers: [SessionOffer] = []
        for stream in 1...2 as ClosedRange<UInt64> {
            _ = sessions.enter(phone, stream, now: 1)
            _ = sessions.leave(phone, stream, now: 2)
            offers.append(SessionOffer(try #require(sessions.session(phone)), lost: 2, node: 1))
        }
        sessions.offerStored(offers[0], for: phone)
        #expect(sessions.session(phone)?.isOffered == false)
        sessions.offerStored(offers[1], for: phone)
        #expect(sessions.session(phone)?.isOffered == true)
    }

    @Test(
        "stays on its node after the node saw a change of its own late, but not after another node changed its record",
        arguments: [1, 2, nil] as [Int64?])
    func changedRecord(_ holder: Int64?) async throws {
        try await StreamHarness.runTwo { one, two, _ in
            let (watcher, _, _) = try await two.openReady("user=ana")
            let id = try await losePhone(on: one, watcher)
            let device = DeviceSessions.Device(UserID("ana", in: StreamHarness.app), "phone")
            await one.until { $0.sessions.session(device)?.isOffered ?? false }
            let directory = one.service.engine.directory
            let record = try #require(try await directory.list(SessionOffer.query(device)).items.first)
            var offer = try #require(SessionOffer(record))
            // The test tells this record from the first one by the time.
            (offer.node, offer.opened) = (holder ?? 0, 1)
            _ = try await directory.write([RecordChange(record.key, body: holder == nil ? nil : offer.body)])
            await one.until { $0.sessions.session(device)?.mayHaveMoved ?? true }
            // If the session is forgotten, the offer of node 2 is accepted.
            await one.streams.takeOverSession(of: device)
            let opened = await one.streams.sessions.session(device)?.opened
            switch holder {
            case 1: #expect(opened != nil && opened != 1)
            case 2: #expect(opened == 1)
            default: #expect(opened == nil)
            }
            guard holder != nil else { return }
            await passWindow(one, two)
            #expect(await state(watcher) == "connection.failed \(id) 0")
        }
    }

    @Test("ends on an idle node that took it over for a device which opened no stream")
    func idleNode() async throws {
        try await StreamHarness.runTwo(ticks: .everySecond) { one, two, _ in
            let (watcher, _, _) = try await one.openReady("user=ana")
            let id = try await losePhone(on: one, watcher)
            await two.streams.takeOverSession(of: DeviceSessions.Device(UserID("ana", in: StreamHarness.app), "phone"))
            one.clock.advance(by: DeviceSessions.resumeWindow)
            #expect(await state(watcher) == "connection.failed \(id) 0")
        }
    }

    @Test("ends in time on a node that took it over after a later session was lost there")
    func order() {
        var sessions = DeviceSessions()
        let user = UserID("ana", in: StreamHarness.app)
        let (phone, tablet) = (DeviceSessions.Device(user, "phone"), DeviceSessions.Device(user, "tablet"))
        let window = DeviceSessions.resumeWindow
        let early = Timetoken(17_000_000_000_000_000)
        let late = early.adding(.seconds(50))
        _ = sessions.enter(tablet, 1, now: early)
        _ = sessions.leave(tablet, 1, now: late)
        let moved = DeviceSession(id: "ses_1", user: user, device: "phone", opened: 1)
        sessions.receive(SessionOffer(moved, lost: early, node: 1), phone)
        #expect(sessions.expire(now: early.adding(window)).map(\.device) == ["phone"])
        #expect(sessions.expire(now: late.adding(window)).map(\.device) == ["tablet"])
    }

    @Test("is ended only by the node that its record names", arguments: [1, 2, nil] as [Int64?])
    func owner(_ holder: Int64?) throws {
        let user = UserID("ana", in: StreamHarness.app)
        let session = DeviceSession(id: "ses_1", user: user, device: "phone", opened: 1, lost: 2, isOffered: true)
        let key = SessionOffer.key(session)
        let stored = holder.map { SessionOffer(session, lost: 2, node: $0).body }
        let records = stored.map { [key: Record(key: key, body: $0, etag: "e", updated: 2)] } ?? [:]
        let draft = EventDraft(
            channel: ChannelID("ana", in: user.app), type: "connection.failed", data: JSONText { $0.null() })
        let decision = SessionReport.decision(
            [SessionReport(draft: draft, offer: (key, .removeOwn))], node: 1,
            RecordSnapshot(now: 3, next: 4, etag: "f", records: records))
        #expect(decision.changes.map(\.key) == (holder == 1 ? [key] : []))
        #expect(decision.events.count == (holder == 1 ? 1 : 0))
    }
}
