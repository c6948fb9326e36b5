import ChatCore
import ChatModel
import JSON
import Locking
import TestSupport
import Testing

@Suite("A mirror of records", .timeLimit(.minutes(2))) struct RecordMirrorTests {
    private let directory = ScriptedDirectory()
    private let table = Table()
    private let mirror: RecordMirror

    init() { mirror = RecordMirror([.source], of: directory, pause: .milliseconds(1)) }

    /// Follows changes while `body` runs.
    private func following(
        isUnreadable: @escaping @Sendable (RecordKey, ChatError) -> Void = { _, _ in },
        _ body: () async throws -> Void
    ) async rethrows {
        let follower = Task { [mirror, table] in
            await mirror.follow(from: 0, table.apply, isUnreadable: isUnreadable)
        }
        try await body()
        directory.end()
        await follower.value
    }

    @Test("loads every record of a kind and app, page by page")
    func load() async throws {
        for name in ["a", "b", "c"] { directory.put(key(name), name) }
        directory.put(RecordKey(.source, "d", in: AppID("other")), "d")
        directory.put(RecordKey(.webhook, "e", in: demo), "e")
        try await mirror.load(.source, in: demo, table.apply)
        #expect(table.now == ["a": "a", "b": "b", "c": "c"])
    }

    @Test("follows changes of its kinds, and nothing else")
    func follow() async throws {
        await following {
            directory.change(key("a"), "1")
            directory.change(RecordKey(.webhook, "b", in: demo), "2")
            directory.change(key("a"), nil)
            directory.change(key("c"), "3")
            await table.turns.wait { $0.last == "c" }
        }
        #expect(table.now == ["c": "3"])
        #expect(!table.turns.value.contains("b"))
    }

    @Test("retries an unreadable record until it can be read, and logs it once")
    func unreadable() async throws {
        let complaints = Observed<[String]>()
        await following(isUnreadable: { key, _ in complaints.append(key.id) }) {
            directory.failReads(3)
            directory.change(key("a"), "1")
            await table.turns.wait(count: 1)
        }
        #expect(table.now == ["a": "1"])
        #expect(complaints.value == ["a"])
    }

    @Test("has applied a write when it returns, of its kinds only")
    func write() async throws {
        let changes = [
            RecordChange(key("a"), body: text("1")), RecordChange(RecordKey(.webhook, "b", in: demo), body: text("2")),
        ]
        let records = try await mirror.write(changes, table.apply)
        #expect(records.map(\.key.id) == ["a", "b"])
        #expect(table.now == ["a": "1"])
        _ = try await mirror.write([RecordChange(key("a"), body: nil)], table.apply)
        #expect(table.now.isEmpty)
    }

    @Test("never lets an overtaken write restore what a later one removed")
    func overtaken() async throws {
        directory.holdWrites(1)
        let first = Task { [mirror, table] in
            try await mirror.write([RecordChange(key("a"), body: text("1"))], table.apply)
        }
        await directory.held.wait(count: 1)
        // The first write is committed but has not been applied; the second finishes before it.
        _ = try await mirror.write([RecordChange(key("a"), body: nil)], table.apply)
        directory.letGo()
        _ = try await first.value
        #expect(table.now.isEmpty)
    }

    @Test("does not complete a write that was overtaken and cannot be read again")
    func overtakenAndUnreadable() async throws {
        directory.holdWrites(1)
        let first = Task { [mirror, table] in
            do throws(ChatError) {
                _ = try await mirror.write([RecordChange(key("a"), body: text("1"))], table.apply)
                return ChatError.Code?.none
            } catch {
                return error.code
            }
        }
        await directory.held.wait(count: 1)
        _ = try await mirror.write([RecordChange(key("b"), body: text("2"))], table.apply)
        directory.failReads(1)
        directory.letGo()
        #expect(await first.value == .outcomeUnknown)
    }

    @Test("is reached when the changes up to a revision are applied, and at once while nobody follows")
    func reach() async throws {
        await mirror.reach(7)
        await following {
            directory.change(RecordKey(.webhook, "b", in: demo), "1")
            directory.holdReads(1)
            directory.change(key("a"), "2")
            await directory.held.wait(count: 1)
            await mirror.reach(1)
            #expect(table.now.isEmpty)
            async let reached: Void = mirror.reach(2)
            directory.letGo()
            await reached
            #expect(table.now == ["a": "2"])
        }
    }

    @Test("reads again when a write happened between reading a record and applying it")
    func lateReading() async throws {
        directory.put(key("a"), "old")
        await following {
            directory.holdReads(1)
            directory.tell(key("a"))
            await directory.held.wait(count: 1)
            // The record that the follower has read is outdated by now.
            _ = try? await mirror.write([RecordChange(key("a"), body: text("new"))], table.apply)
            directory.letGo()
            await table.turns.wait(count: 2)
        }
        #expect(table.now == ["a": "new"])
    }
}

