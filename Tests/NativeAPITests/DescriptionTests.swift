import ChatCore
import HTTPServer
import JSON
import Testing
import YAML

@testable import NativeAPI

@Suite("openapi.yaml") struct DescriptionTests {
    /// An operation as `METHOD /path`.
    private static func name(_ method: String, _ path: String) -> String { method.uppercased() + " " + path }

    @Test("is what the program serves")
    func embedded() async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.get, "/openapi.yaml", key: nil)
            #expect(answer.header("Content-Type") == "application/yaml")
            let file = try Description.text()
            #expect(answer.text == file)
        }
    }

    @Test("describes every route, and nothing else")
    func routes() async throws {
        try await APIFixture.run { api in
            let description = try Description()
            let routes = api.router.routes.map { Self.name($0.method.rawValue, $0.pattern.description) }
            let operations = description.operations.map { Self.name($0.method, $0.path) }
            #expect(Set(routes).subtracting(operations).isEmpty, "routes without an operation")
            #expect(Set(operations).subtracting(routes).isEmpty, "operations without a route")
        }
    }

    @Test("has an id, a tag, a summary and answers for every operation, and for each a problem where a key is needed")
    func completeness() throws {
        let description = try Description()
        var ids: Set<String> = []
        for operation in description.operations {
            let name = Self.name(operation.method, operation.path)
            let id = operation.node["operationId"]?.string ?? ""
            #expect(ids.insert(id).inserted, "\(name)")
            #expect(operation.node["summary"]?.string != nil, "\(name)")
            #expect(operation.node["tags"]?.sequence?.count == 1, "\(name)")
            let isOpen = operation.node["security"]?.sequence?.isEmpty == true
            #expect(isOpen || operation.response(401) != nil, "\(name)")
            let hasParameters = operation.path.contains("{")
            #expect(
                !hasParameters || description.parameters(of: operation).contains { $0["in"]?.string == "path" },
                "\(name)")
        }
    }

    @Test("has no dangling reference")
    func references() throws {
        let description = try Description()
        for reference in description.references {
            #expect(description.resolve(reference) != nil, "\(reference)")
        }
    }

    /// One exchange for (nearly) every operation. Later requests contain the ids that earlier ones created.
    private struct Exchange {
        var method: HTTPMethod
        var target: String
        var body = ""
        var path: String
        var keeps: String?
        var headers: [(name: String, value: String)] = []

        init(
            _ method: HTTPMethod, _ target: String, _ body: String = "", as path: String, keeps: String? = nil,
            headers: [(name: String, value: String)] = []
        ) {
            self.method = method
            self.target = target
            self.body = body
            self.path = path
            self.keeps = keeps
            self.headers = headers
        }
    }

    private static let mapping = #"{"channel":"c","type":"t","data":{"$":"body"}}"#
    private static let cloudEvents: [(name: String, value: String)] = [("Content-Type", "application/cloudevents+json")]

    private static let exchanges: [Exchange] = [
        Exchange(.post, "/v1/channels/a/messages", #"{"text":"x","user":"u"}"#, as: "/v1/channels/{channel}/messages"),
        Exchange(
            .post, "/v1/channels/a/events", #"{"data":1,"meta":{}}"#, as: "/v1/channels/{channel}/events",
            keeps: "event"),
        Exchange(.post, "/v1/channels/a/events?dry_run=true", #"{"data":1}"#, as: "/v1/channels/{channel}/events"),
        Exchange(.post, "/v1/channels/a/events", "{", as: "/v1/channels/{channel}/events"),
        Exchange(.post, "/v1/channels/a/events", #"{"data":1,"x":1}"#, as: "/v1/channels/{channel}/events"),
        Exchange(.post, "/v1/channels/a/signals", #"{"data":1}"#, as: "/v1/channels/{channel}/signals"),
        Exchange(.post, "/v1/channels/a/fire", #"{"data":1}"#, as: "/v1/channels/{channel}/fire"),
        Exchange(.post, "/v1/events", #"{"channels":["a"],"data":1}"#, as: "/v1/events"),
        Exchange(
            .post, "/v1/events?channel=a", #"{"specversion":"1.0","id":"1","source":"s","type":"t"}"#, as: "/v1/events",
            headers: cloudEvents),
        Exchange(
            .post, "/v1/events/batch", #"{"mode":"each","events":[{"channel":"a","data":1},{"channel":""}]}"#,
            as: "/v1/events/batch"),
        Exchange(
            .post, "/v1/events/batch?dry_run=true", #"{"events":[{"channel":"a","data":1}]}"#, as: "/v1/events/batch"),
        Exchange(
            .post, "/v1/import",
            #"{"records":[{"record":"user","id":"u"},{"record":"message","channel":"a","timetoken":"1","data":1},{"record":"group"}]}"#,
            as: "/v1/import"),
        Exchange(.post, "/v1/events/validate", #"{"channel":"a","type":"","data":1}"#, as: "/v1/events/validate"),
        Exchange(.get, "/v1/channels/a/events?limit=2", as: "/v1/channels/{channel}/events"),
        Exchange(
            .put, "/v1/channels/a/presence/u", #"{"state":{"a":1}}"#, as: "/v1/channels/{channel}/presence/{user}"),
        Exchange(.get, "/v1/channels/a/presence", as: "/v1/channels/{channel}/presence"),
        Exchange(.get, "/v1/channels/a/presence/u", as: "/v1/channels/{channel}/presence/{user}"),
        Exchange(.get, "/v1/channels/a/presence/u/state", as: "/v1/channels/{channel}/presence/{user}/state"),
        Exchange(.get, "/v1/users/u/presence", as: "/v1/users/{user}/presence"),
        Exchange(.get, "/v1/channels/none/participants", as: "/v1/channels/{channel}/participants"),
        Exchange(.put, "/v1/channels/none/participants/u", as: "/v1/channels/{channel}/participants/{user}"),
        Exchange(.put, "/v1/channels/a/typing/u", as: "/v1/channels/{channel}/typing/{user}"),
        Exchange(.get, "/v1/channels/a/typing", as: "/v1/channels/{channel}/typing"),
        Exchange(.get, "/v1/channels/a/events/count", as: "/v1/channels/{channel}/events/count"),
        Exchange(.post, "/v1/history", #"{"channels":["a"]}"#, as: "/v1/history"),
        Exchange(.get, "/v1/events/EVENT", as: "/v1/events/{id}"),
        Exchange(.get, "/v1/events/EVENT/explain", as: "/v1/events/{id}/explain"),
        Exchange(.get, "/v1/poll?channel=a", as: "/v1/poll"),
        Exchange(.get, "/v1/streams", as: "/v1/streams"),
        Exchange(.post, "/v1/stream-tickets", #"{"channels":["a"]}"#, as: "/v1/stream-tickets"),
        Exchange(.get, "/v1/session", as: "/v1/session"),
        Exchange(.post, "/v1/session", #"{"key":"wrong"}"#, as: "/v1/session"),
        Exchange(.delete, "/v1/session", as: "/v1/session"),
        Exchange(.post, "/v1/keys", #"{"scopes":["read"]}"#, as: "/v1/keys", keeps: "key"),
        Exchange(.get, "/v1/keys", as: "/v1/keys"),
        Exchange(.get, "/v1/keys/KEY", as: "/v1/keys/{id}"),
        Exchange(.delete, "/v1/keys/KEY", as: "/v1/keys/{id}"),
        Exchange(.post, "/v1/apps", #"{"name":"x"}"#, as: "/v1/apps", keeps: "app"),
        Exchange(.get, "/v1/apps", as: "/v1/apps"),
        Exchange(.get, "/v1/apps/default", as: "/v1/apps/{id}"),
        Exchange(.delete, "/v1/apps/APP", as: "/v1/apps/{id}"),
        Exchange(.post, "/v1/webhooks", #"{"url":"https://example.com/x"}"#, as: "/v1/webhooks", keeps: "webhook"),
        Exchange(.get, "/v1/webhooks", as: "/v1/webhooks"),
        Exchange(.get, "/v1/webhooks/WEBHOOK", as: "/v1/webhooks/{id}"),
        Exchange(.patch, "/v1/webhooks/WEBHOOK", #"{"description":"x"}"#, as: "/v1/webhooks/{id}"),
        Exchange(.post, "/v1/webhooks/WEBHOOK/disable", as: "/v1/webhooks/{id}/disable"),
        Exchange(.post, "/v1/webhooks/WEBHOOK/enable", as: "/v1/webhooks/{id}/enable"),
        Exchange(.post, "/v1/signing-key/rotate", #"{"overlap_seconds":60}"#, as: "/v1/signing-key/rotate"),
        Exchange(.post, "/v1/webhooks/WEBHOOK/rotate-secret", as: "/v1/webhooks/{id}/rotate-secret"),
        Exchange(.get, "/v1/webhooks/WEBHOOK", as: "/v1/webhooks/{id}"),
        Exchange(.get, "/v1/webhooks/WEBHOOK/stats", as: "/v1/webhooks/{id}/stats"),
        Exchange(
            .post, "/v1/webhooks/WEBHOOK/replay", #"{"only":"all","dry_run":true}"#, as: "/v1/webhooks/{id}/replay"),
        Exchange(.post, "/v1/webhooks/WEBHOOK/replay", "{}", as: "/v1/webhooks/{id}/replay"),
        Exchange(.post, "/v1/deliveries/redrive", #"{"types":["a.*"]}"#, as: "/v1/deliveries/redrive"),
        Exchange(.post, "/v1/deliveries/purge", #"{"all":true}"#, as: "/v1/deliveries/purge"),
        Exchange(.get, "/v1/jobs", as: "/v1/jobs"),
        Exchange(.get, "/v1/jobs/none", as: "/v1/jobs/{id}"),
        Exchange(.post, "/v1/jobs/none/pause", as: "/v1/jobs/{id}/pause"),
        Exchange(.delete, "/v1/webhooks/WEBHOOK", as: "/v1/webhooks/{id}"),
        Exchange(.get, "/v1/deliveries?status=dead&status=held&order=asc", as: "/v1/deliveries"),
        Exchange(.get, "/v1/deliveries/none", as: "/v1/deliveries/{id}"),
        Exchange(.put, "/v1/sources/s", #"{"scheme":"none","mapping":\#(mapping)}"#, as: "/v1/sources/{id}"),
        Exchange(.get, "/v1/sources", as: "/v1/sources"),
        Exchange(.get, "/v1/sources/s", as: "/v1/sources/{id}"),
        Exchange(.patch, "/v1/sources/s", #"{"description":"x"}"#, as: "/v1/sources/{id}"),
        Exchange(.post, "/v1/sources/s/test", #"{"body":"{}"}"#, as: "/v1/sources/{id}/test"),
        Exchange(.post, "/in/s", "{}", as: "/in/{source}"),
        Exchange(.post, "/in/default/s", "{}", as: "/in/{app}/{source}"),
        Exchange(.delete, "/v1/sources/s", as: "/v1/sources/{id}"),
        Exchange(.delete, "/v1/channels/a/events?all=true", as: "/v1/channels/{channel}/events"),
        Exchange(.put, "/v1/event-types/order.paid", #"{"mode":"warn"}"#, as: "/v1/event-types/{type}"),
        Exchange(.put, "/v1/event-types/order.paid", as: "/v1/event-types/{type}"),
        Exchange(.put, "/v1/event-types/order.paid", "{}", as: "/v1/event-types/{type}"),
        Exchange(.patch, "/v1/event-types/order.paid", #"{"mode":null}"#, as: "/v1/event-types/{type}"),
        Exchange(.put, "/v1/event-types/message.created", "{}", as: "/v1/event-types/{type}"),
        Exchange(.get, "/v1/event-types?limit=250", as: "/v1/event-types"),
        Exchange(.get, "/v1/event-types/order.paid", as: "/v1/event-types/{type}"),
        Exchange(
            .post, "/v1/event-types/order.paid/versions",
            #"{"schema":{"type":"object","properties":{"amount":{"type":"integer"}}},"examples":[{"amount":1}]}"#,
            as: "/v1/event-types/{type}/versions"),
        Exchange(
            .post, "/v1/event-types/order.paid/versions", #"{"schema":{"type":"string"}}"#,
            as: "/v1/event-types/{type}/versions"),
        Exchange(
            .post, "/v1/event-types/order.paid/versions", #"{"schema":{"type":"strin"}}"#,
            as: "/v1/event-types/{type}/versions"),
        Exchange(.get, "/v1/event-types/order.paid/versions", as: "/v1/event-types/{type}/versions"),
        Exchange(.get, "/v1/event-types/order.paid/versions/1", as: "/v1/event-types/{type}/versions/{version}"),
        Exchange(
            .get, "/v1/event-types/order.paid/versions/1", as: "/v1/event-types/{type}/versions/{version}",
            headers: [("Accept", "application/schema+json")]),
        Exchange(
            .post, "/v1/event-types/order.paid/validate", #"{"data":{"amount":"1"},"output":"basic"}"#,
            as: "/v1/event-types/{type}/validate"),
        Exchange(
            .post, "/v1/channels/a/events", #"{"type":"order.paid","data":{"amount":"1"}}"#,
            as: "/v1/channels/{channel}/events"),
        Exchange(
            .post, "/v1/channels/a/events?dry_run=true", #"{"type":"order.paid","data":{"amount":1}}"#,
            as: "/v1/channels/{channel}/events"),
        Exchange(
            .put, "/v1/event-types/order.paid/candidate", #"{"schema":{"required":["currency"]}}"#,
            as: "/v1/event-types/{type}/candidate"),
        Exchange(
            .post, "/v1/channels/a/events", #"{"type":"order.paid","data":{"amount":1}}"#,
            as: "/v1/channels/{channel}/events", keeps: "event"),
        Exchange(.get, "/v1/events/EVENT", as: "/v1/events/{id}"),
        Exchange(.get, "/v1/events/EVENT/explain", as: "/v1/events/{id}/explain"),
        Exchange(.get, "/v1/event-types/order.paid/candidate", as: "/v1/event-types/{type}/candidate"),
        Exchange(
            .post, "/v1/event-types/order.paid/candidate/promote", #"{"force":"agreed with all shops"}"#,
            as: "/v1/event-types/{type}/candidate/promote"),
        Exchange(.delete, "/v1/event-types/order.paid/candidate", as: "/v1/event-types/{type}/candidate"),
        Exchange(.post, "/v1/event-types/order.paid/infer", #"{"last":5}"#, as: "/v1/event-types/{type}/infer"),
        Exchange(.get, "/v1/asyncapi.json", as: "/v1/asyncapi.json"),
        Exchange(.delete, "/v1/event-types/order.paid", as: "/v1/event-types/{type}"),
        Exchange(.patch, "/v1/apps/default", #"{"require_declared_types":true}"#, as: "/v1/apps/{id}"),
        Exchange(
            .post, "/v1/channels/a/events", #"{"type":"unheard.of","data":1}"#, as: "/v1/channels/{channel}/events"),
        Exchange(.put, "/v1/users/ana", #"{"name":"Ana","custom":{"x":1.0}}"#, as: "/v1/users/{user}"),
        Exchange(.put, "/v1/users/ana", #"{"metadata":{"a":"b"}}"#, as: "/v1/users/{user}"),
        Exchange(.patch, "/v1/users/ana", #"{"name":7}"#, as: "/v1/users/{user}"),
        Exchange(.patch, "/v1/users/ana", #"{"name":"A"}"#, as: "/v1/users/{user}"),
        Exchange(.get, "/v1/users/ana", as: "/v1/users/{user}"),
        Exchange(.get, "/v1/users?filter=name%20LIKE%20'A*'&sort=name:desc&total=true", as: "/v1/users"),
        Exchange(.put, "/v1/users/ana/blocks/eve", as: "/v1/users/{user}/blocks/{other}"),
        Exchange(.get, "/v1/users/ana/blocks", as: "/v1/users/{user}/blocks"),
        Exchange(.delete, "/v1/users/ana/blocks/eve", as: "/v1/users/{user}/blocks/{other}"),
        Exchange(.post, "/v1/channels", #"{"kind":"direct","users":["ana","ben"]}"#, as: "/v1/channels"),
        Exchange(.post, "/v1/channels", #"{"kind":"direct","users":["ana","ben"]}"#, as: "/v1/channels"),
        Exchange(.put, "/v1/channels/crew", #"{"kind":"group","by":"ana"}"#, as: "/v1/channels/{channel}"),
        Exchange(.put, "/v1/channels/crew", #"{"kind":"open"}"#, as: "/v1/channels/{channel}"),
        Exchange(.patch, "/v1/channels/crew", #"{"data":[1]}"#, as: "/v1/channels/{channel}"),
        Exchange(.get, "/v1/channels/crew", as: "/v1/channels/{channel}"),
        Exchange(.get, "/v1/channels?total=true", as: "/v1/channels"),
        Exchange(.post, "/v1/channels/crew/invites", #"{"users":["ben","eve"]}"#, as: "/v1/channels/{channel}/invites"),
        Exchange(
            .post, "/v1/channels/crew/invites/ben/accept", as: "/v1/channels/{channel}/invites/{user}/accept"),
        Exchange(
            .post, "/v1/channels/crew/invites/eve/decline", as: "/v1/channels/{channel}/invites/{user}/decline"),
        Exchange(.get, "/v1/channels/crew/members", as: "/v1/channels/{channel}/members"),
        Exchange(.put, "/v1/channels/crew/members/eve", "{}", as: "/v1/channels/{channel}/members/{user}"),
        Exchange(
            .patch, "/v1/channels/crew/members/eve", #"{"status":"x"}"#, as: "/v1/channels/{channel}/members/{user}"),
        Exchange(.get, "/v1/channels/crew/members/eve", as: "/v1/channels/{channel}/members/{user}"),
        Exchange(.put, "/v1/channels/crew/members/eve/hidden", as: "/v1/channels/{channel}/members/{user}/hidden"),
        Exchange(.delete, "/v1/channels/crew/members/eve/hidden", as: "/v1/channels/{channel}/members/{user}/hidden"),
        Exchange(.put, "/v1/channels/crew/operators/eve", as: "/v1/channels/{channel}/operators/{user}"),
        Exchange(.delete, "/v1/channels/crew/operators/eve", as: "/v1/channels/{channel}/operators/{user}"),
        Exchange(.get, "/v1/users/eve/memberships", as: "/v1/users/{user}/memberships"),
        Exchange(.delete, "/v1/channels/crew/members/eve?reason=x", as: "/v1/channels/{channel}/members/{user}"),
        Exchange(.delete, "/v1/channels/crew", as: "/v1/channels/{channel}"),
        Exchange(.delete, "/v1/users/ana", as: "/v1/users/{user}"),
        Exchange(.put, "/v1/channel-groups/news", #"{"channels":["a"]}"#, as: "/v1/channel-groups/{group}"),
        Exchange(.patch, "/v1/channel-groups/news", #"{"channels":["b"]}"#, as: "/v1/channel-groups/{group}"),
        Exchange(
            .post, "/v1/channel-groups/news/channels", #"{"add":["a"]}"#, as: "/v1/channel-groups/{group}/channels"),
        Exchange(.get, "/v1/channel-groups/news", as: "/v1/channel-groups/{group}"),
        Exchange(.get, "/v1/channel-groups", as: "/v1/channel-groups"),
        Exchange(.delete, "/v1/channel-groups/news", as: "/v1/channel-groups/{group}"),
        Exchange(.get, "/livez", as: "/livez"),
        Exchange(.get, "/readyz", as: "/readyz"),
    ]

    @Test("declares the status and every member of what is answered")
    func answers() async throws {
        try await APIFixture.run { api in
            let description = try Description()
            var made: [String: String] = [:]
            for exchange in Self.exchanges {
                let target = made.reduce(exchange.target) { $0.replacing($1.key.uppercased(), with: $1.value) }
                let answer = await api.call(exchange.method, target, exchange.body, headers: exchange.headers)
                if let name = exchange.keeps { made[name] = answer["id"]?.string }
                let problems = description.check(answer, to: exchange.method.rawValue.lowercased(), exchange.path)
                #expect(problems.isEmpty, "\(exchange.method) \(target) \(answer.status): \(problems)")
            }
        }
    }

    @Test("declares the members of a delivery")
    func deliveries() async throws {
        try await APIFixture.run { api in
            let description = try Description()
            _ = await api.call(.post, "/v1/webhooks", #"{"url":"https://example.com/hook"}"#)
            let id = try #require(await api.call(.get, "/v1/webhooks")["data"]?[0]?["id"]?.string)
            _ = await api.call(.post, "/v1/webhooks/\(id)/disable")
            _ = await api.call(.post, "/v1/channels/a/events", #"{"data":1}"#)
            let list = await api.firstDelivery(of: id)
            #expect(description.check(list, to: "get", "/v1/deliveries").isEmpty)
            let delivery = try #require(list["data"]?[0]?["id"]?.string)
            let one = await api.call(.get, "/v1/deliveries/\(delivery)")
            #expect(description.check(one, to: "get", "/v1/deliveries/{id}").isEmpty)
        }
    }
}
