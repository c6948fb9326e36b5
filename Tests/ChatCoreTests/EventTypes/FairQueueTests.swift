import ChatModel
import JSON
import Locking
import TestSupport
import Testing

@testable import ChatCore

@Suite("A fair queue") struct FairQueueTests {
    private let queue = FairQueue()
    private let done = Observed<[String]>()

    @Test("serves apps in turn, each in the order of its requests")
    func turns() async throws {
        try await withThrowingTaskGroup { group in
            let door = try await occupy(&group)
            for (index, name) in ["a1", "a2", "a3", "b1", "b2", "c1"].enumerated() {
                group.addTask { try await work(name) }
                await waitUntil { queue.waitingCount > index }
            }
            door.open()
            try await group.waitForAll()
        }
        #expect(done.value == ["a1", "b1", "c1", "a2", "b2", "a3"])
        #expect(queue.waitingCount == 0)
        try await work("d1")
        #expect(done.value.last == "d1")
    }

    @Test("does not start work that was given up meanwhile")
    func abandoned() async throws {
        try await withThrowingTaskGroup { group in
            let door = try await occupy(&group)
            let waiting = Task { try await work("a1") }
            await waitUntil { queue.waitingCount > 0 }
            waiting.cancel()
            door.open()
            try await expect(.unavailable) { try await waiting.value }
            try await group.waitForAll()
        }
        #expect(done.value.isEmpty)
    }

    private func work(_ name: String) async throws {
        try await queue.run(for: AppID(String(name.prefix(1)))) { () async throws(ChatError) in done.append(name)
        }
    }

    /// Keeps the queue busy until the returned latch is opened.
    private func occupy(_ group: inout ThrowingTaskGroup<Void, any Error>) async throws -> Latch {
        let door = Latch()
        group.addTask { [queue] in
            try await queue.run(for: AppID("a")) { () async throws(ChatError) in await door.pass() }
        }
        await door.arrivals.wait { $0 == 1 }
        return door
    }
}