private func key(_ id: String) -> RecordKey { RecordKey(.source, id, in: demo) }

private func text(_ text: String) -> JSONText { JSONText(trusted: Array(text.utf8)) }

/// The records that a module mirrors.
private final class Table: Sendable {
    private let contents = Lock<[String: String]>([:])
    /// The ids that were applied, in order.
    let turns = Observed<[String]>()

    var now: [String: String] { contents.withLock { $0 } }

    @Sendable func apply(_ key: RecordKey, _ record: Record?) {
        contents.withLock { $0[key.id] = record?.body.description }
        turns.append(key.id)
    }
}

/// A directory whose answers arrive when the test says so.
private final class ScriptedDirectory: Directory {
    private enum Answer { case read, write }

    private struct State {
        var records: [RecordKey: Record] = [:]
        var revision: Revision = 0
        var readsToFail = 0
        /// The number of answers of each kind to hold back.
        var toHold: [Answer: Int] = [:]
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())
    private let told = AsyncStream.makeStream(of: RecordChanges.self)
    /// One entry for each answer that is held back.
    let held = Observed<[Bool]>()

    func put(_ key: RecordKey, _ body: String?) {
        state.withLock { state in
            state.revision += 1
            state.records[key] = body.map {
                Record(key: key, body: text($0), etag: "\(state.revision)", updated: Timetoken(state.revision))
            }
        }
    }

    func tell(_ key: RecordKey) {
        told.continuation.yield(RecordChanges(keys: [key], revision: state.withLock { $0.revision }))
    }

    func change(_ key: RecordKey, _ body: String?) {
        put(key, body)
        tell(key)
    }

    func end() { told.continuation.finish() }
    func failReads(_ count: Int) { state.withLock { $0.readsToFail = count } }
    func holdReads(_ count: Int) { state.withLock { $0.toHold[.read] = count } }
    func holdWrites(_ count: Int) { state.withLock { $0.toHold[.write] = count } }

    func letGo() {
        for continuation in state.withLock({ state in
            defer { state.waiting = [] }
            return state.waiting
        }) { continuation.resume() }
    }

    private func hold(_ answer: Answer) async {
        let isHeld = state.withLock { state in
            guard let left = state.toHold[answer], left > 0 else { return false }
            state.toHold[answer] = left - 1
            return true
        }
        guard isHeld else { return }
        await withCheckedContinuation { continuation in
            state.withLock { $0.waiting.append(continuation) }
            held.append(true)
        }
    }

    func read(_ keys: [RecordKey]) async throws(ChatError) -> [Record?] {
        let fails = state.withLock { state in
            state.readsToFail -= 1
            return state.readsToFail >= 0
        }
        if fails { throw .unscripted }
        let records = state.withLock { state in keys.map { state.records[$0] } }
        await hold(.read)
        return records
    }

    func write(_ changes: [RecordChange], events: [EventDraft]) async throws(ChatError) -> [Record] {
        var written: [Record] = []
        for change in changes {
            let old = state.withLock { $0.records[change.key] }
            put(change.key, change.body?.description)
            if let record = state.withLock({ $0.records[change.key] }) ?? old { written.append(record) }
        }
        await hold(.write)
        return written
    }

    /// Pages hold one record, so that there are several pages.
    func decide<Value: Sendable>(
        _ keys: [RecordKey], _ decide: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) async throws(ChatError) -> Decided<Value> {
        var records: [RecordKey: Record] = [:]
        for (key, record) in zip(keys, try await read(keys)) { records[key] = record }
        let decision = try decide(RecordSnapshot(now: .zero, next: .zero, etag: "", records: records))
        let written = try await write(decision.changes, events: decision.events)
        return Decided(value: decision.value, records: written, events: [], changes: decision.changes)
    }

    func list(_ query: RecordQuery) async throws(ChatError) -> Page<Record> {
        let ids = state.withLock { $0.records.keys.filter { $0.app == query.app && $0.kind == query.kind } }
            .map(\.id).sorted()
        let rest = ids.filter { $0 > query.cursor ?? "" }
        let items = rest.prefix(1).compactMap { id in
            state.withLock { $0.records[RecordKey(query.kind, id, in: query.app)] }
        }
        return Page(items: items, hasMore: rest.count > 1, cursor: rest.count > 1 ? rest[0] : nil)
    }

    func changes(after revision: Revision) async -> RecordChangeSequence {
        let stream = told.stream
        return RecordChangeSequence {
            for await changes in stream { return changes }
            return nil
        }
    }

    func revision() async throws(ChatError) -> Revision { state.withLock { $0.revision } }
    func observe(_ body: @escaping @Sendable (RecordChanges) -> Void) {}
}
