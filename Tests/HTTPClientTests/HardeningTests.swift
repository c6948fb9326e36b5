import HTTPClient
import Locking
import TestSupport
import Testing

@Suite("Against hostile receivers, the client") struct HardeningTests {
    private func send(
        _ options: ClientOptions = testOptions(), to script: @escaping @Sendable (ServerConnection) -> Void
    ) async throws -> OutboundResult {
        let server = try ScriptedServer.perConnection(script)
        return try await withClient(options) {
            await $0.send(OutboundRequest(method: "POST", url: server.url(), body: Array("{}".utf8)))
        }
    }

    /// An endless body would otherwise be read and buffered until the deadline.
    @Test(
        "stops reading a body at its limit and keeps the beginning", arguments: ["", "Content-Length: 10737418240\r\n"])
    func endlessBody(_ length: String) async throws {
        let offered = Lock(0)
        let result = try await send { peer in
            guard peer.readRequest() != nil, peer.write("HTTP/1.1 200 OK\r\n\(length)\r\n") else { return }
            let piece = [UInt8](repeating: 0x61, count: 65536)
            // Ten megabytes exceed what the sockets hold; the client closes before.
            while offered.withLock({ $0 }) < 64 << 20, peer.write(piece) { offered.withLock { $0 += piece.count } }
        }
        #expect(result.failure == nil && result.status == 200)
        #expect(result.body == [UInt8](repeating: 0x61, count: 16 * 1024) && result.truncated)
        #expect(offered.withLock { $0 } < 32 << 20)
    }

    @Test(
        "distinguishes a body at its limit from one that is a byte longer",
        arguments: [0, 1, 16383, 16384, 16385, 65535, 65536, 65537])
    func bodyLimits(_ length: Int) async throws {
        let result = try await send { peer in
            guard peer.readRequest() != nil else { return }
            peer.write("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n" + String(repeating: "a", count: length))
            peer.waitForEnd()
        }
        #expect(result.failure == nil && result.status == 200)
        #expect(result.body.count == min(length, 16384))
        #expect(result.truncated == (length > 16384))
    }

