import ChatModel
import EngineConformance
import FoundationEssentials
import JSON
import Locking
import SQLite
import StorageCore
import TestSupport
@testable import SQLiteEngine
import Testing

@Suite("The engine's file") struct FileTests {
    let folder: TemporaryFolder
    let clock = ManualClock()
    let room = ChannelID("room", in: AppID("app"))

    init() throws { folder = try TemporaryFolder() }

    var settings: SQLiteEngineSettings { SQLiteEngineSettings(path: folder.database, clock: clock) }

    func draft(_ text: String, bytes: Int = 0) -> EventDraft {
        EventDraft(
            channel: room, type: "t", data: JSONText(string: text + String(repeating: "x", count: bytes)))
    }

    func history(_ engine: SQLiteEngine) async throws -> [Event] {
        try await engine.log.history([HistoryRequest(channel: room, limit: 1_000_000)])[0].items
    }

    @Test("belongs to one engine at a time, and is free again after close")
    func oneOwner() async throws {
        let first = try await SQLiteEngine(settings)
        do {
            _ = try await SQLiteEngine(settings)
            Issue.record("a second engine got the file")
        } catch {
            #expect(error.reason == .inUse)
            #expect(error.description.contains("in use by another gateway"))
        }
        _ = try await first.log.append([draft("still works")], claim: nil)
        await first.close()
        let second = try await SQLiteEngine(settings)
        #expect(try await history(second).count == 1)
        await second.close()
    }

    @Test("of a newer program is refused with an explanation and not changed")
    func newer() async throws {
        try Database(path: folder.database, mode: .readWrite).execute("PRAGMA user_version=9; CREATE TABLE theirs(x)")
        do {
            _ = try await SQLiteEngine(settings)
            Issue.record("a newer file was opened")
        } catch {
            #expect(error.reason == .newerSchema(found: 9, known: 1))
            #expect(error.description.contains("start a newer version"))
        }
        let database = try Database(path: folder.database, mode: .readOnly)
        #expect(try database.integer("SELECT count(*) FROM sqlite_master") == 1)
    }

    @Test("of an older version is upgraded, keeps its events, and is refused by the older program afterwards")
    func upgraded() async throws {
        let engine = try await SQLiteEngine(settings)
        _ = try await engine.log.append([draft("first"), draft("second")], claim: nil)
        await engine.close()
        do {
            let database = try Database(path: folder.database, mode: .readWrite)
            try settings.upgrade(database, by: Schema.migrations + [Self.madeUpSecondVersion])
            #expect(try database.schemaVersion == 2)
            #expect(try database.integer("SELECT count(*) FROM event WHERE length > 0") == 2)
        }
        let error = await #expect(throws: SQLiteEngineFailure.self) { _ = try await SQLiteEngine(settings) }
        #expect(error?.reason == .newerSchema(found: 2, known: 1))
    }

    @Test("of an older version is not changed when a step of the upgrade fails")
    func failedUpgrade() async throws {
        let engine = try await SQLiteEngine(settings)
        _ = try await engine.log.append([draft("first")], claim: nil)
        await engine.close()
        do {
            let database = try Database(path: folder.database, mode: .readWrite)
            let steps = Schema.migrations + [Self.madeUpSecondVersion, "ALTER TABLE nowhere ADD COLUMN a"]
            #expect(throws: SQLiteFailure.self) { try settings.upgrade(database, by: steps) }
            #expect(try database.schemaVersion == 1)
        }
        let reopened = try await SQLiteEngine(settings)
        #expect(try await history(reopened).count == 1)
        await reopened.close()
    }

