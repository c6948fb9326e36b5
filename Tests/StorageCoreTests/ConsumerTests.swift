import ChatModel
import Locking
import StorageCore
import TestSupport
import Testing

@Suite("A consumer of commits", .timeLimit(.minutes(1))) struct CommitReaderTests {
    @Test("reads what memory no longer has from the store, and repeats a failed read")
    func refill() async {
        let tail = Tail(capacity: 1, start: 10)
        let reads = Lock<[ClosedRange<UInt64>]>([])
        let reader = CommitReader(tail: tail) { (position, end, _) throws(ChatError) in
            let count = reads.withLock { reads in
                reads.append(position.rawValue...end.rawValue)
                return reads.count
            }
            if count == 1 { throw .storeUnavailable }
            return Page(items: [event(11), event(12), event(13)], position: end)
        }
        tail.publish([event(11), event(12), event(13)])
        let commit = await reader.next()
        #expect(commit?.events.map(\.timetoken) == [11, 12, 13])
        #expect(commit?.watermark == 13)
        #expect(reads.withLock { $0 } == [10...13, 10...13])

        tail.publish([event(14)])
        #expect(await reader.next()?.events.map(\.timetoken) == [14])
        tail.close()
        #expect(await reader.next() == nil)
    }

    @Test("receives small commits together, and each event once")
    func joined() async {
        let tail = Tail(capacity: 1024 * 1024, start: 10)
        let reader = CommitReader(tail: tail) { (_, end, _) in
            Page(items: [], position: end)
        }
        tail.publish((11...300).map { event($0) })
        tail.close()
        var timetokens: [Timetoken] = []
        var count = 0
        while let commit = await reader.next() {
            timetokens += commit.events.map(\.timetoken)
            count += 1
            #expect(commit.watermark == timetokens.last)
        }
        #expect(timetokens == (11...300).map { Timetoken($0) })
        #expect(count == 5)
    }
}

@Suite("A consumer that does not wait") struct CommitCallbackTests {
    @Test("reads commits from memory, and is called once for those that follow")
    func callback() {
        let tail = Tail(capacity: 1024 * 1024, start: 10)
        let reader = CommitReader(tail: tail) { (_, end, _) in Page(items: [], position: end) }
        let calls = Lock(0)
        let count: @Sendable () -> Void = { calls.withLock { $0 += 1 } }
        #expect(reader.nextInMemory() == nil)
        #expect(reader.notify(count))
        tail.publish([event(11)])
        tail.publish([event(12)])
        #expect(calls.withLock { $0 } == 1)
        #expect(!reader.notify(count))
        #expect(reader.nextInMemory()?.events.map(\.timetoken) == [11, 12])
        #expect(reader.notify(count))
        tail.close()
        #expect(calls.withLock { $0 } == 2)
        #expect(!reader.notify(count))
        #expect(reader.nextInMemory() == nil)
    }

    @Test("finds nothing if the commits are no longer in memory, and is not called for them")
    func behind() async {
        let tail = Tail(capacity: 1, start: 10)
        let reader = CommitReader(tail: tail) { (_, end, _) in Page(items: [event(11)], position: end) }
        tail.publish([event(11)])
        tail.publish([event(12)])
        #expect(reader.nextInMemory() == nil)
        #expect(!reader.notify {})
        #expect(await reader.next()?.watermark == 12)
        #expect(reader.notify {})
    }
}

@Suite("The log in memory") struct AppsInMemoryTests {
    private static let apps = [AppID("a"), AppID("b"), AppID("a name that is too long to be stored in two words")]

    @Test("knows the newest position of each app, when apps take turns")
    func positions() {
        var positions = AppPositions(start: 10)
        #expect(positions.position(of: Self.apps[0]) == 10)
        positions.record([event(11, of: Self.apps[0]), event(12, of: Self.apps[1]), event(13, of: Self.apps[0])])
        positions.record([event(14, of: Self.apps[0])])
        #expect(Self.apps.map { positions.position(of: $0) } == [14, 12, 10])
        positions.record([event(15, of: Self.apps[2]), event(16, of: Self.apps[1])])
        positions.record([])
        #expect(Self.apps.map { positions.position(of: $0) } == [14, 16, 15])
    }

    @Test("returns the ephemeral events of each app, when apps take turns and old events are dropped")
    func passing() {
        var passing = PassingEvents(limits: Limits())
        let first = UInt64(Limits().passingAge.timetokenTicks)
        func add(_ timetoken: UInt64, _ app: Int) {
            passing.add([event(timetoken, of: Self.apps[app], retention: .passing)], now: Timetoken(timetoken))
        }
        for step in 0..<9 { add(first + UInt64(step), step % 3) }
        add(first * 3, 1)
        passing.sweep(now: Timetoken(first * 3))
        add(first * 3 + 1, 0)
        add(first * 3 + 2, 1)
        let found = Self.apps.map { app in
            passing.events(in: app, after: .zero, upTo: .distantFuture).map(\.timetoken.rawValue)
        }
        #expect(found == [[first * 3 + 1], [first * 3, first * 3 + 2], []])
        let all = passing.events(after: .zero, upTo: .distantFuture).map(\.timetoken.rawValue)
        #expect(all.sorted() == [first * 3, first * 3 + 1, first * 3 + 2])
    }

    @Test("moves drafts into events with successive timetokens")
    func takenDrafts() {
        var drafts = (0..<3).map { event(1, in: "room\($0)").draft }
        let events = drafts.takeEvents(from: 20)
        #expect(drafts.isEmpty)
        #expect(events.map(\.timetoken) == [20, 21, 22])
        #expect(events.map(\.channel.name) == ["room0", "room1", "room2"])
    }
}

@Suite("The consumers of record changes", .timeLimit(.minutes(1))) struct ChangeConsumerTests {
    private func change(_ revision: Revision) -> RecordChanges {
        RecordChanges(keys: [RecordKey(.user, "u\(revision)", in: AppID("app"))], revision: revision)
    }

    @Test("are called before readers can see the change, if they are observers")
    func observers() {
        let changes = RecordChangeBuffer(start: 3)
        let seen = Lock<[Revision]>([])
        changes.observe { [unowned changes] change in
            seen.withLock { $0 += [changes.end, change.revision] }
        }
        changes.publish(change(4))
        #expect(seen.withLock { $0 } == [3, 4])
        #expect(changes.end == 4)
    }

    @Test("read what memory no longer has from the store, and learn the end if nothing is left there")
    func refill() async {
        let changes = RecordChangeBuffer(capacity: 1, start: 3)
        let stored = Lock<[RecordChanges]>([change(4)])
        let reader = ChangeReader(changes: changes, after: 3) { revision in
            stored.withLock { stored in stored.first { $0.revision > revision } }
        }
        for revision: Revision in 4...6 { changes.publish(change(revision)) }
        #expect(await reader.next()?.revision == 4)
        // The store has nothing after revision 4, and the buffer ends at revision 6.
        let end = await reader.next()
        #expect(end?.revision == 6)
        #expect(end?.keys.isEmpty == true)
        changes.close()
        #expect(await reader.next() == nil)
    }
}
