import ChatCore
import ChatModel
import ChatSupport
import HTTPServer
import JSON
import Locking
import TestSupport
import Testing
import Text

@testable import NativeAPI

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("Probes and metrics") struct OperationTests {
    @Test("/livez and /readyz answer without a key")
    func probes() async throws {
        try await APIFixture.run { api in
            #expect(await api.call(.get, "/livez", key: nil).status == 200)
            let ready = await api.call(.get, "/readyz", key: nil)
            #expect(ready.status == 200)
            #expect(ready["status"]?.string == "ready")
        }
    }

    @Test("/readyz writes at most once a second, however often it is asked")
    func readinessHolds() async throws {
        try await APIFixture.run { api in
            func written() async throws -> Int {
                let request = HistoryRequest(channel: Readiness.channel, limit: 250)
                return try await api.service.engine.log.counts([request])[0]
            }
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<50 { group.addTask { #expect(await api.call(.get, "/readyz", key: nil).status == 200) } }
            }
            let once = try await written()
            #expect(once == 1)
            api.clock.advance(by: .seconds(2))
            #expect(await api.call(.get, "/readyz", key: nil).status == 200)
            let twice = try await written()
            #expect(twice == 2)
        }
    }

    @Test("/readyz is 503 when an event does not come out in time")
    func late() async throws {
        try await APIFixture.run { api in
            // The store never answers, and on this clock a deadline passes at once.
            let stalled = ChatService(
                engine: StalledEngine(real: api.service.engine), clock: api.clock.wallClock, executor: api.loop)
            let (ready, signal) = AsyncStream.makeStream(of: Never.self)
            let running = Task { try await stalled.run { signal.finish() } }
            for await _ in ready {}
            let readiness = Readiness(service: stalled, deadline: .seconds(3), clock: ImpatientClock())
            guard case .notReady(let reason) = await readiness.verdict() else {
                Issue.record("ready although nothing was stored")
                return
            }
            #expect(reason.contains("3 s"))
            running.cancel()
        }
    }

    @Test("/readyz is 503 in time when the store does not return its health", .timeLimit(.minutes(1)))
    func hanging() async throws {
        try await APIFixture.run { api in
            let (probes, gate) = (Observed(0), AsyncSignal())
            let hanging = ChatService(
                engine: StalledEngine(real: api.service.engine) {
                    probes.increment()
                    await gate.wait()
                }, clock: api.clock.wallClock, executor: api.loop)
            let readiness = Readiness(service: hanging, deadline: .seconds(3), clock: ImpatientClock())
            for _ in 0..<3 {
                guard case .notReady = await readiness.verdict() else {
                    Issue.record("ready although the store does not respond")
                    return
                }
            }
            await probes.wait { $0 == 1 }
            gate.send()
        }
    }

    @Test("/readyz is 503 when the store is closed")
    func closed() async throws {
        try await APIFixture.run { api in
            await api.service.engine.close()
            let answer = await api.call(.get, "/readyz", key: nil)
            #expect(answer.status == 503)
            #expect(answer.code == "not_ready")
            #expect(answer.header("Retry-After") != nil)
        }
    }

    @Test("/metrics counts requests by route and class, whatever paths clients make up")
    func metrics() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.post, "/v1/channels/a/events", #"{"data":1}"#)
            _ = await api.call(.post, "/v1/channels/b/events", "nonsense")
            _ = await api.call(.get, "/made/up", key: nil)
            _ = await api.call("BREW", "/made/up/too", key: nil)
            let text = await api.call(.get, "/metrics").text
            let route = #"method="POST",route="/v1/channels/{channel}/events""#
            #expect(text.contains("parley_http_requests_total{\(route),status=\"2xx\"} 1\n"))
            #expect(text.contains("parley_http_requests_total{\(route),status=\"4xx\"} 1\n"))
            #expect(text.contains(#"parley_http_requests_total{method="GET",route="none",status="4xx"} 1"#))
            #expect(text.contains(#"parley_http_requests_total{method="other",route="none",status="4xx"} 1"#))
            #expect(text.contains("parley_http_request_duration_seconds_bucket{\(route),le=\"+Inf\"} 2\n"))
            #expect(text.contains("parley_events_emitted_total 1\n"))
            #expect(text.contains("process_resident_memory_bytes"))
            #expect(!text.contains("made"))
        }
    }

    @Test("/metrics has well-formed lines only, each family once")
    func format() async throws {
        try await APIFixture.run { api in
            let lines = await api.call(.get, "/metrics").text.split(separator: "\n")
            let families = lines.filter { $0.hasPrefix("# TYPE ") }
            #expect(Set(families).count == families.count)
            let sample = /[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? -?[0-9.e+-]+/
            for line in lines where !line.hasPrefix("#") {
                #expect(line.wholeMatch(of: sample) != nil, "\(line)")
            }
        }
    }

    @Test("/metrics is for operators, and for this machine itself")
    func metricsRights() async throws {
        try await APIFixture.run { api in
            let elsewhere = RemoteAddress(.v4(0xC000_0207))
            let manager = try await api.key([.manage])
            let app = await api.call(.post, "/v1/apps", #"{"name":"other"}"#)
            let foreign = try #require(app["admin_key"]?.string)
            func status(_ key: String?, _ headers: [(name: String, value: String)] = []) async -> Int {
                await api.call(.get, "/metrics", key: key, headers: headers, from: elsewhere).status
            }
            #expect(await status(nil) == 401)
            #expect(await status(manager) == 403)
            #expect(await status(foreign) == 403)
            #expect(await status(api.adminKey) == 200)
            // A proxy on this machine need not identify itself.
            #expect(await api.call(.get, "/metrics", key: nil).status == 401)
        }
    }

    @Test("/metrics is open to this machine without signs of a proxy", arguments: ["", "http://127.0.0.1:8080"])
    func metricsHere(_ publicURL: String) async throws {
        try await APIFixture.run(publicURL: publicURL) { api in
            #expect(await api.call(.get, "/metrics", key: nil).status == 200)
            let proxied = await api.call(.get, "/metrics", key: nil, headers: [("X-Forwarded-For", "192.0.2.7")])
            #expect(proxied.status == 401)
            for (host, status) in [("evil.example", 401), ("127.0.0.1.evil.example", 401), ("LOCALHOST:8080", 200)] {
                #expect(await api.call(.get, "/metrics", key: nil, headers: [("Host", host)]).status == status)
            }
        }
    }

    @Test(
        "/metrics takes a key where the public name only begins like this machine's",
        arguments: ["https://localhost-chat.example.com", "https://127.example.org", "http://127.0.0.1.example.org:80"])
    func metricsElsewhere(_ publicURL: String) async throws {
        try await APIFixture.run(publicURL: publicURL) { api in
            #expect(await api.call(.get, "/metrics", key: nil).status == 401)
        }
    }
}

@Suite("Problems") struct ProblemTests {
    @Test("have a page each, at the address their type points at")
    func pages() async throws {
        try await APIFixture.run { api in
            for entry in ProblemCatalogue.entries {
                let answer = await api.call(.get, "/problems/\(entry.code.replacing("_", with: "-"))", key: nil)
                #expect(answer.status == 200)
                #expect(answer.text.contains(entry.title))
                #expect(answer.text.contains("Cause\n\(entry.cause)\n\nRemedy\n\(entry.remedy)\n"))
            }
            #expect(await api.call(.get, "/problems/none", key: nil).status == 404)
            let problem = await api.call(.get, "/v1/keys", key: nil)
            #expect(problem["type"]?.string == "https://gw.example/problems/credential-missing")
        }
    }

    @Test("are listed, all of them")
    func list() async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.get, "/problems", key: nil)
            let codes = answer["data"]?.elements?.compactMap { $0["code"]?.string }
            #expect(codes == ProblemCatalogue.entries.map(\.code).sorted())
            for entry in answer["data"]?.elements ?? [] {
                #expect(entry["cause"]?.string?.isEmpty == false && entry["remedy"]?.string?.isEmpty == false)
                #expect(entry["cause"]?.string != entry["remedy"]?.string)
            }
        }
    }

    @Test("of every code in the sources are listed")
    func codes() throws {
        let top = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources")
        let known = Set(ProblemCatalogue.entries.map(\.code))
        var found: Set<String> = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: top.path) where path.hasSuffix(".swift") {
            // Clients have their own codes for requests that never reached a gateway.
            guard !["Chat/ChatKit", "Chat/ChatRemote"].contains(where: path.hasPrefix) else { continue }
            let text = try String(contentsOf: top.appending(path: path), encoding: .utf8)
            for match in text.matches(of: /(?:slug|code): "([a-z_]+)"/) { found.insert(String(match.1)) }
        }
        #expect(found.count > 80)
        #expect(found.subtracting(known).isEmpty, "\(found.subtracting(known).sorted())")
    }

    @Test(
        "point at the member that is refused, with one code",
        arguments: [
            ("PUT", "/v1/users/ana", #"{"name":"LONG"}"#, "bad_member", "#/name"),
            ("PUT", "/v1/users/ana", #"{"email":"LONG"}"#, "bad_member", "#/email"),
            ("POST", "/v1/channels/a/messages", #"{"text":"x","user":"$a"}"#, "bad_member", "#/user"),
            ("POST", "/v1/channels/a/events", #"{"type":"a b","data":1}"#, "bad_member", "#/type"),
            ("POST", "/v1/apps", #"{"name":""}"#, "bad_member", "#/name"),
            ("PUT", "/v1/channels/a/restrictions/ana", "{}", "bad_member", "#"),
            ("POST", "/v1/channels", #"{"kind":"public","id":"a*"}"#, "bad_member", "#/id"),
            ("POST", "/v1/subscriptions", #"{"filter":"data.x >"}"#, "bad_filter", "#/filter"),
            ("POST", "/v1/webhooks", #"{"url":"https://a.example","filter":"data.x >"}"#, "bad_filter", "#/filter"),
            ("POST", "/v1/deliveries/purge", #"{"filter":"data.x >"}"#, "bad_filter", "#/filter"),
        ])
    func pointers(_ method: String, _ path: String, _ body: String, _ code: String, _ pointer: String) async throws {
        try await APIFixture.run { api in
            let text = body.replacing("LONG", with: String(repeating: "x", count: 3000))
            let answer = await api.call(HTTPMethod(rawValue: method), path, text)
            #expect(answer.status == 400)
            #expect(answer.code == code)
            #expect(answer["errors"]?.elements?.first?["pointer"]?.string == pointer)
        }
    }

    @Test("point at the member of an event in a batch")
    func batchPointer() async throws {
        try await APIFixture.run { api in
            let answer = await api.call(
                .post, "/v1/events/batch", #"{"events":[{"channel":"a","data":1},{"channel":"a*","data":1}]}"#)
            #expect(answer.code == "bad_member")
            #expect(answer["errors"]?.elements?.first?["pointer"]?.string == "#/events/1/channel")
        }
    }

    @Test("carry the request's id")
    func requestID() async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.get, "/v1/keys", key: nil, headers: [("X-Request-Id", "abc-1")])
            #expect(answer.header("X-Request-Id") == "abc-1")
            #expect(answer["request_id"]?.string == "abc-1")
            #expect(answer["instance"] == nil, "a link that leads nowhere")
        }
    }

    @Test("exist for every code, with the status of the catalogue", arguments: ChatError.Code.allCases)
    func codes(_ code: ChatError.Code) {
        let problem = Problem(ChatError(code, "detail"))
        let entry = ProblemCatalogue.entries.first { $0.code == problem.code }
        #expect(entry?.status == problem.status)
        #expect(problem.detail == "detail")
        #expect(
            problem.headers.contains { $0.name == "Retry-After" } == (problem.status == 503 || problem.status == 429))
    }

    @Test("round the time to wait up to whole seconds")
    func retryAfter() {
        let problem = Problem(ChatError(.overloaded, "", retryAfter: .milliseconds(1200)))
        #expect(problem.headers.first?.value == "2")
    }
}

extension ProblemTests {
    /// Every code that a module gives to an error or a problem.
    private static func names() throws -> Set<String> {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources")
        var names: Set<String> = []
        let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path)
        // The codes of the Swift library are not problems of the gateway.
        for file in files
        where file.hasSuffix(".swift")
            && !["Chat/ChatKit/", "Chat/ChatRemote/"].contains(where: { file.hasPrefix($0) })
        {
            let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
            for match in text.matches(of: /(?:slug|code): "([a-z_]+)"/) { names.insert(String(match.1)) }
        }
        return names
    }

    @Test("are all in the catalogue")
    func catalogue() throws {
        let listed = Set(ProblemCatalogue.entries.map(\.code))
        #expect(try Self.names().subtracting(listed).isEmpty)
    }
}

@Suite("Timestamps") struct TimestampTests {
    @Test(
        "are read as RFC 3339",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2023-11-14T22:13:20Z", 17_000_000_000_000_000),
            ("2023-11-14T23:13:20+01:00", 17_000_000_000_000_000),
            ("2023-11-14t16:43:20.5-05:30", 17_000_000_005_000_000),
            ("2024-11-24T01:39:05.678901299Z", 17_324_123_456_789_012),
            ("2024-02-29T00:00:00Z", 17_091_648_000_000_000), ("2016-12-31T23:59:60Z", 14_832_288_000_000_000),
        ] as [(String, UInt64)])
    func reading(_ text: String, _ ticks: UInt64) {
        #expect(Timestamp.read(text) == Timetoken(ticks))
    }

    @Test("read back what is printed")
    func roundTrip() {
        let moment = Timetoken(17_324_123_456_789_010)
        #expect(Timestamp.read(moment.timestamp) == moment)
    }

    @Test(
        "that are invalid are refused",
        arguments: [
            "", "2023-11-14", "2023-11-14T22:13:20", "2023-13-14T22:13:20Z", "2023-02-29T22:13:20Z",
            "2023-11-14T24:13:20Z", "2023-11-14T22:13:20.Z", "2023-11-14T22:13:20Zx", "1969-12-31T23:59:59Z",
            "2023-11-14T22:13:20+1:00", "２０23-11-14T22:13:20Z",
        ])
    func refused(_ text: String) { #expect(Timestamp.read(text) == nil) }

    @Test("as positions in the log are timetokens of 17 digits, or before every event")
    func positions() {
        for early in ["0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2000-01-01T00:00:00Z", "00000000000000005"] {
            #expect(Timetoken(position: early) == .zero, "\(early)")
        }
        #expect(Timetoken(position: "1969-12-32T23:59:59Z") == nil)
        #expect(Timetoken(position: "2001-09-09T01:46:40Z")?.description == "10000000000000000")
        #expect(Timetoken(position: "9999-12-31T23:59:59Z")?.description == String(repeating: "9", count: 17))
    }
}
