import HTTPClient
import Locking
import TestSupport
import Testing

@Suite("Requests sent as a group") struct GroupTests {
    /// The received results, in order of arrival.
    private final class Inbox: Sendable {
        private let results = Observed<[OutboundGroup.Result]>()
        /// The number of results in each call.
        let calls = Observed<[Int]>()

        func group(of client: Client, linger: Duration = .zero) -> OutboundGroup {
            client.group(linger: linger) { received in
                for one in received { self.results.append(one) }
                self.calls.append(received.count)
            }
        }

        /// The failure reasons or statuses by number, once `count` have arrived.
        func outcomes(_ count: Int) async -> [UInt64: String] {
            let results = await results.wait(count: count)
            return Dictionary(
                results.map { ($0.number, $0.result.failure?.reason.rawValue ?? "\($0.result.status ?? 0)") },
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
            let group = inbox.group(of: client)
            group.send(numbered(requests))
            let outcomes = await inbox.outcomes(50)
            #expect(outcomes.count == 50)
            for (index, outcome) in outcomes {
                #expect(outcome == (index == 7 ? OutboundFailure.Reason.requestInvalid.rawValue : "200"))
            }
            group.send([])
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
            let inbox = Inbox()
            let group = inbox.group(of: client, linger: .seconds(3600))
            group.send(numbered([OutboundRequest(url: server.url("/quick"))]))
            #expect(await inbox.outcomes(1) == [0: "200"])
            // One request never ends. The results of the others wait until there are enough of them.
            let requests = ["/silent"] + Array(repeating: "/quick", count: 64)
            group.send(numbered(requests.map { OutboundRequest(url: server.url($0)) }, from: 1))
            await waiting.wait { $0 >= 1 }
            #expect(await inbox.outcomes(65).count == 65)
            group.cancel()
            #expect(await inbox.outcomes(66)[1] == "cancelled")
        }
    }

    @Test("are delivered in one call when they are delivered together, failures included")
    func together() async throws {
        let server = try ScriptedServer(answering: { _ in ok })
        try await withClient { client in
            let inbox = Inbox()
            let group = inbox.group(of: client, linger: .seconds(3600))
            group.send(numbered((0..<20).map { OutboundRequest(url: server.url("/\($0)")) }))
            #expect(await inbox.calls.wait(count: 1) == [20])
            group.send(numbered(Array(repeating: OutboundRequest(method: "NO METHOD", url: server.url("/")), count: 3)))
            #expect(inbox.calls.value == [20, 3], "before the function that sends returns")
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
            let inbox = Inbox()
            let group = inbox.group(of: client)
            let requests = (0..<10).map { _ in OutboundRequest(url: server.url("/slow")) }
            group.send(numbered(requests))
            await started.wait { $0 >= 4 }
            async let other = client.send(OutboundRequest(url: server.url("/quick")))
            group.cancel()
            let outcomes = await inbox.outcomes(10)
            #expect(outcomes.count == 10 && outcomes.values.allSatisfy { $0 == "cancelled" })
            #expect(await other.status == 200)
            group.send(numbered([OutboundRequest(url: server.url("/quick"))], from: 10))
            #expect(await inbox.outcomes(11)[10] == "cancelled")
            #expect(server.connectionCount <= 5)
        }
    }

    @Test("end with the client")
    func shutDown() async throws {
        let server = try ScriptedServer.perConnection { $0.waitForEnd() }
        let client = try Client(options: testOptions())
        let inbox = Inbox()
        let group = inbox.group(of: client)
        group.send(numbered([OutboundRequest(url: server.url())]))
        await client.shutdown()
        group.send(numbered([OutboundRequest(url: server.url())], from: 1))
        #expect(await inbox.outcomes(2) == [0: "cancelled", 1: "cancelled"])
    }
}

/// The requests with their places in the list, counted from `first`.
private func numbered(_ requests: [OutboundRequest], from first: UInt64 = 0) -> [OutboundGroup.Request] {
    requests.enumerated().map { (first + UInt64($0), $1) }
}
