import FoundationEssentials
import HTTPClient
import JSON
import TestSupport
import Testing

@testable import Gateway

@Suite("Traces") struct TraceTests {
    /// Runs a gateway and a client of it until the body returns.
    private static func serving(
        _ change: (inout Configuration) -> Void, _ body: @escaping @Sendable (String, Client) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.listenPort = 0
        configuration.isDevelopment = true
        configuration.dataDirectory = folder.path
        change(&configuration)
        let client = try Client(options: ClientOptions(addressGuard: .disabled))
        let (addresses, signal) = AsyncStream.makeStream(of: String.self)
        try await GatewayServer(configuration).run(
            whenListening: { signal.yield($0) },
            until: {
                for await url in addresses {
                    do { try await body(url, client) } catch { Issue.record(error) }
                    return
                }
            })
        await client.shutdown()
    }

    private static func post(
        _ url: String, _ body: String, _ headers: [OutboundRequest.Field] = [], by client: Client
    ) async -> Int? {
        let fields: [OutboundRequest.Field] = [
            ("authorization", "Bearer dev"), ("content-type", "application/json"),
        ]
        return await client.send(
            OutboundRequest(method: "POST", url: url, headers: fields + headers, body: Array(body.utf8))
        ).status
    }

    private static func spans(_ requests: [ReceivedRequest]) -> [JSONValue] {
        requests.flatMap { request in
            let root = try? JSONDocument(request.body).root
            let scopes = root?["resourceSpans"]?.elements?.flatMap { $0["scopeSpans"]?.elements ?? [] } ?? []
            return scopes.flatMap { $0["spans"]?.elements ?? [] }
        }
    }

    private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test("lead from a post to the attempt that delivers its event, each span below its parent")
    func onePath() async throws {
        let (collector, hook) = (try ScriptedServer { _ in .status(200) }, try ScriptedServer())
        try await Self.serving({ configuration in
            configuration.otlpEndpoint = collector.url("")
            configuration.otlpHeaders = ["x-tenant=acme"]
        }) { url, client in
            #expect(await Self.post(url + "/v1/webhooks", #"{"url":"\#(hook.url())"}"#, by: client) == 201)
            let event = #"{"type":"order.paid","data":{"secret":"not-in-spans"}}"#
            let fields = [(name: "traceparent", value: Self.parent), (name: "tracestate", value: "vendor=1")]
            #expect(await Self.post(url + "/v1/channels/a/events", event, fields, by: client) == 201)
            let delivered = try #require(await hook.requests.wait(count: 1).first)
            #expect(delivered["traceparent"]?.hasPrefix("00-0af7651916cd43dd8448eb211c80319c-") == true)
            #expect(delivered["traceparent"] != Self.parent && delivered["tracestate"] == "vendor=1")
            let posts = await collector.requests.wait {
                Self.spans($0).contains { $0["name"]?.string == "webhook attempt" }
            }
            #expect(posts.allSatisfy { $0.target == "/v1/traces" && $0["x-tenant"] == "acme" })
            #expect(!posts.contains { $0.text.contains("not-in-spans") || $0.text.contains("Bearer") })
            let trace = Self.spans(posts).filter { $0["traceId"]?.string == "0af7651916cd43dd8448eb211c80319c" }
            func span(_ name: String) throws -> JSONValue {
                try #require(trace.first { $0["name"]?.string == name }, "\(name)")
            }
            let request = try span("POST /v1/channels/{channel}/events")
            #expect(request["parentSpanId"]?.string == "b7ad6b7169203331")
            for name in ["schema gate", "store commit", "webhook attempt"] {
                #expect(try span(name)["parentSpanId"]?.string == request["spanId"]?.string)
            }
            let attempt = try span("webhook attempt")
            #expect(attempt["spanId"]?.string == delivered["traceparent"]?.split(separator: "-")[2].description)
            #expect(attempt["traceState"]?.string == "vendor=1")
        }
    }

    @Test("begin with requests that have none, at the configured ratio")
    func sampling() async throws {
        for (ratio, isTraced) in [(1.0, true), (0.0, false)] {
            let (collector, hook) = (try ScriptedServer { _ in .status(200) }, try ScriptedServer())
            try await Self.serving({ configuration in
                configuration.otlpEndpoint = collector.url("/v1/traces")
                configuration.otlpSampleRatio = ratio
            }) { url, client in
                #expect(await Self.post(url + "/v1/webhooks", #"{"url":"\#(hook.url())"}"#, by: client) == 201)
                #expect(await Self.post(url + "/v1/channels/a/messages", #"{"text":"x"}"#, by: client) == 201)
                let delivered = try #require(await hook.requests.wait(count: 1).first)
                #expect(delivered["traceparent"]?.hasSuffix(isTraced ? "-01" : "-00") == true)
            }
            // Waiting spans were sent before the gateway stopped.
            #expect(Self.spans(collector.requests.value).isEmpty != isTraced)
        }
    }

    @Test("are passed on without a collector, and not recorded if their sender does not record them")
    func passedOn() async throws {
        let (collector, hook) = (try ScriptedServer { _ in .status(200) }, try ScriptedServer())
        let unsampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
        for (subscriber, parent) in [("", Self.parent), (collector.url(""), unsampled)] {
            let before = hook.requests.value.count
            try await Self.serving({
                $0.otlpEndpoint = subscriber; $0.otlpSampleRatio = 0
            }) { url, client in
                #expect(await Self.post(url + "/v1/webhooks", #"{"url":"\#(hook.url())"}"#, by: client) == 201)
                let fields = [(name: "traceparent", value: parent)]
                #expect(await Self.post(url + "/v1/channels/a/signals", #"{"data":1}"#, fields, by: client) == 202)
                #expect(
                    await Self.post(url + "/v1/channels/a/messages", #"{"text":"x"}"#, fields, by: client) == 201)
                let delivered = await hook.requests.wait(count: before + 1)
                let field = try #require(delivered.last?["traceparent"])
                #expect(field.hasPrefix("00-0af7651916cd43dd8448eb211c80319c-"))
                #expect(field.hasSuffix(String(parent.suffix(2))))
            }
        }
        #expect(Self.spans(collector.requests.value).isEmpty)
    }

    @Test("refuse a collector, fields or a ratio that cannot be used")
    func settings() throws {
        for (name, value) in [
            ("otlp.endpoint", "collector:4318"), ("otlp.sample_ratio", "2"), ("otlp.headers", "novalue"),
        ] {
            #expect(throws: SettingError.self) {
                try ConfigurationLoader.load(file: nil, environment: [:], flags: [(name, value)])
            }
        }
    }
}
