import ChatCore
import ChatModel
import ChatSupport
import Following
import HTTPClient
import HTTPServer
import HTTPSupport
import InboundHooks
import JSON
import SQLiteEngine
import TestSupport
import Testing
import Webhooks

@testable import NativeAPI

/// The native API over a store in memory, called without a socket; with an admin key of the first app.
struct APIFixture: Sendable {
    let service: ChatService
    let loop: Loop
    let router: Router
    let api: NativeAPI
    let clock: ManualClock
    let app: AppRecord
    let adminKey: String

    /// Runs `body` with everything started, and stops it all.
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

/// One answer, its body parsed when it is JSON.
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
    /// Sends a request as the holder of a key; nil sends none.
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
            case .empty, .pieces, .stream, .late: []
            }
        return Answer(
            status: response.status, headers: response.headers, bytes: bytes,
            // Text answers are no JSON; their tests look at the bytes.
            json: try? JSONDocument(bytes).root)
    }

    /// Sends a request as the admin.
    func call(
        _ method: HTTPMethod, _ target: String, _ body: String = "", headers: [(name: String, value: String)] = []
    ) async -> Answer {
        await call(method, target, body, key: adminKey, headers: headers)
    }

    /// Makes a key and gives its text.
    func key(
        _ scopes: Scopes, channels: [String] = ["*"], types: [String] = ["*"], expires: Timetoken? = nil
    ) async throws -> String {
        let admin = try #require(service.keyring.caller(digest: Keyring.digest(of: adminKey)))
        return try await service.keyring.issueKey(
            name: "test", scopes: scopes, channels: channels.compactMap { NamePattern($0) },
            types: types.compactMap { NamePattern($0) }, expires: expires, by: admin
        ).text
    }

    /// The list of a webhook's deliveries, once there is one: the planner works beside the requests.
    func firstDelivery(of webhook: String) async -> Answer {
        await answer(to: "/v1/deliveries?subscriber=\(webhook)") { $0["data"]?.count != 0 }
    }

    /// Asks the admin's question again until the answer is the wanted one, and returns the last one.
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
