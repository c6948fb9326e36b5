import Glibc
import HTTPServer
import Locking
import TestSupport
import Testing

@Suite("A request body") struct BodyTests {
    private static let limit = 100_000

    private static func routes(_ router: inout Router, _ loop: Loop) {
        router.add(.post, "/echo", body: .collected(limit: limit)) { request in
            Response(contentType: "application/octet-stream", body: request.body.bytes)
        }
        router.add(.post, "/count", body: .streamed(limit: 50_000_000)) { request in
            var count = 0
            for try await piece in request.body { count += piece.count }
            return .text("\(count)")
        }
        router.add(.post, "/small-stream", body: .streamed(limit: limit)) { request in
            var count = 0
            for try await piece in request.body { count += piece.count }
            return .text("\(count)")
        }
        router.add(.post, "/refuse", body: .streamed(limit: 50_000_000)) { _ in
            throw Problem(status: 403, code: "no", title: "No")
        }
        router.add(.get, "/hello") { _ in .text("hello") }
    }

    private func chunked(_ wire: Wire, _ path: String, _ chunks: [[UInt8]], end: Bool = true) {
        wire.send("POST \(path) HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        for chunk in chunks {
            wire.send(Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Array("\r\n".utf8))
        }
        if end { wire.send("0\r\n\r\n") }
    }

    @Test("arrives as it was sent, whatever its size", arguments: [1, 1000, 40_000, 99_999, 100_000])
    func collected(_ size: Int) async throws {
        try await withServer(routes: Self.routes) { server in
            let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let wire = try server.wire()
            #expect(try wire.ask("POST", "/echo", body: body).body == body)
            chunked(wire, "/echo", stride(from: 0, to: size, by: 7000).map { Array(body[$0..<min($0 + 7000, size)]) })
            #expect(try wire.answer().body == body)
        }
    }