    @Test("of an older version is not changed when it is damaged")
    func damagedBeforeUpgrade() async throws {
        let engine = try await SQLiteEngine(settings)
        _ = try await engine.log.append((1...500).map { draft("\($0)", bytes: 200) }, claim: nil)
        await engine.close()
        var bytes = try Data(contentsOf: URL(filePath: folder.database))
        for index in (bytes.count / 2)..<(bytes.count / 2 + 40_960) { bytes[index] = 0x55 }
        try bytes.write(to: URL(filePath: folder.database))
        let database = try Database(path: folder.database, mode: .readWrite)
        let failure = #expect(throws: SQLiteFailure.self) {
            try settings.upgrade(database, by: Schema.migrations + [Self.madeUpSecondVersion])
        }
        #expect(failure.map { "\($0)".contains("damaged") || "\($0)".contains("malformed") } == true)
        #expect(try database.schemaVersion == 1)
    }

    /// A second version of the schema, as a later release could have it.
    static let madeUpSecondVersion = """
        ALTER TABLE event ADD COLUMN length INTEGER NOT NULL DEFAULT 0;
        UPDATE event SET length = length(body);
        """

    @Test("that was left half reordered is reordered completely when it is opened")
    func halfOrdered() async throws {
        let subscriber = SubscriberID("wh", in: room.app)
        var engine = try await SQLiteEngine(settings)
        let items = (1...1500).map {
            PlannedDelivery(
                id: "dlv_\($0)", subscriber: subscriber, event: Timetoken(UInt64($0)), type: "t", channel: "\($0 % 3)")
        }
        try await engine.deliveries.plan(items, cursor: CursorName("c"), from: .zero, to: 1500)
        await engine.close()
        // The state after a crash in the first batch: the settings name it, and some items have their position.
        let file = try Database(path: folder.database, mode: .readWrite)
        try file.execute(
            """
            UPDATE subscriber SET ordering=2, reordering=2;
            UPDATE delivery SET chain=0, due=\(Int64.max) WHERE tt <= 500;
            """)
        engine = try await SQLiteEngine(settings)
        for event in 1...3 {
            let leases = try await engine.deliveries.lease(9, wait: .zero)
            #expect(leases.map(\.delivery.event) == [Timetoken(UInt64(event))])
            let attempt = DeliveryAttempt(at: clock.now, status: 200, error: nil, durationMilliseconds: 1)
            #expect(try await engine.deliveries.finish(leases[0], DeliveryOutcome(.delivered, attempt: attempt)))
        }
        await engine.close()
    }

    @Test("that is no database, or cannot be created, is refused with an explanation")
    func unusable() async throws {
        try Data("this is no database, however long one looks at it ".utf8).write(to: URL(filePath: folder.database))
        await #expect(throws: SQLiteEngineFailure.self) { _ = try await SQLiteEngine(settings) }
        let nowhere = SQLiteEngineSettings(path: "/nowhere/parley.db", clock: clock)
        do {
            _ = try await SQLiteEngine(nowhere)
            Issue.record("opened nowhere")
        } catch {
            #expect(error.reason == .unusable && error.description.contains("/nowhere/parley.db"))
        }
    }

    @Test("leaves no write-ahead log behind when closed")
    func closed() async throws {
        let engine = try await SQLiteEngine(settings)
        _ = try await engine.log.append([draft("x")], claim: nil)
        await engine.close()
        #expect(!FileManager.default.fileExists(atPath: folder.database + "-wal"))
    }

    @Test("copied at any moment under load holds every acknowledged event once, and nothing else")
    func crash() async throws {
        let engine = try await SQLiteEngine(settings)
        let acknowledged = Lock<[(String, Timetoken)]>([])
        let writers = Task {
            await withTaskGroup(of: Void.self) { group in
                for task in 0..<16 {
                    group.addTask {
                        var number = 0
                        while !Task.isCancelled {
                            var draft = draft("\(task).\(number)", bytes: 200)
                            draft.deduplicationKey = "\(task).\(number)"
                            number += 1
                            // Refused only when the store is closed, after the last copy.
                            guard let event = try? await engine.log.append([draft], claim: nil).events.first else {
                                return
                            }
                            acknowledged.withLock { $0.append((event.event.data.description, event.event.timetoken)) }
                        }
                    }
                }
            }
        }
        // The log is copied before the database file is opened again. No checkpoint happens this early, so the pair of
        // copies is what a power failure would leave.
        var audited = 0
        for round in 1...5 {
            await waitUntil { acknowledged.withLock { $0.count } >= round * 400 }
            let before = acknowledged.withLock { $0 }
            let copy = folder.path + "/copy\(round).db"
            try FileManager.default.copyItem(atPath: folder.database + "-wal", toPath: copy + "-wal")
            try FileManager.default.copyItem(atPath: folder.database, toPath: copy)
            let revived = try await SQLiteEngine(SQLiteEngineSettings(path: copy, clock: clock))
            let found = try await history(revived)
            #expect(zip(found, found.dropFirst()).allSatisfy { $0.timetoken < $1.timetoken })
            let byText = Dictionary(found.map { ($0.data.description, $0.timetoken) }) { first, _ in first }
            #expect(byText.count == found.count, "no event twice")
            for (text, timetoken) in before { #expect(byText[text] == timetoken) }
            let next = try await revived.log.append([draft("next")], claim: nil).events[0].event
            #expect(next.timetoken > found.last!.timetoken)
            var repeated = draft("other text")
            repeated.deduplicationKey = try #require(before.first).0.trimmingPrefix("\"").prefix { $0 != "x" }
                .description
            #expect(try await revived.log.append([repeated], claim: nil).events[0].isDuplicate)
            await revived.close()
            audited += found.count
        }
        writers.cancel()
        await writers.value
        await engine.close()
        #expect(audited >= 400 + 800 + 1200 + 1600 + 2000)
    }

    @Test("on a full disk refuses writes, stays readable, and stores again once there is space")
    func full() async throws {
        var settings = settings
        settings.pageLimit = 200
        let engine = try await SQLiteEngine(settings)
        var stored = 0
        var refusal: ChatError?
        while refusal == nil, stored < 1000 {
            do throws(ChatError) {
                _ = try await engine.log.append([draft("\(stored)", bytes: 10_000)], claim: nil)
                stored += 1
            } catch {
                refusal = error
            }
        }
        #expect(refusal?.code == .storageFull)
        #expect(refusal?.message.contains("SQL") == false && refusal?.message.contains(folder.path) == false)
        #expect(try await history(engine).count == stored)
        guard case .unavailable = await engine.health() else {
            Issue.record("a full store is not ready")
            return
        }
        let removed = try await engine.log.delete(after: .zero, before: .distantFuture, in: room)
        #expect(removed == stored, "making room needs none")
        _ = try await engine.log.append([draft("fits")], claim: nil)
        #expect(await engine.health() == .ready)
        await engine.close()
    }

    @Test("locked by another process past the deadline refuses writes, and works again afterwards")
    func deadline() async throws {
        let engine = try await SQLiteEngine(settings)
        let intruder = try Database(path: folder.database, mode: .readWrite)
        try intruder.execute("BEGIN IMMEDIATE")
        let refusals = Lock<[ChatError.Code?]>([])
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                let code = await code { () throws(ChatError) in
                    _ = try await engine.log.append([draft("late")], claim: nil)
                }
                refusals.withLock { $0.append(code) }
            }
            group.addTask {
                let change = RecordChange(RecordKey(.user, "u", in: room.app), body: .null)
                let code = await code { () throws(ChatError) in _ = try await engine.directory.write([change]) }
                refusals.withLock { $0.append(code) }
            }
            // Both wait, one of them possibly inside a batch, until their deadline.
            await waitUntil {
                clock.advance(by: .seconds(6))
                return refusals.withLock { $0.count } == 2
            }
        }
        #expect(refusals.withLock { $0 } == [.unavailable, .unavailable])
        try intruder.execute("COMMIT")
        _ = try await engine.log.append([draft("in time")], claim: nil)
        #expect(try await history(engine).map(\.data.description) == ["\"in time\""])
        #expect(try await engine.directory.read(RecordKey(.user, "u", in: room.app)) == nil)
        await engine.close()
    }

    @Test("shrinks by retention: hidden events are removed in steps, and readers still get the gap")
    func removal() async throws {
        let engine = try await SQLiteEngine(settings)
        let other = ChannelID("room", in: AppID("other"))
        var last = Timetoken.zero
        for _ in 0..<10 {
            var drafts = (0..<500).map { draft("\($0)") }
            drafts[0] = EventDraft(channel: other, type: "t", data: .null)
            drafts[1].expires = clock.now.adding(.seconds(60))
            drafts[2].deduplicationKey = "k\(last)"
            last = try await engine.log.append(drafts, claim: nil).events.last!.event.timetoken
        }
        try await engine.log.setRetention(.seconds(3600), of: room.app)
        clock.advance(by: .seconds(25 * 3600))
        try await engine.removeOutlived()
        let rows = try Database(path: folder.database, mode: .readOnly)
        #expect(try rows.integer("SELECT count(*) FROM event") == 10, "the other app keeps its events for ever")
        #expect(try rows.integer("SELECT count(*) FROM seen") == 0)
        func loss(_ engine: SQLiteEngine, _ app: AppID) async throws -> Loss? {
            try await engine.log.loss(in: ChannelSet(app: app, isAll: true), types: [.all], after: 1)
        }
        #expect(try await loss(engine, room.app) == Loss(upTo: last, cause: .retention))
        #expect(try await loss(engine, other.app) == nil)
        await engine.close()
        let again = try await SQLiteEngine(settings)
        #expect(try await loss(again, room.app) == Loss(upTo: last, cause: .retention))
        await again.close()
    }

    @Test("makes unpulled items dead after 30 days, except those that were replayed, and continues behind them")
    func abandonedSubscription() async throws {
        let engine = try await SQLiteEngine(SQLiteEngineSettings(path: folder.database, clock: clock))
        let queue = engine.deliveries
        let subscriber = SubscriberID("sub", in: room.app)
        var settings = LaneSettings(concurrency: 9)
        (settings.isPulled, settings.ordering) = (true, .strict)
        try await queue.set(settings, of: subscriber)
        let start = clock.now
        func item(_ number: UInt64) -> PlannedDelivery {
            PlannedDelivery(
                id: "dlv_\(number)", subscriber: subscriber, event: Timetoken(start.rawValue + number), type: "t",
                channel: "room")
        }
        try await queue.plan((1...3).map(item), cursor: CursorName("c"), from: .zero, to: start)
        clock.advance(by: .seconds(30 * 24 * 3600 + 1))
        #expect(try await queue.enqueue([item(4)]).due == 1)
        try await engine.removeOutlived()
        let all = try await queue.list(DeliveryQuery(app: room.app, limit: 9)).items
        #expect(all.map(\.status) == [.pending, .dead, .dead, .dead])
        #expect(all.dropFirst().allSatisfy { $0.reason == .heldTooLong })
        let leases = try await queue.lease(from: subscriber, limit: 9, lasting: .seconds(10), wait: .zero)
        #expect(leases.map(\.delivery.id) == ["dlv_4"])
        await engine.close()
    }

    @Test("removes finished deliveries and removed records after 30 days, and makes held items dead")
    func oldDeliveries() async throws {
        var limits = Limits()
        limits.deliveriesHeld = 1
        let engine = try await SQLiteEngine(
            SQLiteEngineSettings(path: folder.database, limits: limits, clock: clock))
        let subscribers = ["done", "held"].map { SubscriberID($0, in: room.app) }
        let event = clock.now
        try await engine.deliveries.plan(
            subscribers.map {
                PlannedDelivery(id: "dlv_\($0)", subscriber: $0, event: event, type: "t", channel: "room")
            }, cursor: CursorName("c"), from: .zero, to: event)
        for lease in try await engine.deliveries.lease(2, wait: .zero) where lease.delivery.subscriber == subscribers[0]
        {
            let attempt = DeliveryAttempt(at: clock.now, status: 200, error: nil, durationMilliseconds: 1)
            #expect(try await engine.deliveries.finish(lease, DeliveryOutcome(.delivered, attempt: attempt)))
        }
        try await engine.deliveries.set(.paused, of: subscribers[1], concurrency: 1)
        let key = RecordKey(.user, "u", in: room.app)
        _ = try await engine.directory.write([RecordChange(key, body: .null)])
        _ = try await engine.directory.write([RecordChange(key, body: nil)])
        let rows = try Database(path: folder.database, mode: .readOnly)
        #expect(try rows.integer("SELECT count(*) FROM attempt_log") == 1)
        clock.advance(by: .seconds(30 * 24 * 3600 + 1))
        #expect(
            try await engine.deliveries.lease(1, wait: .zero).isEmpty, "the lease is over, its subscriber is disabled")
        try await engine.removeOutlived()
        let left = try await engine.deliveries.list(DeliveryQuery(app: room.app, limit: 9)).items
        #expect(left.map(\.id) == ["dlv_held"])
        #expect(left.first?.status == .dead && left.first?.reason == .heldTooLong)
        let next = clock.now
        try await engine.deliveries.plan(
            [PlannedDelivery(id: "dlv_next", subscriber: subscribers[1], event: next, type: "t", channel: "room")],
            cursor: CursorName("c"), from: event, to: next)
        let held = try await engine.deliveries.delivery("dlv_next", in: room.app)?.0.status
        #expect(held == .held, "there is room again")
        #expect(try rows.integer("SELECT (SELECT count(*) FROM removed) + (SELECT count(*) FROM attempt_log)") == 0)
        await engine.close()
    }

    @Test("reads by its indexes: a page does not scan other channels' events")
    func plans() async throws {
        let engine = try await SQLiteEngine(settings)
        await engine.close()
        let database = try Database(path: folder.database, mode: .readOnly)
        var members = RecordQuery(.membership, in: room.app, limit: 5)
        members.parent = "p"
        var rest = members
        rest.cursor = ListCursor.text([.text("ana/p")])
        var changed = RecordQuery(.membership, in: room.app, limit: 5)
        changed.sort = [(.updated, true)]
        changed.cursor = ListCursor.text([.integer(5), .text("ana/p")])
        for (sql, index) in [
            (try RecordListing(members).rows.text, "record_parent (app=? AND kind=? AND parent=?)"),
            (try RecordListing(members).total.text, "record_parent (app=? AND kind=? AND parent=?)"),
            (try RecordListing(rest).rows.text, "record_parent (app=? AND kind=? AND parent=? AND id>?)"),
            (try RecordListing(changed).rows.text, "record_updated (app=? AND kind=? AND updated>?)"),
            (
                "SELECT body FROM event INDEXED BY event_ch WHERE ch=1 AND tt > 2 AND tt < 9 ORDER BY tt DESC",
                "ch=? AND tt>? AND tt<?"
            ),
            (
                "SELECT count(*) FROM event INDEXED BY event_ch WHERE ch=1 AND tt > 2 AND tt < 9 AND (1 << kind) & 17",
                "COVERING INDEX event_ch (ch=? AND tt>? AND tt<?)"
            ),
            (
                "SELECT tt FROM event INDEXED BY event_expires WHERE expires IS NOT NULL AND expires <= 5",
                "expires>? AND expires<?"
            ),
            ("SELECT tt FROM delivery INDEXED BY delivery_due WHERE state=0 AND ep=1 ORDER BY due, tt LIMIT 5", "ep=?"),
            (
                "SELECT tt FROM delivery INDEXED BY delivery_state WHERE ep=1 AND state=2 AND tt > 3 AND tt < 9 ORDER BY tt DESC",
                "ep=? AND state=? AND tt>? AND tt<?"
            ),
            (
                "SELECT tt, due FROM delivery INDEXED BY delivery_chain WHERE ep=1 AND chain=5 ORDER BY tt LIMIT 2",
                "ep=? AND chain=?"
            ),
        ] {
            var plan: [String] = []
            try database.prepare("EXPLAIN QUERY PLAN " + sql).forEachRow { row in
                plan.append(row.text(3))
                return true
            }
            #expect(plan.joined(separator: "; ").contains(index))
            #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "nothing is sorted that lies in order")
        }
    }
}

/// The code of the call's error; nil if it succeeded.
private func code(_ body: () async throws(ChatError) -> Void) async -> ChatError.Code? {
    do throws(ChatError) {
        try await body()
        return nil
    } catch {
        return error.code
    }
}
