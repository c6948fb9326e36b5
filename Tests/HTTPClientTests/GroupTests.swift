import HTTPClient
import Locking
import TestSupport
import Testing

@Suite("Requests sent as a group") struct GroupTests {
    /// The received results, in order of arrival.
    private final class Inbox: Sendable {
        private let results = Observed<[(index: Int, result: OutboundResult)]>()

        func receive(_ index: Int, _ result: OutboundResult) { results.append((index, result)) }

        /// The failure reasons or statuses by index, once `count` have arrived.
        func outcomes(_ count: Int) async -> [Int: String] {
            let results = await results.wait(count: count)
            return Dictionary(
                results.map { ($0.index, $0.result.failure?.reason.rawValue ?? "\($0.result.status ?? 0)") },
                uniquingKeysWith: { "\($0) and \($1)" })
        }
    }

    @Test("are answered once each, those that cannot be sent among them")
    func answered() async throws {
        let server = try ScriptedServer(answering: { _ in ok })
        try await withClient { client in
            let inbox = Inbox()
            var requests = (0..<50).map { OutboundRequest(url: server.url("/\($0)")) }
            requests[7].method = "NO METHOD"
            client.group().send(requests) { inbox.receive($0, $1) }
            let outcomes = await inbox.outcomes(50)
            #expect(outcomes.count == 50)
            for (index, outcome) in outcomes {
                #expect(outcome == (index == 7 ? OutboundFailure.Reason.requestInvalid.rawValue : "200"))
            }
            client.group().send([]) { inbox.receive($0, $1) }
        }
    }

    @Test("wait for each other's responses, and not when none will arrive")
    func linger() async throws {
        let waiting = Observed(0)
        let server = try ScriptedServer.perConnection { peer in
            while let request = peer.readRequest() {
                if request.line.contains("/quick") {
                    peer.write(ok)
                } else {
                    waiting.increment()
                    peer.waitForEnd()
                }
            }
        }
        try await withClient { client in
            let (group, inbox) = (client.group(linger: .seconds(3600)), Inbox())
            group.send([OutboundRequest(url: server.url("/quick"))]) { inbox.receive($0, $1) }
            #expect(await inbox.outcomes(1) == [0: "200"])
            // One request never ends. The results of the others wait until there are enough of them.
            let requests = ["/silent"] + Array(repeating: "/quick", count: 64)
            group.send(requests.map { OutboundRequest(url: server.url($0)) }) { inbox.receive($0 + 1, $1) }
            await waiting.wait { $0 >= 1 }
            #expect(await inbox.outcomes(65).count == 65)
            group.cancel()
            #expect(await inbox.outcomes(66)[1] == "cancelled")
        }
    }

    @Test("are announced once for all results that are delivered together, failures included")
    func announced() async throws {
        let server = try ScriptedServer(answering: { _ in ok })
        try await withClient { client in
            let inbox = Inbox()
            let counts = Lock<(received: Int, announced: [Int])>((0, []))
            let announced = Observed(0)
            let group = client.group(linger: .seconds(3600)) {
                counts.withLock { $0.announced.append($0.received) }
                announced.increment()
            }
            @Sendable func receive(_ index: Int, _ result: OutboundResult) {
                counts.withLock { $0.received += 1 }
                inbox.receive(index, result)
            }
            group.send((0..<20).map { OutboundRequest(url: server.url("/\($0)")) }) { receive($0, $1) }
            await announced.wait { $0 >= 1 }
            #expect(counts.withLock { $0.announced } == [20])
            group.send([OutboundRequest(method: "NO METHOD", url: server.url("/"))]) { receive($0, $1) }
            await announced.wait { $0 >= 2 }
            #expect(counts.withLock { $0.announced } == [20, 21])
        }
    }

    @Test("end together, in flight and waiting, and nothing is sent afterwards; other requests continue")
    func cancelled() async throws {
        let started = Observed(0)
        let server = try ScriptedServer.perConnection { peer in
            while let request = peer.readRequest() {
                if request.line.contains("/quick") {
                    peer.write(ok)
                } else {
                    started.increment()
                    peer.waitForEnd()
                }
            }
        }
        try await withClient(testOptions { $0.maxConnections = 4 }) { client in
            let (group, inbox) = (client.group(), Inbox())
            let requests = (0..<10).map { _ in OutboundRequest(url: server.url("/slow")) }
            group.send(requests) { inbox.receive($0, $1) }
            await started.wait { $0 >= 4 }
            async let other = client.send(OutboundRequest(url: server.url("/quick")))
            group.cancel()
            let outcomes = await inbox.outcomes(10)
            #expect(outcomes.count == 10 && outcomes.values.allSatisfy { $0 == "cancelled" })
            #expect(await other.status == 200)
            group.send([OutboundRequest(url: server.url("/quick"))]) { inbox.receive($0 + 10, $1) }
            #expect(await inbox.outcomes(11)[10] == "cancelled")
            #expect(server.connectionCount <= 5)
        }
    }

    @Test("end with the client")
    func shutDown() async throws {
        let server = try ScriptedServer.perConnection { $0.waitForEnd() }
        let client = try Client(options: testOptions())
        let inbox = Inbox()
        let group = client.group()
        group.send([OutboundRequest(url: server.url())]) { inbox.receive($0, $1) }
        await client.shutdown()
        group.send([OutboundRequest(url: server.url())]) { inbox.receive($0 + 1, $1) }
        #expect(await inbox.outcomes(2) == [0: "cancelled", 1: "cancelled"])
    }
}