    @Test("that is announced as too large is refused before it is read") func announcedTooLarge() async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            wire.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100001\r\n\r\n")
            let answer = try wire.answer()
            #expect(answer.status == 413)
            #expect(answer["Connection"] == "close")
            #expect(answer["Content-Type"] == "application/problem+json")
            #expect(answer.text.contains("\"limit_bytes\":100000"))
            #expect(try wire.rest().isEmpty)
            let sending = try server.wire()
            sending.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n")
            sending.send([UInt8](repeating: 1, count: 500_000))
            #expect(try sending.answer().status == 413)
            let impossible = try server.wire()
            impossible.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n")
            #expect(try impossible.answer().status == 413)
        }
    }

    @Test("in chunks that is too large is refused in the middle") func chunkedTooLarge() async throws {
        try await withServer(routes: Self.routes) { server in
            for path in ["/echo", "/small-stream"] {
                let wire = try server.wire()
                let chunks = [[UInt8]](repeating: [UInt8](repeating: 1, count: 20_000), count: 6)
                chunked(wire, path, chunks, end: false)
                let answer = try wire.answer()
                #expect(answer.status == 413)
                #expect(answer["Connection"] == "close")
            }
        }
    }

    @Test("that is too large is reported, with the part that arrived") func toldOfTooLarge() async throws {
        let told = Lock<[String]>([])
        var routeOptions = RouteOptions()
        routeOptions.recordTooLarge = { request in
            let (id, header) = (request.parameters["id"] ?? "", request.headers["X-Name"] ?? "")
            told.withLock { $0.append("\(id) \(request.path) \(header) \(request.body.bytes.count)") }
        }
        let routes = { [routeOptions] (router: inout Router, _: Loop) in
            router.add(.post, "/in/{id}", body: .collected(limit: 1000), options: routeOptions) { _ in .text("taken") }
        }
        try await withServer(routes: routes) { server in
            let announced = try server.wire()
            announced.send("POST /in/a HTTP/1.1\r\nHost: x\r\nX-Name: n\r\nContent-Length: 1001\r\n\r\n")
            #expect(try announced.answer().status == 413)
            let wire = try server.wire()
            chunked(wire, "/in/b", [[UInt8]](repeating: [UInt8](repeating: 1, count: 600), count: 2), end: false)
            #expect(try wire.answer().status == 413)
            let whole = try server.wire()
            #expect(try whole.ask("POST", "/in/c", body: [UInt8](repeating: 1, count: 1000)).text == "taken")
        }
        #expect(told.withLock { $0 } == ["a /in/a n 0", "b /in/b  0"])
    }

    @Test("that no handler reads is refused, and a small one keeps the connection") func unwanted() async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            #expect(try wire.ask("POST", "/nowhere", body: [UInt8](repeating: 1, count: 60_000)).status == 404)
            #expect(try wire.ask("PUT", "/echo", body: [1, 2, 3]).status == 405)
            #expect(try wire.ask("GET", "/hello").text == "hello")
            let refused = try wire.ask("GET", "/hello", body: [1])
            #expect(refused.status == 400 && refused.text.contains("\"unexpected_body\""))
        }
    }

    @Test("is announced with 100-continue only when it is wanted") func expectation() async throws {
        try await withServer(routes: Self.routes) { server in
            let wanted = try server.wire()
            wanted.send("POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
            #expect(try wanted.head().status == 100)
            wanted.send("abc")
            #expect(try wanted.answer().text == "abc")
            let unwanted = try server.wire()
            unwanted.send("POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 999999\r\n\r\n")
            #expect(try unwanted.answer().status == 413)
            let strange = try server.wire()
            strange.send("POST /echo HTTP/1.1\r\nHost: x\r\nExpect: a miracle\r\nContent-Length: 3\r\n\r\nabc")
            #expect(try strange.answer().status == 417)
        }
    }

    @Test("streams through a handler") func streamed() async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            #expect(try wire.ask("POST", "/count", body: [UInt8](repeating: 7, count: 3_000_000)).text == "3000000")
            chunked(wire, "/count", [[UInt8]](repeating: [UInt8](repeating: 1, count: 65_000), count: 40))
            #expect(try wire.answer().text == "2600000")
            #expect(try wire.ask("POST", "/count").text == "0")
        }
    }

    @Test("makes a fast client wait for a slow handler") func backPressure() async throws {
        let gate = Latch()
        try await withAsyncServer { router, _ in
            router.add(.post, "/slow", body: .streamed(limit: 50_000_000)) { request in
                await gate.pass()
                var count = 0
                for try await piece in request.body { count += piece.count }
                return .text("\(count)")
            }
        } body: { server in
            let size = 20_000_000
            let wire = try server.wire()
            let body = [UInt8](repeating: 1, count: size)
            let sent = try await blocking {
                wire.limitSending(milliseconds: 300)
                wire.send("POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: \(size)\r\n\r\n")
                return wire.send(body)
            }
            #expect(sent < size)
            // The rest of the body is in the kernel and with the client.
            #expect(await server.server.metrics.bodyBytesReceived <= 256 * 1024)
            gate.open()
            try await blocking {
                wire.limitSending(milliseconds: 5000)
                #expect(wire.send(body[sent...]) == size - sent)
                let answer = try wire.answer()
                #expect(answer.text == "\(size)")
            }
        }
    }

    @Test("may be refused by a streaming handler without being read") func streamRefused() async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            #expect(try wire.ask("POST", "/refuse", body: [UInt8](repeating: 1, count: 10_000)).status == 403)
            #expect(try wire.ask("GET", "/hello").text == "hello")
            let large = try server.wire()
            large.send("POST /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: 40000000\r\n\r\n")
            #expect(try large.answer().status == 403)
            let endless = try server.wire()
            chunked(
                endless, "/refuse", [[UInt8]](repeating: [UInt8](repeating: 1, count: 60_000), count: 3), end: false)
            #expect(try endless.answer().status == 403)
        }
    }

    @Test("fails in the handler when the client goes in the middle") func streamBrokenOff() async throws {
        let outcome = Observed("")
        let received = Observed(0)
        try await withServer { router, _ in
            router.add(.post, "/up", body: .streamed(limit: 50_000_000)) { request in
                do {
                    for try await piece in request.body { received.update { $0 += piece.count } }
                    outcome.update { $0 = "end" }
                } catch {
                    outcome.update { $0 = "\(type(of: error))" }
                    throw error
                }
                return .empty()
            }
        } body: { server in
            let wire = try server.wire()
            wire.send("POST /up HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc")
            received.waitBlocking { $0 == 3 }
            wire.reset()
            outcome.waitBlocking { !$0.isEmpty }
            #expect(outcome.value == "CancellationError")
        }
    }

    @Test("all together take no more memory than allowed") func memoryCap() async throws {
        var options = ServerOptions()
        options.limits.bodyBytesInFlight = 150_000
        let gate = Latch()
        let arrived = Observed(0)
        try await withAsyncServer(options: options) { router, _ in
            router.add(.post, "/hold", body: .collected(limit: 100_000)) { request in
                arrived.update { $0 += 1 }
                await gate.pass()
                return .text("\(request.body.bytes.count)")
            }
        } body: { server in
            let body = [UInt8](repeating: 1, count: 100_000)
            let first = try server.wire()
            try await blocking {
                first.request("POST", "/hold", body: body)
                arrived.waitBlocking { $0 == 1 }
                let second = try server.wire()
                second.request("POST", "/hold", body: body)
                let answer = try second.answer()
                #expect(answer.status == 503)
                #expect(answer["Retry-After"] == "1")
                gate.open()
                #expect(try first.answer().text == "100000")
                let third = try server.wire()
                #expect(try third.ask("POST", "/hold", body: body).text == "100000")
            }
            // Memory is released when the connection has finished the response, which the reader may have received
            // earlier.
            await waitUntil { await server.server.metrics.bodyBytesInFlight == 0 }
        }
    }
}