    /// Each interim response is small, but there could be any number of them.
    @Test(
        "stops reading a header at its limit",
        arguments: ["X-More: \(String(repeating: "a", count: 90))\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "X: a\r\n"])
    func endlessHeader(_ line: String) async throws {
        let result = try await send { peer in
            guard peer.readRequest() != nil, peer.write("HTTP/1.1 \(line.hasPrefix("X") ? 200 : 100) X\r\n") else {
                return
            }
            let piece = (line.hasPrefix("X") ? "" : "\r\n") + String(repeating: line, count: 500)
            for _ in 0..<200 { guard peer.write(piece) else { return } }
        }
        #expect(result.failure?.reason == .responseInvalid)
        #expect(result.status == nil && result.body.isEmpty)
    }

    /// A receiver that sends a byte now and then never reaches an idle timeout.
    @Test("ends a transfer at its deadline though bytes keep coming")
    func dripFeed() async throws {
        let result = try await send(testOptions { $0.totalTimeout = .milliseconds(300) }) { peer in
            guard peer.readRequest() != nil, peer.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n") else {
                return
            }
            while peer.write("a"), !peer.hears(withinMilliseconds: 5) {}
        }
        #expect(result.failure?.reason == .timeout)
        #expect(result.status == 200)
    }

    @Test("ends a transfer at its deadline though header bytes keep coming")
    func dripFeedHeader() async throws {
        let result = try await send(testOptions { $0.totalTimeout = .milliseconds(300) }) { peer in
            guard peer.readRequest() != nil, peer.write("HTTP/1.1 200 OK\r\n") else { return }
            while peer.write("X"), !peer.hears(withinMilliseconds: 5) {}
        }
        #expect(result.failure?.reason == .timeout)
        #expect(result.status == nil)
    }

    @Test("ends a transfer at its deadline when nothing comes, the request's own deadline first")
    func silence() async throws {
        let server = try ScriptedServer.perConnection { $0.waitForEnd() }
        try await withClient { client in
            let request = OutboundRequest(url: server.url(), totalTimeout: .milliseconds(100))
            #expect(await client.send(request).failure?.reason == .timeout)
            // A deadline of zero does not mean "no deadline".
            let none = OutboundRequest(url: server.url(), totalTimeout: .zero)
            let reason = await client.send(none).failure?.reason
            #expect(reason == .timeout || reason == .connectTimeout)
        }
    }

    /// libcurl decodes transfer codings that it knows even when not requested. Some need a hundred megabytes.
    @Test(
        "accepts no transfer coding but chunks",
        arguments: ["gzip", "gzip, chunked", "zstd", "chunked, br", "identity", ""])
    func transferCoding(_ coding: String) async throws {
        let result = try await send { peer in
            guard peer.readRequest() != nil else { return }
            peer.write("HTTP/1.1 200 OK\r\ntransfer-encoding: \(coding)\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
        }
        #expect(result.failure?.reason == .responseInvalid && result.body.isEmpty)
    }

    /// Bytes that are neither header nor content: libcurl alone would read them until the deadline.
    @Test(
        "stops reading at its limit though the framing of chunks never ends",
        arguments: [("1\r\na\r\n1;", "a", true), ("1\r\na\r\n0\r\n", "X: a\r\n", false), ("", "1;x=y\r\na\r\n", true)])
    func endlessFraming(_ begin: String, _ more: String, _ isTruncated: Bool) async throws {
        let offered = Lock(0)
        let result = try await send { peer in
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            guard peer.readRequest() != nil, peer.write(head + begin) else { return }
            let piece = Array(String(repeating: more, count: 1000).utf8)
            while offered.withLock({ $0 }) < 64 << 20, peer.write(piece) { offered.withLock { $0 += piece.count } }
        }
        #expect(result.failure == nil && result.status == 200 && result.truncated == isTruncated)
        #expect(result.body.first == UInt8(ascii: "a") && result.body.allSatisfy { $0 == UInt8(ascii: "a") })
        #expect(result.headers["x"] == nil)
        #expect(offered.withLock { $0 } < 32 << 20)
    }

    @Test("switches to no other protocol at the receiver's request")
    func upgrade() async throws {
        let result = try await send { peer in
            guard peer.readRequest() != nil else { return }
            peer.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\nabc")
        }
        #expect(result.failure?.reason == .responseInvalid && result.status == nil && result.body.isEmpty)
    }

    /// On a reused connection, the rest of a body would be read as the next request.
    @Test("accepts a response that arrives before the body was sent", arguments: [200, 413], [false, true])
    func earlyAnswer(_ status: Int, _ readsOn: Bool) async throws {
        let large = [UInt8](repeating: 0x61, count: 16 << 20)
        let answer = "HTTP/1.1 \(status) Early\r\nContent-Length: 2\r\n\r\nok"
        let lines = Lock<[String]>([])
        let server = try ScriptedServer.perConnection { peer in
            while let begin = peer.read(), let head = ReceivedRequest(head: begin) {
                lines.withLock { $0.append(head.line) }
                guard peer.write(answer) else { return }
                var missing = head.headLength + head.contentLength - begin.count
                if missing > 0, !readsOn { return peer.waitForEndUnread() }
                // Read no further: the next request may already have arrived.
                while missing > 0, let more = peer.read(most: missing) { missing -= more.count }
            }
        }
        // A receiver that stops reading blocks the body, unless its response says that the body is not needed.
        let isKept = status == 200 && !readsOn
        try await withClient(testOptions { $0.totalTimeout = isKept ? .seconds(2) : .seconds(60) }) { client in
            let result = await client.send(OutboundRequest(method: "POST", url: server.url("/large"), body: large))
            #expect(result.status == status && result.body == Array("ok".utf8))
            #expect(result.failure?.reason == (isKept ? .timeout : nil))
            #expect(await client.send(OutboundRequest(url: server.url("/next"))).status == status)
        }
        #expect(lines.withLock { $0 } == ["POST /large HTTP/1.1", "GET /next HTTP/1.1"])
    }

    @Test("ends a transfer at its deadline when the body is never read")
    func unreadBody() async throws {
        let server = try ScriptedServer.perConnection { $0.waitForEndUnread() }
        let result = try await withClient(testOptions { $0.totalTimeout = .milliseconds(300) }) {
            let body = [UInt8](repeating: 0x61, count: 16 << 20)
            return await $0.send(OutboundRequest(method: "POST", url: server.url(), body: body))
        }
        #expect(result.failure?.reason == .timeout && result.status == nil)
    }

    @Test("ends a handshake at the deadline for connecting though bytes keep coming")
    func dripFeedHandshake() async throws {
        let server = try ScriptedServer.perConnection { peer in
            // A handshake record of 16 KiB that is never completed.
            guard peer.read() != nil, peer.write([0x16, 3, 3, 0x40, 0]) else { return }
            while peer.write([2]), !peer.hears(withinMilliseconds: 5) {}
        }
        let result = try await withClient(testOptions { $0.connectTimeout = .milliseconds(300) }) {
            await $0.send(OutboundRequest(url: server.url(scheme: "https")))
        }
        #expect(result.failure?.reason == .connectTimeout)
    }

    @Test(
        "reports a response that is not HTTP as invalid",
        arguments: [
            "SSH-2.0-OpenSSH_9.2\r\n", "\r\n\r\n", "200 OK\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n",
            "HTTP/7.3 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\nabc\r\n",
        ])
    func garbage(_ answer: String) async throws {
        let result = try await send { peer in
            guard peer.readRequest() != nil else { return }
            peer.write(answer)
        }
        #expect(result.failure?.reason == .responseInvalid, "\(String(describing: result.failure))")
    }

    @Test(
        "reports a connection that ends early as reset",
        arguments: ["", "HTTP/1.1 20", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"], [false, true])
    func early(_ answer: String, _ isAbrupt: Bool) async throws {
        let result = try await send { peer in
            guard peer.readRequest() != nil else { return }
            peer.write(answer)
            if isAbrupt { peer.reset() }
        }
        #expect(result.failure?.reason == .reset, "\(String(describing: result.failure))")
    }

    @Test("cannot be made to write an injected line", arguments: ["a\r\nX-Evil: 1", "a\nb", "a\0b", "\u{7f}"])
    func injection(_ value: String) async throws {
        let server = try ScriptedServer(answering: { _ in ok })
        try await withClient { client in
            let requests = [
                OutboundRequest(url: server.url(), headers: [("X-Value", value)]),
                OutboundRequest(url: server.url(), headers: [(value, "x")]),
                OutboundRequest(method: value, url: server.url()),
                OutboundRequest(url: server.url("/" + value)),
                OutboundRequest(url: server.url(), headers: [("", "x")]),
                OutboundRequest(url: server.url(), headers: [("X:Y", "x")]),
                OutboundRequest(method: "", url: server.url()),
                OutboundRequest(method: "POST", url: server.url(), headers: [("content-length", "5")], body: [1]),
                OutboundRequest(
                    method: "POST", url: server.url(), headers: [("Transfer-Encoding", "chunked")], body: [1]),
            ]
            for request in requests {
                #expect(await client.send(request).failure?.reason == .requestInvalid)
            }
        }
        #expect(server.connectionCount == 0)
    }
}

@Suite("The reason of a failure") struct FailureTests {
    @Test("while connecting is reported: no server")
    func refused() async throws {
        var url = ""
        do {
            let server = try ScriptedServer.perConnection { _ in }
            url = server.url()
        }
        let result = try await withClient { await $0.send(OutboundRequest(url: url)) }
        #expect(result.failure?.reason == .connectRefused)
        #expect(result.status == nil && result.timings.total > .zero)
    }

    @Test("while connecting is reported: a server that accepts and does not answer the handshake")
    func connectTimeout() async throws {
        let server = try ScriptedServer.perConnection { $0.waitForEnd() }
        let result = try await withClient(testOptions { $0.connectTimeout = .milliseconds(200) }) {
            await $0.send(OutboundRequest(url: server.url(scheme: "https")))
        }
        #expect(result.failure?.reason == .connectTimeout)
    }

    /// Handles are reused. State of the previous transfer must not affect the next result.
    @Test("is not affected by an earlier success")
    func afterSuccess() async throws {
        let server = try ScriptedServer.perConnection { peer in
            guard let first = peer.read(), first.first != 0x16 else { return peer.waitForEnd() }  // a TLS record
            peer.write("HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        }
        let options = testOptions {
            $0.connectTimeout = .milliseconds(300)
            $0.perHostConnections = 1
            $0.maxConnections = 1
            $0.addressGuard = .disabled
        }
        try await withClient(options) { client in
            for (url, reason) in [
                (server.url(scheme: "https"), OutboundFailure.Reason.connectTimeout),
                ("http://127.0.0.1:1/", .connectRefused),
                ("http://no-such-host.invalid/", .dns),
            ] {
                #expect(await client.send(OutboundRequest(url: server.url())).status == 200)
                let result = await client.send(OutboundRequest(url: url))
                #expect(result.failure?.reason == reason)
                #expect(result.status == nil && result.headers["x-a"] == nil && result.body.isEmpty)
                #expect(result.timings.firstByte == .zero && result.timings.tls == .zero)
                if reason != .connectTimeout { #expect(result.connectedAddress == nil) }
            }
        }
    }

    @Test("in the handshake has its own value")
    func tls() async throws {
        let server = try ScriptedServer.perConnection { peer in
            _ = peer.read()
            peer.write("HTTP/1.1 400 Plain\r\n\r\n")
        }
        let result = try await withClient { await $0.send(OutboundRequest(url: server.url(scheme: "https"))) }
        #expect(result.failure?.reason == .tls)
    }

    @Test("with the name has its own value")
    func dns() async throws {
        // RFC 6761, 6.4: this name never resolves. Without a name server the lookup reaches its deadline, with the same
        // result.
        let options = testOptions {
            $0.addressGuard = .disabled
            $0.connectTimeout = .seconds(1)
        }
        let result = try await withClient(options) {
            await $0.send(OutboundRequest(url: "http://no-such-host.invalid/"))
        }
        #expect(result.failure?.reason == .dns)
    }

    @Test(
        "in the request is found before any network access",
        arguments: ["", "x", "ftp://127.0.0.1/", "http://127.0.0.1:99999/"])
    func requestInvalid(_ url: String) async throws {
        let options = testOptions { $0.addressGuard = .disabled }
        let result = try await withClient(options) { await $0.send(OutboundRequest(url: url)) }
        #expect(result.failure?.reason == .requestInvalid)
    }

    @Test("is stored under these names")
    func words() {
        #expect(
            OutboundFailure.Reason.allCases.map(\.rawValue) == [
                "dns", "connect_refused", "connect_timeout", "tls", "blocked_address", "timeout", "reset",
                "response_invalid", "cancelled", "request_invalid", "overloaded",
            ])
    }
}
