import Glibc
import HTTPClient
import Locking
import TestSupport
import Testing

@Suite("The client") struct ClientTests {
    @Test("puts method, path, headers and body on the wire as given")
    func request() async throws {
        let server = try ScriptedServer.perConnection { peer in
            guard let request = peer.readRequest() else { return }
            let lines = [request.line] + request.headers.map { "\($0.name)=\($0.value)" }
            let text = lines.joined(separator: "|") + "|" + String(decoding: request.body, as: UTF8.self)
            peer.write("HTTP/1.1 201 Created\r\nX-Answer: yes\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
        }
        let result = try await withClient(testOptions { $0.userAgent = "test/1" }) { client in
            await client.send(
                OutboundRequest(
                    method: "POST", url: server.url("/a/../b%2Fc?d=e"),
                    headers: [("Content-Type", "application/json"), ("X-Empty", ""), ("X-Text", "h\u{e9}llo; \t x")],
                    body: Array("{\"a\":1}".utf8)))
        }
        #expect(result.failure == nil)
        #expect(result.status == 201)
        #expect(result.headers["x-answer"] == "yes")
        #expect(result.connectedAddress == "127.0.0.1")
        #expect(result.timings.total > .zero && result.timings.firstByte > .zero)
        #expect(
            String(decoding: result.body, as: UTF8.self)
                == "POST /a/../b%2Fc?d=e HTTP/1.1|Host=127.0.0.1:\(server.port)|User-Agent=test/1|Accept=*/*"
                + "|Content-Type=application/json|X-Empty=|X-Text=h\u{e9}llo; \t x|Content-Length=7|{\"a\":1}")
    }