@Suite("A compressed request body") struct CompressedBodyTests {
    private static func routes(_ router: inout Router, _ loop: Loop) {
        router.add(.post, "/echo", body: .collected(limit: 100_000)) { request in
            Response(contentType: "application/octet-stream", body: request.body.bytes)
        }
        router.add(.post, "/count", body: .streamed(limit: 10_000_000)) { request in
            var count = 0
            for try await piece in request.body { count += piece.count }
            return .text("\(count)")
        }
    }

    @Test("is inflated, in one piece or byte by byte") func inflated() async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            for coding in ["gzip", "x-gzip", "GZIP"] {
                let answer = try wire.ask("POST", "/echo", ["Content-Encoding: \(coding)"], body: gzipped)
                #expect(answer.text == "hello gzip, hello gzip, hello gzip")
            }
            let twice = try wire.ask("POST", "/echo", ["Content-Encoding: gzip"], body: gzipped + gzipped)
            #expect(twice.text == "hello gzip, hello gzip, hello gziphello gzip, hello gzip, hello gzip")
            #expect(
                try wire.ask("POST", "/echo", ["Content-Encoding: deflate"], body: deflated).text == "hello deflate")
            #expect(try wire.ask("POST", "/echo", ["Content-Encoding: identity"], body: [65]).text == "A")
            wire.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n")
            for byte in gzipped { wire.send(Array("1\r\n".utf8) + [byte] + Array("\r\n".utf8)) }
            wire.send("0\r\n\r\n")
            #expect(try wire.answer().text == "hello gzip, hello gzip, hello gzip")
        }
    }

    @Test("is counted by its decompressed size") func bombs() async throws {
        try await withServer(routes: Self.routes) { server in
            let fields = ["Content-Encoding: deflate"]
            let fits = deflatedZeros(repeats: 387)  // 99,847
            let fitting = try ask(server, "POST", "/echo", fields, body: fits)
            #expect(fitting.body.count == 99_847)
            let exceeds = deflatedZeros(repeats: 388)
            #expect(try ask(server, "POST", "/echo", fields, body: exceeds).status == 413)
            let bomb = deflatedZeros(repeats: 50_000)  // 12.9 MB from 81 kB
            #expect(try ask(server, "POST", "/echo", fields, body: bomb).status == 413)
            #expect(try ask(server, "POST", "/count", fields, body: bomb).status == 413)
            let large = deflatedZeros(repeats: 30_000)
            #expect(try ask(server, "POST", "/count", fields, body: large).text == "\(258 * 30_000 + 1)")
        }
    }

    @Test("may be a zlib stream that its client calls gzip") func misnamed() async throws {
        try await withServer(routes: Self.routes) { server in
            let answer = try ask(server, "POST", "/echo", ["Content-Encoding: gzip"], body: deflated)
            let named = try ask(server, "POST", "/echo", ["Content-Encoding: deflate"], body: deflated)
            #expect(answer.status == 200 && answer.text == named.text && !answer.text.isEmpty)
        }
    }

    @Test("is refused when it is broken, cut short, or followed by rubbish") func broken() async throws {
        try await withServer(routes: Self.routes) { server in
            for path in ["/echo", "/count"] {
                for body in [Array(gzipped.dropLast(3)), [1, 2, 3, 4], gzipped + [0x55], deflated + [0]] {
                    let answer = try ask(server, "POST", path, ["Content-Encoding: gzip"], body: body)
                    #expect(answer.status == 400, "\(path) \(body.count)")
                }
                let answer = try ask(server, "POST", path, ["Content-Encoding: deflate"], body: deflated + [0])
                #expect(answer.status == 400)
            }
        }
    }

    @Test("in an unknown coding is refused", arguments: ["br", "zstd", "gzip, gzip", "chunked"])
    func unknown(_ coding: String) async throws {
        try await withServer(routes: Self.routes) { server in
            let answer = try ask(server, "POST", "/echo", ["Content-Encoding: \(coding)"], body: [1, 2])
            #expect(answer.status == 415)
            #expect(answer["Accept-Encoding"] == "gzip, deflate")
        }
    }
}

/// Sends a request on its own connection.
private func ask(
    _ server: Fixture, _ method: String, _ target: String, _ headers: [String], body: [UInt8]
) throws -> Wire.Answer {
    try server.wire().ask(method, target, headers, body: body)
}
