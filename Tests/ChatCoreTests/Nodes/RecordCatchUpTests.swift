import ChatModel
import Locking
import TestSupport
import Testing

@testable import ChatCore

/// A directory whose revision is not returned before a signal.
private struct HangingDirectory: Directory {
    let gate = AsyncSignal()

    func read(_ keys: [RecordKey]) async throws(ChatError) -> [Record?] { [] }
    func write(_ changes: [RecordChange], events: [EventDraft]) async throws(ChatError) -> [Record] { [] }
    func decide<Value: Sendable>(
        _ keys: [RecordKey], _ decide: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) async throws(ChatError) -> Decided<Value> { throw .unscripted }
    func list(_ query: RecordQuery) async throws(ChatError) -> Page<Record> { Page(items: []) }
    func changes(after revision: Revision) async -> RecordChangeSequence { RecordChangeSequence { nil } }
    func revision() async throws(ChatError) -> Revision {
        await gate.wait()
        return 1
    }
    func observe(_ body: @escaping @Sendable (RecordChanges) -> Void) {}
}

@Suite("The catch-up before a refusal", .timeLimit(.minutes(1))) struct RecordCatchUpTests {
    @Test("ends after its time limit with 503, though the store does not respond")
    func bounded() async throws {
        let directory = HangingDirectory()
        let catchUp = RecordCatchUp(directory: directory, mirrors: [], waitClock: ImpatientClock())
        for _ in 0..<2 {
            let error = await #expect(throws: ChatError.self) { try await catchUp.run() }
            #expect(error?.code == .unavailable && error?.retryAfter != nil)
        }
        // For the read that waits, and for the one behind it.
        directory.gate.send()
        directory.gate.send()
    }
}
