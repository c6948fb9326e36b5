import ChatCore
import ChatModel
import LongPolling
import HTTPServer
import JSON
import TestSupport
import Testing

@testable import NativeAPI

@Suite("GET /v1/poll", .timeLimit(.minutes(2))) struct StreamPollTests {
    private func numbers(_ answer: HTTPExchange) -> [Int64] {
        answer.json?["data"]?.elements?.compactMap { $0["data"]?["n"]?.integer } ?? []
    }

    private func cursor(_ answer: HTTPExchange) -> String { answer.json?["cursor"]?.string ?? "" }

    @Test("is not held for HEAD requests")
    func head() async throws {
        try await StreamHarness.run { gateway in
            let answer = try await gateway.call("HEAD", "/v1/poll?channel=a&cursor=latest")
            #expect(answer.status == 200)
            #expect(await gateway.streams.metrics.pollsHeld == 0)
        }
    }

    @Test("without a cursor says at once where to begin")
    func begin() async throws {
        try await StreamHarness.run { gateway in
            let at = try await gateway.emit("a", 1)
            let first = try await gateway.call("GET", "/v1/poll?channel=a")
            #expect(String(decoding: first.body, as: UTF8.self) == #"{"data":[],"cursor":"\#(at)"}"#)
            #expect(first.header("Cache-Control") == "no-store")
            try await gateway.emit("a", 2)
            let second = try await gateway.call("GET", "/v1/poll?channel=a&cursor=\(cursor(first))")
            #expect(numbers(second) == [2])
        }
    }

    @Test("returns missed events in pages, each continuing where the last ended")
    func pages() async throws {
        try await StreamHarness.run { gateway in
            for n in 1...25 { try await gateway.emit("a", n) }
            var seen: [Int64] = []
            var position = "earliest"
            while seen.count < 25 {
                let answer = try await gateway.call("GET", "/v1/poll?channel=a&limit=10&cursor=\(position)")
                #expect(numbers(answer).count <= 10)
                seen += numbers(answer)
                position = cursor(answer)
            }
            #expect(seen == Array(1...25))
        }
    }

    @Test("waits for an event")
    func wait() async throws {
        try await StreamHarness.run { gateway in
            async let answer = gateway.call("GET", "/v1/poll?channel=a&type=said&cursor=latest")
            await gateway.until { !$0.polls.assumeIsolated { $0.isEmpty } }
            try await gateway.emit("a", 1)
            let at = try await gateway.emit("a", 2, type: "said")
            let batch = try await answer
            #expect(numbers(batch) == [2])
            #expect(cursor(batch) == "\(at)")
            #expect(await gateway.service.hub.feedCount == 0)
        }
    }

    @Test("ends empty after 25 s, its cursor moved past what did not concern it")
    func hold() async throws {
        try await StreamHarness.run { gateway in
            async let answer = gateway.call("GET", "/v1/poll?channel=a&cursor=latest")
            await gateway.until { !$0.polls.assumeIsolated { $0.isEmpty } }
            let at = try await gateway.emit("b", 1)
            #expect(await gateway.service.hub.reach(at))
            await gateway.tick(24)
            #expect(await gateway.streams.metrics.pollsWaiting == 1)
            await gateway.tick()
            let batch = try await answer
            #expect(batch.status == 200)
            #expect(numbers(batch).isEmpty)
            #expect(cursor(batch) == "\(at)")
        }
    }

    @Test("releases a client that has gone")
    func gone() async throws {
        try await StreamHarness.run { gateway in
            let connection = try ByteConnection(port: gateway.port)
            let request =
                "GET /v1/poll?channel=a&cursor=latest HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer dev\r\n\r\n"
            try connection.send(Array(request.utf8))
            await gateway.until { !$0.polls.assumeIsolated { $0.isEmpty } }
            connection.close()
            await gateway.until { $0.polls.assumeIsolated { $0.isEmpty } }
            await waitUntil { await gateway.service.hub.feedCount == 0 }
        }
    }

    @Test("reports a gap at once, in its body and its header")
    func gap() async throws {
        try await StreamHarness.run { gateway in
            let at = try await gateway.emit("a", 1)
            let future = at.adding(.seconds(9))
            let answer = try await gateway.call("GET", "/v1/poll?channel=a&cursor=\(future)")
            #expect(numbers(answer).isEmpty)
            #expect(cursor(answer) == "\(at)")
            #expect(answer.json?["gap"]?["requested"]?.string == "\(future)")
            #expect(answer.json?["gap"]?["resumed_from"]?.string == "\(at)")
            #expect(answer.header("Gateway-Cursor") == "\(at)")
        }
    }

    @Test("limits a response to about half a MiB and continues from there")
    func size() async throws {
        try await StreamHarness.run { gateway in
            let pad = String(repeating: "x", count: 60_000)
            for n in 1...30 { try await gateway.emit("a", data: #"{"n":\#(n),"pad":"\#(pad)"}"#) }
            let first = try await gateway.call("GET", "/v1/poll?channel=a&cursor=earliest")
            #expect(numbers(first) == Array(1...9))
            let second = try await gateway.call("GET", "/v1/poll?channel=a&cursor=\(cursor(first))")
            #expect(numbers(second) == Array(10...18))
        }
    }

    @Test(
        "refuses what it cannot follow",
        arguments: [
            ("channel=a&cursor=x", 400), ("channel=a&limit=0", 400), ("channel=a&limit=251", 400),
            ("channel=a&ticket=x", 400), ("channel=a,b", 400),
        ])
    func refusals(_ query: String, _ status: Int) async throws {
        try await StreamHarness.run { gateway in
            let answer = try await gateway.call("GET", "/v1/poll?\(query)")
            #expect(answer.status == status)
        }
    }
}
