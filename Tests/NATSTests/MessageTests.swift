import NATS
import NATSSupport
import TestSupport
import Testing

@Suite("Messages over NATS", .enabled(if: NATSServer.isInstalled, NATSServer.installation))
struct MessageTests {
    @Test("arrive in the order in which they were published")
    func order() async throws {
        let server = try await NATSServer()
        let connection = try await Connection.open(Events().settings(server.url))
        let messages = Observed([[UInt8]]())
        _ = try await connection.collect("hints.*", into: messages)
        let sent = (0..<5000).map { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        for payload in sent { try connection.publish(payload, to: "hints.a") }
        #expect(await messages.wait(count: sent.count) == sent)
        await connection.close()
    }

    @Test("arrive at another connection once the flush of its subscription has returned")
    func twoConnections() async throws {
        let server = try await NATSServer()
        let receiver = try await Connection.open(Events().settings(server.url))
        let sender = try await Connection.open(Events().settings(server.url))
        for round in 0..<20 {
            let messages = Observed([[UInt8]]())
            let subscription = try await receiver.collect("round.\(round)", into: messages)
            try sender.publish([UInt8(round)], to: "round.\(round)")
            #expect(await messages.wait(count: 1) == [[UInt8(round)]])
            await subscription.end()
        }
        await receiver.close()
        await sender.close()
    }

    @Test("may be empty or have 1 MiB, and are refused above that")
    func sizes() async throws {
        let server = try await NATSServer()
        let connection = try await Connection.open(Events().settings(server.url))
        let messages = Observed([[UInt8]]())
        _ = try await connection.collect("big", into: messages)
        let largest = [UInt8](repeating: 7, count: 1 << 20)
        try connection.publish([], to: "big")
        try connection.publish(largest, to: "big")
        #expect(await messages.wait(count: 2) == [[], largest])
        let refused = await failure { try connection.publish(largest + [7], to: "big") }
        #expect(refused?.kind == .payloadTooLarge)
        #expect(
            refused?.message == "the payload has 1048577 bytes; the NATS server accepts at most 1048576")
        await connection.close()
    }

    @Test(
        "need a valid subject",
        arguments: ["", ".", "a..b", "a b", "a\r\nPUB b 0\r\n", "*", "a.>", String(repeating: "a", count: 1025)])
    func subjects(subject: String) async throws {
        let server = try await NATSServer()
        let connection = try await Connection.open(Events().settings(server.url))
        #expect(await failure { try connection.publish([], to: subject) }?.kind == .invalid)
        await connection.close()
    }

    @Test("are refused when they do not fit into the buffer")
    func buffer() async throws {
        let server = try await NATSServer()
        var settings = Events().settings(server.url)
        settings.bufferedBytes = 100
        let connection = try await Connection.open(settings)
        try connection.publish([UInt8](repeating: 0, count: 99), to: "a")
        #expect(
            await failure { try connection.publish([UInt8](repeating: 0, count: 100), to: "a") }?.kind == .bufferFull)
        await connection.close()
    }

    @Test("that were dropped because their receiver is slow cause an event, also after the first one")
    func slowConsumer() async throws {
        let server = try await NATSServer()
        let events = Events()
        let connection = try await Connection.open(events.settings(server.url))
        let latch = Latch()
        let messages = Observed([[UInt8]]())
        _ = try connection.subscribe("slow", pendingBytes: 1000) { payload in
            messages.append(payload)
            latch.passBlocking()
        }
        try await connection.flush()
        func publish(_ number: UInt8) async throws {
            try connection.publish([number] + [UInt8](repeating: 0, count: 599), to: "slow")
            try await connection.flush()
        }
        try await publish(1)
        await messages.wait(count: 1)
        // The second message waits, and the others do not fit.
        for number: UInt8 in 2...4 { try await publish(number) }
        await events.seen.wait(count: 1)
        latch.open()
        await messages.wait(count: 2)
        #expect(await events.seen.wait(count: 2) == [.slowConsumer, .slowConsumer])
        #expect(messages.value.map(\.first) == [1, 2])
        await connection.close()
    }

    @Test("do not arrive after the end of the subscription or of the connection")
    func endDuringTraffic() async throws {
        let server = try await NATSServer()
        let sender = try await Connection.open(Events().settings(server.url))
        let isOver = Observed(false)
        let traffic = Task {
            var count = 0
            while !isOver.value {
                // A full buffer is no reason to stop.
                try? sender.publish([1], to: "traffic")
                count += 1
                if count % 100 == 0 { try await sender.flush() }
            }
        }
        for round in 0..<10 {
            let receiver = try await Connection.open(Events().settings(server.url))
            let isEnded = Observed(false)
            let received = Observed(0)
            let subscription = try receiver.subscribe("traffic", pendingBytes: 1 << 20) { _ in
                #expect(!isEnded.value)
                received.increment()
            }
            await received.wait { $0 >= 100 }
            if round % 2 == 0 { await subscription.end() } else { await receiver.close() }
            isEnded.update { $0 = true }
            await receiver.close()
        }
        isOver.update { $0 = true }
        try await traffic.value
        await sender.close()
    }

    @Test("may arrive while their subscriptions end, one after the other")
    func manyEnds() async throws {
        let server = try await NATSServer()
        let sender = try await Connection.open(Events().settings(server.url))
        let receiver = try await Connection.open(Events().settings(server.url))
        let isOver = Observed(false)
        let traffic = Task {
            while !isOver.value {
                for _ in 0..<200 { try? sender.publish([1], to: "traffic") }
                try await sender.flush()
            }
        }
        for _ in 0..<300 {
            let received = Observed(0)
            let subscription = try receiver.subscribe("traffic", pendingBytes: 1 << 20) { _ in received.increment() }
            await received.wait { $0 >= 1 }
            await subscription.end()
        }
        isOver.update { $0 = true }
        try await traffic.value
        try await receiver.flush()
        await receiver.close()
        await sender.close()
    }

    @Test("that are in the buffer are sent before the connection closes")
    func lastMessages() async throws {
        let server = try await NATSServer()
        let receiver = try await Connection.open(Events().settings(server.url))
        let messages = Observed([[UInt8]]())
        _ = try await receiver.collect("last", into: messages)
        let sender = try await Connection.open(Events().settings(server.url))
        for number: UInt8 in 0..<200 { try sender.publish([number], to: "last") }
        await sender.close()
        #expect(await messages.wait(count: 200) == (0..<200).map { [$0] })
        #expect(await failure { try sender.publish([], to: "last") }?.kind == .closed)
        #expect(await failure { try await sender.flush() }?.kind == .closed)
        #expect(await failure { try sender.subscribe("last", pendingBytes: 1) { _ in } }?.kind == .closed)
        await receiver.close()
    }

    @Test("release the closures of a connection that is closed, and of one that is dropped", arguments: [true, false])
    func closures(isClosed: Bool) async throws {
        final class Held: Sendable {
            let isReleased: Observed<Bool>
            init(_ isReleased: Observed<Bool>) { self.isReleased = isReleased }
            deinit { isReleased.update { $0 = true } }
        }
        let server = try await NATSServer()
        let isReleased = Observed(false)
        do {
            let held = Held(isReleased)
            var settings = Events().settings(server.url)
            settings.onEvent = { _ in _ = held }
            let connection = try await Connection.open(settings)
            _ = try connection.subscribe("a", pendingBytes: 1000) { _ in _ = held }
            if isClosed { await connection.close() }
        }
        await isReleased.wait { $0 }
    }
}
