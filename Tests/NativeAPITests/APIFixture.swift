import ChatCore
import ChatModel
import ChatSupport
import LongPolling
import HTTPClient
import HTTPServer
import HTTPSupport
import InboundHooks
import JSON
import Signing
import SQLiteEngine
import Testing
import TestSupport
import Webhooks

@testable import NativeAPI

/// The native API over a store in memory, called without a socket, with an admin key of the first app.
struct APIFixture: Sendable {
    let service: ChatService
    let loop: Loop
    let router: Router
    let api: NativeAPI
    let clock: ManualClock
    let app: AppRecord
    let adminKey: String

    /// Starts all parts, runs `body` and stops them.
    static func run(
        limits: Limits = Limits(), clock: any Clock<Duration> = ContinuousClock(),
        publicURL: String = "https://gw.example",
        _ body: @escaping @Sendable (APIFixture) async throws -> Void
    ) async throws {
        let time = ManualClock(.ticksPerReading(10))
        try await withLoop { loop in
            let engine = try await SQLiteEngine(
                SQLiteEngineSettings(path: ":memory:", limits: limits, clock: time.wallClock, logger: ChatFixture.quiet)
            )
            let chat = try await ChatFixture(
                on: engine, limits: limits, clock: time.wallClock, apps: ["default"], executor: loop)
            let (service, client) = (chat.service, try Client())
            let webhooks = WebhookService(service: service, client: client, logger: ChatFixture.quiet)
            let inbound = InboundService(service: service, logger: ChatFixture.quiet)
            let api = NativeAPI(
                service: service, webhooks: webhooks, inbound: inbound, publicURL: publicURL,
                streams: LiveStreams(polls: LongPollTable(service: service, loop: loop)), clock: clock)
            var router = Router(problemBaseURL: "https://gw.example")
            api.addRoutes(to: &router)
            let app = try #require(service.keyring.app(AppID("default")))
            let parts: [ChatFixture.Part] = [
                { try await inbound.run(whenReady: $0) }, { try await webhooks.run(whenReady: $0) },
            ]
            try await chat.run(parts) { [router] in
                try await body(
                    APIFixture(
                        service: service, loop: loop, router: router, api: api, clock: time, app: app,
                        adminKey: ChatFixture.adminKey))
            }
            await client.shutdown()
        }
    }
}

/// One response, with its body parsed if it is JSON.
struct Answer: Sendable {
    var status: Int
    var headers: [(name: String, value: String)]
    var bytes: [UInt8]
    var json: JSONValue?

    var text: String { String(decoding: bytes, as: UTF8.self) }
    subscript(name: String) -> JSONValue? { json?[name] }

    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The problem's short name.
    var code: String? { json?["code"]?.string }
}

extension APIFixture {
    /// Sends a request with a key; nil sends none.
    func call(
        _ method: HTTPMethod, _ target: String, _ body: String = "", key: String?,
        headers: [(name: String, value: String)] = [], from address: RemoteAddress = .loopback
    ) async -> Answer {
        await call(method, target, Array(body.utf8), key: key, headers: headers, from: address)
    }

    func call(
        _ method: HTTPMethod, _ target: String, _ body: [UInt8], key: String?,
        headers: [(name: String, value: String)] = [], from address: RemoteAddress = .loopback
    ) async -> Answer {
        let credential = key.map { [(name: "Authorization", value: "Bearer \($0)")] } ?? []
        let request = Request(
            method, target, headers: Headers(credential + headers), body: body, remoteAddress: address)
        let response = await router.respond(to: request)
        let bytes: [UInt8] =
            switch response.body {
            case .bytes(let bytes): bytes
            case .fixed(let bytes): Array(bytes.buffer)
            case .empty, .pieces, .stream, .deferred: []
            }
        return Answer(
            status: response.status, headers: response.headers, bytes: bytes,
            // Text responses are not JSON; their tests read the bytes.
            json: try? JSONDocument(bytes).root)
    }

    /// Sends a request with the admin's key.
    func call(
        _ method: HTTPMethod, _ target: String, _ body: String = "", headers: [(name: String, value: String)] = []
    ) async -> Answer {
        await call(method, target, body, key: adminKey, headers: headers)
    }

    /// Creates a key and returns its text.
    func key(
        _ scopes: Scopes, channels: [String] = ["*"], types: [String] = ["*"], expires: Timetoken? = nil
    ) async throws -> String {
        let admin = try #require(service.keyring.caller(of: Secret(text: adminKey)))
        return try await service.keyring.issueKey(
            name: "test", scopes: scopes, channels: channels.compactMap { NamePattern($0) },
            types: types.compactMap { NamePattern($0) }, expires: expires, by: admin
        ).text
    }

    /// The list of a webhook's deliveries, once it has one: the planner runs beside the requests.
    func firstDelivery(of webhook: String) async -> Answer {
        await answer(to: "/v1/deliveries?subscriber=\(webhook)") { $0["data"]?.count != 0 }
    }

    /// Repeats an admin's request until the response is the wanted one, and returns the last response.
    func answer(
        to target: String, sourceLocation: SourceLocation = #_sourceLocation, when isWanted: (Answer) -> Bool
    ) async -> Answer {
        var answer = await call(.get, target)
        await waitUntil(sourceLocation: sourceLocation) {
            if isWanted(answer) { return true }
            answer = await call(.get, target)
            return isWanted(answer)
        }
        return answer
    }