    @Test(
        "sends every method with and without a body, one after the other on one connection",
        arguments: [
            [
                ("GET", ""), ("POST", "x"), ("GET", ""), ("HEAD", ""), ("POST", ""), ("DELETE", ""), ("PUT", "yy"),
                ("GET", ""),
            ],
            [
                ("HEAD", ""), ("PATCH", "zzz"), ("DELETE", "x"), ("OPTIONS", ""), ("HEAD", ""), ("GET", "b"),
                ("POST", "w"),
            ],
        ])
    func methods(_ requests: [(String, String)]) async throws {
        let server = try ScriptedServer(answering: { request in
            let isHead = request.line.hasPrefix("HEAD ")
            let length = request.values("content-length").first ?? "none"
            let text =
                "\(request.line.split(separator: " ")[0]) \(length) \(String(decoding: request.body, as: UTF8.self))"
            let extra = request.values("content-type") + request.values("expect")
            return "HTTP/1.1 200 OK\r\nX-Text: \(text)\r\nX-Extra: \(extra.count)\r\n"
                + "Content-Length: \(isHead ? 1000 : 0)\r\n\r\n"
        })
        try await withClient { client in
            for (method, body) in requests {
                let result = await client.send(
                    OutboundRequest(method: method, url: server.url(), body: Array(body.utf8)))
                let carriesLength = !body.isEmpty || ["POST", "PUT", "PATCH"].contains(method)
                #expect(result.failure == nil, "\(method)")
                #expect(
                    result.headers["x-text"] == "\(method) \(carriesLength ? "\(body.utf8.count)" : "none")"
                        + (body.isEmpty ? "" : " \(body)"))
                #expect(result.headers["x-extra"] == "0")
            }
        }
        #expect(server.connectionCount == 1)
    }

    @Test("sends a large body without waiting for permission")
    func largeBody() async throws {
        let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let server = try ScriptedServer(answering: { request in
            let matches = request.body == body && request.values("expect").isEmpty
            return "HTTP/1.1 \(matches ? 200 : 500) X\r\nContent-Length: 0\r\n\r\n"
        })
        let result = try await withClient { client in
            await client.send(OutboundRequest(method: "POST", url: server.url(), body: body))
        }
        #expect(result.status == 200)
    }

    @Test("keeps its connection from one request to the next")
    func reuse() async throws {
        let server = try ScriptedServer(answering: { _ in ok })
        try await withClient { client in
            for _ in 0..<20 { #expect(await client.send(OutboundRequest(url: server.url())).status == 200) }
        }
        #expect(server.connectionCount == 1)
    }

    @Test("sends again when a kept connection turns out to be closed")
    func staleConnection() async throws {
        let closed = Observed(0)
        let server = try ScriptedServer.perConnection { peer in
            guard peer.readRequest() != nil else { return }
            peer.write(ok)
            closed.increment()
        }
        try await withClient { client in
            for number in 1...5 {
                #expect(await client.send(OutboundRequest(method: "POST", url: server.url(), body: [1])).status == 200)
                await closed.wait { $0 >= number }
            }
        }
        #expect(server.connectionCount == 5)
    }

    @Test("returns a redirect unchanged", arguments: [301, 302, 303, 307, 308])
    func redirects(_ status: Int) async throws {
        let target = try ScriptedServer(answering: { _ in ok })
        let location = target.url()
        let server = try ScriptedServer(answering: { _ in
            "HTTP/1.1 \(status) Elsewhere\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"
        })
        let result = try await withClient {
            await $0.send(OutboundRequest(method: "POST", url: server.url(), body: [1]))
        }
        #expect(result.status == status && result.failure == nil)
        #expect(result.headers["location"] == location)
        #expect(target.connectionCount == 0)
    }

    @Test("ignores the environment's proxy")
    func proxy() async throws {
        let proxy = try ScriptedServer(answering: { _ in ok })
        for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] { setenv(name, proxy.url(), 1) }
        defer { for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] { unsetenv(name) } }
        let server = try ScriptedServer(answering: { _ in "HTTP/1.1 204 No\r\n\r\n" })
        let result = try await withClient { await $0.send(OutboundRequest(url: server.url())) }
        #expect(result.status == 204)
        #expect(proxy.connectionCount == 0)
    }

    @Test("decompresses nothing")
    func compression() async throws {
        let server = try ScriptedServer(answering: { request in
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nX-Asked: \(request.values("accept-encoding").count)\r\n"
                + "Content-Length: 3\r\n\r\nabc"
        })
        let result = try await withClient { await $0.send(OutboundRequest(url: server.url())) }
        #expect(result.headers["x-asked"] == "0")
        #expect(result.body == Array("abc".utf8))
    }

    @Test("skips interim responses")
    func interim() async throws {
        let server = try ScriptedServer(answering: { _ in
            "HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
                + "HTTP/1.1 202 Accepted\r\nX-Late: 1\r\nContent-Length: 0\r\n\r\n"
        })
        let result = try await withClient { await $0.send(OutboundRequest(url: server.url())) }
        #expect(result.status == 202)
        #expect(result.headers.map(\.name) == ["X-Late", "Content-Length"])
    }

    @Test("reads chunks, leaves their trailers alone and keeps the connection")
    func chunks() async throws {
        let server = try ScriptedServer(answering: { _ in
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: 1\r\n\r\n"
        })
        try await withClient { client in
            for _ in 0..<3 {
                let result = await client.send(OutboundRequest(url: server.url()))
                #expect(result.body == Array("abcde".utf8) && !result.truncated && result.failure == nil)
                #expect(result.headers["x-trailer"] == nil)
            }
        }
        #expect(server.connectionCount == 1)
    }

    @Test("keeps each host within its limit and all hosts within the common one")
    func limits() async throws {
        let (busy, most) = (Lock([0, 0]), Lock([0, 0]))
        let servers = try (0..<2).map { index in
            try ScriptedServer.perConnection { peer in
                while peer.readRequest() != nil {
                    let now = busy.withLock { busy in
                        busy[index] += 1
                        return busy
                    }
                    most.withLock { $0 = [max($0[0], now[index]), max($0[1], now[0] + now[1])] }
                    // Long enough for every other request to arrive, if nothing held it back.
                    _ = peer.hears(withinMilliseconds: 20)
                    busy.withLock { $0[index] -= 1 }
                    peer.write(ok)
                }
            }
        }
        let options = testOptions {
            $0.perHostConnections = 3
            $0.maxConnections = 4
        }
        try await withClient(options) { client in
            await withTaskGroup(of: Int?.self) { group in
                for number in 0..<60 {
                    let url = servers[number % 2].url()
                    group.addTask { await client.send(OutboundRequest(url: url)).status }
                }
                for await status in group { #expect(status == 200) }
            }
        }
        let (host, all) = most.withLock { ($0[0], $0[1]) }
        #expect(host <= 3 && all == 4)
    }

    @Test("does not let an unresponsive host delay others")
    func fairness() async throws {
        let silent = try ScriptedServer.perConnection { $0.waitForEnd() }
        let server = try ScriptedServer(answering: { _ in ok })
        try await withClient(testOptions { $0.perHostConnections = 2 }) { client in
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<20 { group.addTask { _ = await client.send(OutboundRequest(url: silent.url())) } }
                for _ in 0..<20 { #expect(await client.send(OutboundRequest(url: server.url())).status == 200) }
                #expect(silent.connectionCount <= 2)
                group.cancelAll()
            }
        }
    }

    @Test("answers many at once from few connections")
    func load() async throws {
        let server = try ScriptedServer(answering: { request in
            let number = request.values("x-number").first ?? ""
            return "HTTP/1.1 200 OK\r\nContent-Length: \(number.utf8.count)\r\n\r\n\(number)"
        })
        try await withClient(testOptions { $0.perHostConnections = 8 }) { client in
            await withTaskGroup(of: Bool.self) { group in
                for number in 0..<500 {
                    group.addTask {
                        let request = OutboundRequest(url: server.url(), headers: [("X-Number", "\(number)")])
                        return await client.send(request).body == Array("\(number)".utf8)
                    }
                }
                for await matches in group { #expect(matches) }
            }
        }
        #expect(server.connectionCount <= 8)
    }
}
