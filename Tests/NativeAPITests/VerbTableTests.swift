import HTTPServer
import JSON
import Testing
import YAML

@testable import NativeAPI

/// The meaning of the methods, for every resource: `openapi.yaml` declares it and the routes implement it.
@Suite("Verbs", .timeLimit(.minutes(2))) struct VerbTableTests {
    /// A resource with its own address.
    struct Resource: Sendable, CustomTestStringConvertible {
        /// The path as in `openapi.yaml`.
        let path: String
        /// The address of one resource; `{made}` stands for the id that `POST` on `list` returned.
        let address: String
        /// The path where `POST` creates one; nil if a PUT creates it.
        var list: String?
        /// The body that creates one, with members that can be changed.
        let body: String
        let change: String
        /// The members of `body` that a PUT requires.
        var least = "{}"
        var testDescription: String { path }
    }

    private static let mapping = #"{"channel":"c","type":"t","data":{"$":"body"}}"#

    static let resources: [Resource] = [
        Resource(
            path: "/v1/users/{user}", address: "/v1/users/eve",
            body: #"{"name":"Eve","email":"e@example.com","custom":{"a":1.50},"metadata":{"k":"v"}}"#,
            change: #"{"name":"E"}"#),
        Resource(
            path: "/v1/channels/{channel}", address: "/v1/channels/hall",
            body: #"{"kind":"group","name":"Hall","custom":{"a":[1]},"data":{"x":[null]}}"#, change: #"{"name":"H"}"#,
            least: #"{"kind":"group"}"#),
        Resource(
            path: "/v1/channels/{channel}/members/{user}", address: "/v1/channels/room/members/eve",
            body: #"{"status":"a","custom":{"a":1}}"#, change: #"{"status":"b"}"#),
        Resource(
            path: "/v1/channels/{channel}/restrictions/{user}", address: "/v1/channels/room/restrictions/eve",
            body: #"{"ban":true,"reason":"spam","until":"2040-01-01T00:00:00Z"}"#, change: #"{"reason":"rude"}"#,
            least: #"{"mute":true}"#),
        Resource(
            path: "/v1/channels/{channel}/metadata/{key}", address: "/v1/channels/room/metadata/topic",
            body: #"{"value":"tea"}"#, change: #"{"value":"gin"}"#, least: #"{"value":"tea"}"#),
        Resource(
            path: "/v1/channels/{channel}/metacounters/{key}", address: "/v1/channels/room/metacounters/likes",
            body: #"{"value":9007199254740993}"#, change: #"{"value":2}"#, least: #"{"value":1}"#),
        Resource(
            path: "/v1/channel-groups/{group}", address: "/v1/channel-groups/g", body: #"{"channels":["a","b"]}"#,
            change: #"{"channels":["c"]}"#, least: #"{"channels":[]}"#),
        Resource(
            path: "/v1/event-types/{type}", address: "/v1/event-types/order.paid",
            body: #"{"description":"Paid.","owner":"shop","mode":"warn","retention_hours":9}"#,
            change: #"{"owner":"till"}"#),
        Resource(
            path: "/v1/event-types/{type}/candidate", address: "/v1/event-types/order.sent/candidate",
            body: #"{"schema":{"minimum":1}}"#, change: #"{"schema":{"minimum":2}}"#, least: #"{"schema":true}"#),
        Resource(
            path: "/v1/sources/{id}", address: "/v1/sources/s",
            body:
                #"{"scheme":"generic","scheme_options":{"header":"X-Sig"},"secrets":["s3cret"],"window_seconds":60,"description":"d","mapping":\#(mapping)}"#,
            change: #"{"description":"e"}"#,
            least: #"{"scheme":"generic","scheme_options":{"header":"X-Sig"},"mapping":\#(mapping)}"#),
        Resource(
            path: "/v1/keys/{id}", address: "/v1/keys/{made}", list: "/v1/keys",
            body: #"{"name":"k","scopes":["read"],"channels":["a.*"]}"#, change: #"{"name":"l"}"#),
        Resource(
            path: "/v1/apps/{id}", address: "/v1/apps/{made}", list: "/v1/apps", body: #"{"name":"a"}"#,
            change: #"{"name":"b"}"#),
        Resource(
            path: "/v1/webhooks/{id}", address: "/v1/webhooks/{made}", list: "/v1/webhooks",
            body: #"{"url":"https://example.com/h","types":["a.*"],"headers":{"X-A":"1"}}"#,
            change: #"{"description":"x"}"#),
        Resource(
            path: "/v1/subscriptions/{id}", address: "/v1/subscriptions/{made}", list: "/v1/subscriptions",
            body: #"{"channels":["a"],"filter":"data.x > 1"}"#, change: #"{"description":"x"}"#),
    ]

    /// Marks that PUT sets and DELETE removes, with the path where each can be read. A mark has no members that a PUT
    /// could reset, so it needs no body, and repeating either request is harmless.
    private static let marks: [String: String] = [
        "/v1/channels/{channel}/messages/{timetoken}/pin": "/v1/channels/{channel}",
        "/v1/channels/{channel}/freeze": "/v1/channels/{channel}",
        "/v1/channels/{channel}/operators/{user}": "/v1/channels/{channel}",
        "/v1/channels/{channel}/members/{user}/read": "/v1/channels/{channel}/members/{user}",
        "/v1/channels/{channel}/members/{user}/delivered": "/v1/channels/{channel}/members/{user}",
        "/v1/channels/{channel}/members/{user}/hidden": "/v1/channels/{channel}/members/{user}",
        "/v1/channels/{channel}/messages/{timetoken}/reactions/{value}":
            "/v1/channels/{channel}/messages/{timetoken}/reactions/{value}",
        "/v1/users/{user}/blocks/{other}": "/v1/users/{user}/blocks/{other}",
        "/v1/channels/{channel}/presence/{user}": "/v1/channels/{channel}/presence/{user}",
        "/v1/channels/{channel}/presence/{user}/state": "/v1/channels/{channel}/presence/{user}/state",
        "/v1/channels/{channel}/participants/{user}": "/v1/channels/{channel}/participants/{user}",
    ]

    /// Resources that can be read at their own address and have no PUT: several at once, or as long-lived as a
    /// connection or an event.
    private static let others: Set<String> = [
        "/v1/channels/{channel}/messages/{timetoken}", "/v1/channels/{channel}/messages/{timetoken}/actions/{action}",
        "/v1/channels/{channel}/metadata", "/v1/channels/{channel}/metacounters", "/v1/channels/{channel}/events",
        "/v1/streams/{id}", "/v1/users/{user}/sessions/{session}", "/v1/session",
    ]

    /// Resources that last for seconds and appear in events only.
    private static let passing: Set<String> = ["/v1/channels/{channel}/typing/{user}"]

    @Test("are declared for every resource, and for each the answers that they have")
    func declared() throws {
        let description = try Description()
        let written = Set(
            description.operations.filter { ["put", "patch", "delete"].contains($0.method) }.map(\.path))
        let exceptions = Self.others.union(Self.marks.keys).union(Self.passing)
        #expect(written.subtracting(exceptions) == Set(Self.resources.map(\.path)))
        #expect(exceptions.isSubset(of: written))
        let read = Set(description.operations.filter { $0.method == "get" }.map(\.path))
        for path in written.subtracting(Self.passing) { #expect(read.contains(Self.marks[path] ?? path), "\(path)") }
        for operation in description.operations {
            let name = "\(operation.method) \(operation.path)"
            let isResource = !exceptions.contains(operation.path)
            switch operation.method {
            case "put" where isResource:
                #expect(operation.response(200) != nil, "\(name)")
                #expect(operation.node["requestBody"]?["required"]?.string == "true", "\(name)")
            case "patch":
                #expect(operation.response(200) != nil && operation.response(201) == nil, "\(name)")
                #expect(operation.node["requestBody"]?["required"]?.string == "true", "\(name)")
                #expect(!isResource || operation.response(404) != nil, "\(name)")
            case "delete" where isResource:
                #expect(operation.response(204) != nil && operation.response(404) != nil, "\(name)")
            default: break
            }
        }
    }

    /// Requests that create a resource, by operation. In a target, `{tt}` stands for the timetoken of a message.
    private static let creations: [String: (target: String, body: String)] = [
        "post /v1/channels/{channel}/messages": ("/v1/channels/ro%C3%B6m/messages", #"{"text":"hi"}"#),
        "post /v1/channels/{channel}/events": ("/v1/channels/room/events", #"{"data":1}"#),
        "post /v1/events": ("/v1/events", #"{"channel":"room","data":1}"#),
        "post /v1/channels/{channel}/messages/{timetoken}/forward":
            ("/v1/channels/room/messages/{tt}/forward", #"{"channel":"b/c","by":"eve"}"#),
        "post /v1/channels/{channel}/messages/{timetoken}/report":
            ("/v1/channels/room/messages/{tt}/report", #"{"reason":"spam","by":"eve"}"#),
        "put /v1/channels/{channel}/messages/{timetoken}/reactions/{value}":
            ("/v1/channels/room/messages/{tt}/reactions/%F0%9F%91%8D?user=eve", ""),
        "post /v1/channels/{channel}/messages/{timetoken}/actions":
            ("/v1/channels/room/messages/{tt}/actions", #"{"type":"receipt","value":"seen","user":"eve"}"#),
        "post /v1/channels/{channel}/metadata": ("/v1/channels/room/metadata", #"{"metadata":{"a":"b"}}"#),
        "post /v1/channels/{channel}/metacounters": ("/v1/channels/room/metacounters", #"{"metacounters":{"a":1}}"#),
        "put /v1/channels/{channel}/presence/{user}": ("/v1/channels/lobby/presence/eve", ""),
        "put /v1/channels/{channel}/participants/{user}": ("/v1/channels/lobby/participants/eve", ""),
        "put /v1/users/{user}/blocks/{other}": ("/v1/users/eve/blocks/ann", ""),
        "post /v1/channels": ("/v1/channels", #"{"kind":"group","id":"a b"}"#),
        "post /v1/event-types/{type}/versions": (
            "/v1/event-types/order.sent/versions", #"{"schema":{"minimum":0}}"#
        ),
        "post /v1/event-types/{type}/candidate/promote": ("/v1/event-types/order.sent/candidate/promote", ""),
        "post /v1/webhooks/{id}/replay": ("/v1/webhooks/{webhook}/replay", "{}"),
        "post /v1/deliveries/redrive": ("/v1/deliveries/redrive", "{}"),
        "post /v1/deliveries/purge": ("/v1/deliveries/purge", #"{"all":true}"#),
    ]

    @Test("return a Location for every resource they create")
    func locations() async throws {
        let description = try Description()
        let making = Set(
            description.operations.filter { operation in
                [201, 202].contains { operation.response($0).map(description.hasLocation) ?? false }
            }.map { "\($0.method) \($0.path)" })
        let made = Set(Self.resources.map { $0.list.map { "post \($0)" } ?? "put \($0.path)" })
        #expect(making == made.union(Self.creations.keys))
        // A credential is returned once, and its text is in no address.
        let unreadable: Set = ["/v1/tokens", "/v1/stream-tickets"]
        for operation in description.operations where operation.response(201) != nil {
            let name = "\(operation.method) \(operation.path)"
            #expect(making.contains(name) || unreadable.contains(operation.path), "\(name)")
        }
        try await APIFixture.run { api in
            await prepare(api)
            _ = await api.call(.put, "/v1/channels/lobby", #"{"kind":"open"}"#)
            _ = await api.call(.put, "/v1/event-types/order.sent/candidate", #"{"schema":{"minimum":1}}"#)
            let message = await api.call(.post, "/v1/channels/room/messages", #"{"text":"hi","user":"ann"}"#)
            let webhook = await api.call(.post, "/v1/webhooks", #"{"url":"https://example.com/hook"}"#)
            for (operation, (target, body)) in Self.creations.sorted(by: { $0.key < $1.key }) {
                let target = target.replacing("{tt}", with: message["timetoken"]?.string ?? "")
                    .replacing("{webhook}", with: webhook["id"]?.string ?? "")
                let method = HTTPMethod(rawValue: operation.prefix { $0 != " " }.uppercased())
                let answer = await api.call(method, target, body)
                #expect([201, 202].contains(answer.status), "\(operation) \(answer.text)")
                let location = try #require(answer.header("Location"), "\(operation)")
                let read = await api.call(.get, location)
                #expect(read.status == 200, "\(operation) \(location) \(read.text)")
            }
        }
    }

    @Test("name no address of an event that cannot be read")
    func unreadable() async throws {
        try await APIFixture.run { api in
            let passing = await api.call(.post, "/v1/channels/room/events", #"{"data":1,"store":false}"#)
            #expect(passing.status == 201 && passing.header("Location") == nil)
            let several = await api.call(.post, "/v1/events", #"{"channels":["a","b"],"data":1}"#)
            #expect(several.status == 201 && several.header("Location") == nil)
        }
    }

    @Test("change a message by its own members")
    func message() async throws {
        try await APIFixture.run { api in
            let made = await api.call(.post, "/v1/channels/room/messages", #"{"text":"hi","user":"ann"}"#)
            let address = try #require(made.header("Location"))
            let read = await api.call(.get, address).text
            let written = await api.call(.patch, address, read.replacing(#""text":"hi""#, with: #""text":"ho""#))
            #expect(written.status == 200, "\(written.text)")
            #expect(written["data"]?["text"]?.string == "ho")
            #expect(await api.call(.patch, address).code == "member_missing")
            #expect(await api.call(.patch, address, read).code == "precondition_failed")
        }
    }

    private func prepare(_ api: APIFixture) async {
        _ = await api.call(.put, "/v1/channels/room", #"{"kind":"group"}"#)
        _ = await api.call(.put, "/v1/event-types/order.sent", "{}")
    }

    /// Creates a resource and returns its address.
    private func make(_ resource: Resource, _ api: APIFixture) async throws -> String {
        if let list = resource.list {
            let made = await api.call(.post, list, resource.body)
            #expect(made.status == 201, "\(made.text)")
            let location = try #require(made.header("Location"))
            #expect(resource.address.replacing("{made}", with: made["id"]?.string ?? "") == location)
            #expect(await api.call(.get, location).status == 200)
            return location
        }
        let made = await api.call(.put, resource.address, resource.body)
        #expect(made.status == 201, "\(made.text)")
        #expect(made.header("Location") == resource.address)
        return resource.address
    }

    private func methods(_ resource: Resource, _ api: APIFixture) -> Set<HTTPMethod> {
        Set(api.router.routes.filter { $0.pattern.description == resource.path }.map(\.method))
    }

    @Test("make, replace, change and remove", arguments: resources)
    func meaning(_ resource: Resource) async throws {
        try await APIFixture.run { api in
            await prepare(api)
            let methods = methods(resource, api)
            let missing = resource.address.replacing("{made}", with: "none")
            #expect(await api.call(.get, missing).status == 404)
            #expect(await api.call(.delete, missing).status == 404)
            if methods.contains(.patch) { #expect(await api.call(.patch, missing, resource.change).status == 404) }
            let address = try await make(resource, api)
            for method in [HTTPMethod.put, .patch] where methods.contains(method) {
                let empty = await api.call(method, address)
                #expect(empty.status == 400 && empty.code == "member_missing", "\(method) \(empty.text)")
                let unknown = await api.call(method, address, #"{"nobody_knows":1}"#)
                #expect(unknown.status == 400 && unknown.code == "unknown_member", "\(method) \(unknown.text)")
            }
            if methods.contains(.patch) {
                let changed = await api.call(.patch, address, resource.change)
                #expect(changed.status == 200, "\(changed.text)")
            }
            if methods.contains(.put) {
                let replaced = await api.call(.put, address, resource.least)
                #expect(replaced.status == 200, "\(replaced.text)")
                let fresh = try await afresh(resource, api)
                for member in try #require(replaced.json?.members) where !Self.isOwn(member.name) {
                    #expect(
                        replaced.shown(member.name) == fresh.shown(member.name),
                        "\(member.name): \(replaced.text) \(fresh.text)")
                }
            }
            #expect(await api.call(.delete, address).status == 204)
            #expect(await api.call(.delete, address).status == 404)
        }
    }

    /// Creates a resource from the minimum and returns it.
    private func afresh(_ resource: Resource, _ api: APIFixture) async throws -> Answer {
        #expect(await api.call(.delete, resource.address).status == 204)
        let least =
            resource.path == "/v1/sources/{id}"
            ? resource.least.dropLast() + #","secrets":["s3cret"]}"# : resource.least[...]
        let made = await api.call(.put, resource.address, String(least))
        #expect(made.status == 201, "\(made.text)")
        return made
    }

    /// True for members of the record itself, which no request writes.
    private static func isOwn(_ member: String) -> Bool {
        ["created_at", "updated_at", "etag", "mapping_version"].contains(member) || member.hasSuffix("_timetoken")
    }

    @Test("accept what GET returned, and change nothing by it", arguments: resources)
    func roundTrip(_ resource: Resource) async throws {
        try await APIFixture.run { api in
            await prepare(api)
            let methods = methods(resource, api)
            let address = try await make(resource, api)
            for method in [HTTPMethod.put, .patch] where methods.contains(method) {
                let read = await api.call(.get, address)
                let written = await api.call(method, address, read.text)
                #expect(written.status == 200, "\(method) \(written.text)")
                let again = await api.call(.get, address)
                for member in try #require(read.json?.members)
                where !["updated_at", "etag"].contains(member.name)
                    // For a candidate, `created_at` is the start of its trial, which begins anew.
                    && !(member.name == "created_at" && address.hasSuffix("/candidate"))
                {
                    #expect(again.shown(member.name) == read.shown(member.name), "\(method) \(member.name)")
                }
            }
        }
    }

    @Test(
        "leave every record with its id or names, when it was made and changed, and its version",
        // A value has its key as its only name; a candidate ends with its trial.
        arguments: resources.filter { !$0.path.hasSuffix("/{key}") && !$0.path.hasSuffix("/candidate") })
    func records(_ resource: Resource) async throws {
        try await APIFixture.run { api in
            await prepare(api)
            let address = try await make(resource, api)
            let record = await api.call(.get, address)
            let name = String(address.split(separator: "/").last ?? "")
            #expect(["id", "user", "type"].contains { record[$0]?.string == name })
            // An event type is identified by its name.
            #expect(record["id"]?.string?.isEmpty == false || record["type"]?.string == name)
            let etag = try #require(record["etag"]?.string)
            #expect(record.header("ETag")?.hasPrefix("\"" + etag) == true)
            for member in ["created_at", "updated_at"] {
                #expect(record[member]?.string?.hasSuffix("Z") == true, "\(member)")
                #expect(record[member]?.string?.hasPrefix("1970") == false, "\(member)")
            }
            guard methods(resource, api).contains(.patch) else { return }
            let changed = await api.call(.patch, address, resource.change)
            #expect(changed["etag"]?.string != etag && changed["created_at"]?.string == record["created_at"]?.string)
            let again = await api.call(.get, address)
            #expect(changed["etag"]?.string == again["etag"]?.string)
        }
    }

    @Test(
        "refuse another value of a read-only member, and a version that has passed",
        arguments: [HTTPMethod.put, .patch])
    func readOnly(_ method: HTTPMethod) async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/users/eve", "{}")
            let read = await api.call(.get, "/v1/users/eve").text
            let other = await api.call(method, "/v1/users/eve", #"{"id":"ann"}"#)
            #expect(other.status == 400 && other.code == "bad_member", "\(other.text)")
            #expect(other["errors"]?[0]?["pointer"]?.string == "#/id")
            _ = await api.call(.patch, "/v1/users/eve", #"{"name":"E"}"#)
            let late = await api.call(method, "/v1/users/eve", read)
            #expect(late.status == 412 && late.code == "precondition_failed", "\(late.text)")
            #expect(await api.call(.get, "/v1/users/eve")["name"]?.string == "E")
        }
    }

    @Test("name the operation that changes a read-only member")
    func remedies() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/channels/crew", #"{"kind":"group"}"#)
            _ = await api.call(.put, "/v1/channels/crew/members/eve", "{}")
            let hook = await api.call(.post, "/v1/webhooks", #"{"url":"https://example.com/hook"}"#)
            let key = await api.call(.post, "/v1/keys", #"{"scopes":["read"]}"#)
            let sent = await api.call(.post, "/v1/channels/crew/messages", #"{"text":"x"}"#)
            _ = await api.call(.put, "/v1/event-types/order.paid", "{}")
            for (address, change, operation) in [
                ("/v1/channels/crew", #"{"kind":"public"}"#, "PUT /v1/channels/{channel}"),
                ("/v1/channels/crew", #"{"frozen":true}"#, "PUT or DELETE /v1/channels/{channel}/freeze"),
                ("/v1/channels/crew/members/eve", #"{"read_timetoken":"17324123456789012"}"#, "{user}/read"),
                ("/v1/webhooks/\(hook["id"]?.string ?? "")", #"{"status":"disabled"}"#, "/v1/webhooks/{id}/disable"),
                ("/v1/keys/\(key["id"]?.string ?? "")", #"{"scopes":["emit"]}"#, "POST /v1/keys"),
                (
                    sent.header("Location") ?? "", #"{"text":"x","deleted":{}}"#,
                    "DELETE /v1/channels/{channel}/messages"
                ),
                ("/v1/event-types/order.paid", #"{"latest_version":7}"#, "POST /v1/event-types/{type}/versions"),
            ] {
                let refused = await api.call(.patch, address, change)
                #expect(refused.status == 400 && refused.code == "bad_member", "\(refused.text)")
                let detail = refused["errors"]?[0]?["detail"]?.string ?? ""
                #expect(detail.contains("leave the member out, or ") && detail.contains(operation), "\(refused.text)")
            }
            let other = await api.call(.patch, "/v1/channels/crew", #"{"member_count":1,"created_by":"x"}"#)
            #expect(other["errors"]?[0]?["detail"]?.string?.hasSuffix("leave the member out") == true, "\(other.text)")
        }
    }

    @Test(
        "take what GET returned with other white space for no change",
        arguments: [
            ("/v1/users/eve", #"{"custom":{"a": [1, 2]}}"#, "eve"),
            ("/v1/channels/hall", #"{"kind":"group","custom":{"a": [1, 2]},"data":{ "b":"x  y" }}"#, "hall"),
            ("/v1/channels/crew/members/eve", #"{"custom":{ "a":[1,2] },"status":"new"}"#, "crew"),
        ])
    func whitespace(_ address: String, _ body: String, _ channel: String) async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/channels/crew", #"{"kind":"group"}"#)
            let made = await api.call(.put, address, body)
            #expect(made.status == 201, "\(made.text)")
            let events = await api.types(on: channel)
            let read = await api.call(.get, address)
            let custom = try #require(read.shown("custom"))
            let spaced = custom.replacing(" ", with: "").replacing(":", with: " :\n")
            let formatted = read.text.replacing(custom, with: spaced)
            #expect(formatted != read.text)
            for method in [HTTPMethod.put, .patch] {
                let written = await api.call(method, address, formatted)
                #expect(written.status == 200, "\(method) \(written.text)")
                #expect(written["etag"]?.string == read["etag"]?.string, "\(method)")
                let again = await api.call(.get, address)
                #expect(again.shown("custom") == custom && again["updated_at"]?.string == read["updated_at"]?.string)
            }
            #expect(await api.types(on: channel) == events)
        }
    }

    @Test("let one of many writers through who send back the same version")
    func writers() async throws {
        try await APIFixture.run { api in
            let made = await api.call(.put, "/v1/users/eve", "{}")
            let etag = try #require(made["etag"]?.string)
            let statuses = await withTaskGroup(of: Int.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        let body = #"{"name":"\#(number)","etag":"\#(etag)"}"#
                        return await api.call(.patch, "/v1/users/eve", body).status
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 200 } == 1)
            #expect(statuses.count { $0 == 412 } == 19)
        }
    }

    @Test("accept a webhook whose circuit has changed since it was read")
    func measured() async throws {
        try await APIFixture.run { api in
            let made = await api.call(.post, "/v1/webhooks", #"{"url":"https://example.com/hook"}"#)
            let id = try #require(made["id"]?.string)
            let read = await api.call(.get, "/v1/webhooks/\(id)").text
            let changed = read.replacing(#""circuit":"closed""#, with: #""circuit":"open""#)
            #expect(changed != read)
            #expect(await api.call(.patch, "/v1/webhooks/\(id)", changed).status == 200)
        }
    }
}

extension Answer {
    /// A member's bytes as text.
    fileprivate func shown(_ name: String) -> String? { JSONText(trusted: bytes).rawMember(name)?.description }
}