    /// Every kept event of a channel, as envelopes.
    func history(_ channel: String) async -> [JSONValue] {
        await call(.get, "/v1/channels/\(channel)/events?limit=250")["data"]?.elements ?? []
    }
}

/// `PATCH` of records by RFC 7396. `JSONMergingTests` holds that standard's table.
@Suite("Merge patches of records", .timeLimit(.minutes(2))) struct MergePatchTests {
    @Test(
        "merge custom values at every depth in a PATCH, and replace them in a PUT",
        arguments: ["/v1/users/eve", "/v1/channels/hall", "/v1/channels/room/members/eve"])
    func merging(_ address: String) async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/channels/room", #"{"kind":"group"}"#)
            let kind = address == "/v1/channels/hall" ? #""kind":"group","# : ""
            _ = await api.call(.put, address, "{\(kind)" + #""custom":{"a":1.50,"b":{"c":1,"d":[1]},"e":2}}"#)
            let merged = await api.call(.patch, address, #"{"custom":{"b":{"c":null,"f":true},"e":null}}"#)
            #expect(merged.status == 200, "\(merged.text)")
            #expect(merged.raw("custom") == #"{"a":1.50,"b":{"d":[1],"f":true}}"#)
            let large = await api.call(
                .patch, address, #"{"custom":{"g":"\#(String(repeating: "x", count: 16_360))"}}"#)
            #expect(large.status == 413, "the sum is too large: \(large.text.prefix(200))")
            let replaced = await api.call(.put, address, "{\(kind)" + #""custom":{"h":null}}"#)
            #expect(replaced.raw("custom") == #"{"h":null}"#)
            #expect(await api.call(.patch, address, #"{"custom":null}"#).raw("custom") == "null")
        }
    }

    @Test("merge a user's metadata and a channel's data")
    func mergingOthers() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/users/eve", #"{"metadata":{"a":"1","b":"2"}}"#)
            let user = await api.call(.patch, "/v1/users/eve", #"{"metadata":{"a":null,"c":"3"}}"#)
            #expect(user["metadata"]?["a"] == nil && user["metadata"]?["b"]?.string == "2")
            #expect(user["metadata"]?["c"]?.string == "3")
            let refused = await api.call(.put, "/v1/users/eve", #"{"metadata":{"a":null}}"#)
            #expect(refused.code == "wrong_type" && refused["errors"]?[0]?["pointer"]?.string == "#/metadata/a")
            _ = await api.call(.put, "/v1/channels/hall", #"{"kind":"group","data":{"a":{"b":1}}}"#)
            let hall = await api.call(.patch, "/v1/channels/hall", #"{"data":{"a":{"b":null},"c":[null]}}"#)
            #expect(hall.raw("data") == #"{"a":{},"c":[null]}"#)
            #expect(await api.call(.patch, "/v1/channels/hall", #"{"data":[1]}"#).raw("data") == "[1]")
        }
    }
}

extension Answer {
    /// A member's bytes as text.
    fileprivate func raw(_ name: String) -> String? { JSONText(trusted: bytes).rawMember(name)?.description }
}

@Suite("The same mistake") struct SameMistakeTests {
    /// A route, and a request that is valid except for one required member, if there is one.
    private static let routes: [(method: HTTPMethod, path: String, needs: String?)] = [
        (.post, "/v1/channels/a/messages", "{}"), (.post, "/v1/channels/a/events", "{}"),
        (.post, "/v1/channels/a/signals", "{}"), (.post, "/v1/channels/a/fire", "{}"),
        (.post, "/v1/events", #"{"channel":"a"}"#), (.post, "/v1/events/batch", "{}"),
        (.post, "/v1/events/validate", #"{"type":"t"}"#), (.post, "/v1/history", "{}"),
        (.put, "/v1/event-types/u", nil), (.post, "/v1/event-types/t/versions", "{}"),
        (.post, "/v1/event-types/t/validate", "{}"), (.post, "/v1/event-types/t/infer", nil),
        (.put, "/v1/event-types/t/candidate", "{}"), (.post, "/v1/event-types/t/candidate/promote", nil),
        (.post, "/v1/stream-tickets", nil), (.post, "/v1/keys", nil), (.post, "/v1/apps", "{}"),
        (.patch, "/v1/apps/default", nil),
    ]

    @Test(
        "has the same code on every route",
        arguments: [
            (#"{"no_such_member":1}"#, "unknown_member"), ("[]", "wrong_type"), (#"{"a":"#, "malformed_request"),
            (#"{"a":1,"a":2}"#, "duplicate_name"),
        ])
    func codes(_ body: String, _ code: String) async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/event-types/t", "{}")
            for route in Self.routes {
                let answer = await api.call(route.method, route.path, body)
                #expect(answer.status == 400 && answer.code == code, "\(route.method) \(route.path)")
            }
        }
    }

    @Test("of a missing member has one code, and that of a mistyped parameter another")
    func missing() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/event-types/t", "{}")
            for route in Self.routes {
                if let body = route.needs {
                    #expect(await api.call(route.method, route.path, body).code == "member_missing", "\(route.path)")
                }
                let query = await api.call(route.method, route.path + "?no_such_parameter=1", "{}")
                // An emit validates its event first, so either error may be reported.
                let codes = route.needs == nil ? ["unknown_parameter"] : ["unknown_parameter", "member_missing"]
                #expect(codes.contains(query.code ?? ""), "\(route.path)")
            }
        }
    }
}
