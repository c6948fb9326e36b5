import ChatCore
import ChatModel
import TestSupport
import Testing

@Suite("An outbox") struct OutboxTests {
    @Test("returns all waiting items in one batch, then waits for more")
    func batches() async {
        let outbox = Outbox(capacity: 10)
        outbox.receive([event(1), event(2)])
        outbox.receive([event(3)])
        #expect(await outbox.batch()?.map(\.timetoken) == [1, 2, 3])
        async let next = outbox.batch()
        outbox.receive([event(4)])
        #expect(await next?.map(\.timetoken) == [4])
    }

    @Test("ends after the waiting items when it is closed")
    func close() async {
        let outbox = Outbox(capacity: 10)
        outbox.receive([event(1)])
        outbox.close()
        outbox.receive([event(2)])
        #expect(await outbox.batch()?.map(\.timetoken) == [1])
        #expect(await outbox.batch() == nil)
        #expect(!outbox.hasOverflown)
    }

    @Test("accepts no more than its capacity, and never a part of a turn")
    func overflow() async {
        let outbox = Outbox(capacity: 3)
        outbox.receive([event(1), event(2)])
        outbox.receive([event(3), event(4)])
        outbox.receive([event(5)])
        #expect(outbox.hasOverflown)
        #expect(await outbox.batch()?.map(\.timetoken) == [1, 2])
        #expect(await outbox.batch() == nil)
    }

    @Test("releases its reader when the task is cancelled, even before it waits")
    func cancellation() async {
        let outbox = Outbox(capacity: 3)
        let reader = Task { await outbox.batch() }
        reader.cancel()
        #expect(await reader.value == nil)
        #expect(await outbox.batch() == nil)
    }

    @Test("wakes a waiting reader when it overflows at once")
    func overflowWhileWaiting() async {
        let outbox = Outbox(capacity: 1)
        async let batch = outbox.batch()
        outbox.receive([event(1), event(2)])
        #expect(await batch == nil)
        #expect(outbox.hasOverflown)
    }
}
