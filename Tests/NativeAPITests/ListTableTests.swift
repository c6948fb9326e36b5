import ChatModel
import ChatSupport
import HTTPServer
import JSON
import Testing
import TestSupport
import YAML

/// The common form of lists, for every list: `openapi.yaml` declares it and the routes implement it.
@Suite("Lists", .timeLimit(.minutes(2))) struct ListTableTests {
    /// Operations whose result is no paged list: one page holds everything.
    private static let whole: Set<String> = [
        // The codes of the program itself.
        "/problems",
        // Events that a follower has not received yet.
        "/v1/poll",
    ]

    /// Lists of names that have no time.
    private static let timeless: Set<String> = [
        "/v1/channels/{channel}/presence", "/v1/users/{user}/presence", "/v1/channels/{channel}/participants",
        "/v1/channels/{channel}/typing",
        // A group is a set that is replaced, so it has only the time of its last change.
        "/v1/channel-groups",
    ]

    /// Lists that can be sorted by their objects' members.
    private static let sorted: Set<String> = [
        "/v1/users", "/v1/users/{user}/memberships", "/v1/channels", "/v1/channels/{channel}/members",
    ]

    static var paths: [String] {
        get throws {
            let description = try Description()
            return description.operations.filter { operation in
                operation.method == "get" && !whole.contains(operation.path)
                    && description.isList(operation.response(200)?["content"]?["application/json"]?["schema"])
            }.map(\.path)
        }
    }

    @Test("take the same parameters, with the same meaning, for every list")
    func declared() throws {
        let description = try Description()
        let paths = try Self.paths
        #expect(paths.count > 30)
        for operation in description.operations where operation.method == "get" && paths.contains(operation.path) {
            let names = Set(description.parameterNames(of: operation))
            #expect(names.isSuperset(of: ["limit", "cursor", "order"]), "\(operation.path)")
            #expect(names.isSuperset(of: ["after", "before"]) != Self.timeless.contains(operation.path))
            #expect(names.contains("sort") == Self.sorted.contains(operation.path), "\(operation.path)")
            for parameter in description.parameters(of: operation) {
                switch parameter["name"]?.string {
                case "order":
                    #expect(parameter["schema"]?["enum"]?.sequence?.compactMap(\.string) == ["asc", "desc"])
                    #expect(parameter["schema"]?["default"]?.string != nil, "\(operation.path)")
                case "after", "before":
                    #expect(parameter["schema"]?["$ref"]?.string == "#/components/schemas/Position")
                default: break
                }
            }
        }
    }

    @Test("read these parameters, and refuse what is no order, no time and no cursor of theirs")
    func parameters() async throws {
        try await APIFixture.run { api in
            let message = try await Self.fill(api, "a")
            for path in try Self.paths {
                let target = Self.target(path, message)
                let times = Self.timeless.contains(path) ? "" : "&after=\(message)&before=2040-01-01T00:00:00Z"
                for order in ["asc", "desc"] {
                    let answer = await api.call(.get, "\(target)?limit=1&order=\(order)\(times)")
                    #expect(answer.status == 200, "\(path) \(answer.text)")
                    #expect(answer["data"]?.elements != nil && answer["has_more"]?.boolean != nil, "\(path)")
                }
                for bad in ["order=up", "after=yesterday", "before=12", "limit=0"]
                where times != "" || !bad.hasPrefix("after") && !bad.hasPrefix("before") {
                    let answer = await api.call(.get, "\(target)?\(bad)")
                    #expect(answer.status == 400 && answer.code == "bad_parameter", "\(path)?\(bad) \(answer.text)")
                }
                let answer = await api.call(.get, "\(target)?cursor=nonsense")
                #expect(answer.status == 400 && answer.code == "bad_cursor", "\(path) \(answer.text)")
            }
        }
    }

    @Test("go both ways, page by page, and are bounded by times")
    func walks() async throws {
        try await APIFixture.run { api in
            let message = try await Self.fill(api, "a")
            let middle = api.clock.now
            api.clock.advance(by: .seconds(1))
            _ = try await Self.fill(api, "b", thread: message)
            _ = try await Self.fill(api, "c", thread: message)
            for path in try Self.paths where !Self.unfilled.contains(path) {
                let target = Self.target(path, message)
                let up = try await Self.walk(api, target, "order=asc&limit=1")
                #expect(up.count > 1, "\(path)")
                #expect(try await Self.walk(api, target, "order=desc&limit=2") == up.reversed(), "\(path)")
                guard !Self.timeless.contains(path) else { continue }
                let (early, late) = (
                    try await Self.walk(api, target, "before=\(middle)&order=asc&limit=1"),
                    try await Self.walk(api, target, "after=\(middle)&order=asc&limit=1")
                )
                #expect(!late.isEmpty && Set(early).isDisjoint(with: late), "\(path)")
                #expect(Set(early + late).isSubset(of: up), "\(path)")
                // The gateway's own types have no creation time.
                #expect(path == "/v1/event-types" || early.count + late.count == up.count, "\(path)")
            }
        }
    }

    @Test("refuse a cursor with another order, time or filter")
    func foreignCursors() async throws {
        try await APIFixture.run { api in
            for name in ["a", "b", "c"] { _ = try await Self.fill(api, name) }
            let first = await api.call(.get, "/v1/users?limit=1&sort=name")
            let cursor = try #require(first["next_cursor"]?.string)
            #expect(await api.call(.get, "/v1/users?limit=2&sort=name&cursor=\(cursor)").status == 200)
            for other in [
                "", "sort=name&order=desc", "sort=name:desc", "sort=name&after=0", "sort=name&filter=id=='a'",
            ] {
                let answer = await api.call(.get, "/v1/users?limit=1&\(other)&cursor=\(cursor)")
                #expect(answer.status == 400 && answer.code == "bad_cursor", "\(other) \(answer.text)")
            }
        }
    }

    @Test("and streams refuse the cursor of the other, and say where it belongs")
    func otherKind() async throws {
        try await APIFixture.run { api in
            for name in ["a", "b"] { _ = try await Self.fill(api, name) }
            for text in ["one", "two"] {
                _ = await api.call(.post, "/v1/channels/room/messages", #"{"text":"\#(text)","user":"ana"}"#)
            }
            let page = await api.call(.get, "/v1/channels/room/messages?limit=1")
            let position = try #require(page["stream_cursor"]?.string)
            #expect(page["cursor"] == nil)
            for list in ["channels/room/messages", "channels/room/events", "users", "events"] {
                for cursor in [position, "latest", "evt_" + position] {
                    let refused = await api.call(.get, "/v1/\(list)?cursor=\(cursor)")
                    #expect(refused.status == 400 && refused.code == "bad_cursor", "\(list) \(refused.text)")
                    #expect(
                        refused["detail"]?.string?.contains("names a position for /v1/stream and /v1/poll") == true,
                        "\(list)")
                    #expect(refused["errors"]?[0]?["parameter"]?.string == "cursor")
                }
            }
            let users = try #require(await api.call(.get, "/v1/users?limit=1")["next_cursor"]?.string)
            for cursor in [try #require(page["next_cursor"]?.string), users] {
                for path in ["/v1/poll", "/v1/stream"] {
                    let refused = await api.call(.get, "\(path)?channel=room&cursor=\(cursor)")
                    #expect(refused.status == 400 && refused.code == "bad_cursor", "\(refused.text)")
                    #expect(refused["detail"]?.string?.contains("names a page of a list") == true, "\(refused.text)")
                }
                let ticket = await api.call(
                    .post, "/v1/stream-tickets", #"{"channels":["room"],"cursor":"\#(cursor)"}"#)
                #expect(ticket.status == 400 && ticket["errors"]?[0]?["pointer"]?.string == "#/cursor")
                #expect(ticket["detail"]?.string?.contains("names a page of a list") == true, "\(ticket.text)")
            }
            let other = await api.call(.get, "/v1/channels/room/messages?cursor=\(users)")
            #expect(other["detail"]?.string?.contains("belongs to another list") == true, "\(other.text)")
            #expect(await api.call(.get, "/v1/poll?channel=room&cursor=\(position)").status == 200)
        }
    }

    @Test("of webhooks, jobs and deliveries can be filtered")
    func narrowed() async throws {
        try await APIFixture.run { api in
            func ids(_ target: String) async -> [String] {
                let answer = await api.call(.get, target)
                #expect(answer.status == 200, "\(answer.text)")
                return answer["data"]?.elements?.compactMap { $0["id"]?.string } ?? []
            }
            var webhooks: [String] = []
            for name in ["a", "b"] {
                let made = await api.call(.post, "/v1/webhooks", #"{"url":"https://example.com/\#(name)"}"#)
                webhooks.append(try #require(made["id"]?.string))
            }
            for webhook in webhooks { _ = await api.call(.post, "/v1/webhooks/\(webhook)/disable") }
            #expect(Set(await ids("/v1/webhooks?status=disabled&status=unreadable")) == Set(webhooks))
            #expect(await ids("/v1/webhooks?status=enabled").isEmpty)
            #expect(await api.call(.get, "/v1/webhooks?status=of").code == "bad_parameter")

            _ = await api.call(.post, "/v1/channels/shop.1/events", #"{"type":"order.paid","data":1}"#)
            _ = await api.call(.post, "/v1/channels/shop.2/events", #"{"type":"order.made","data":1}"#)
            let target = "/v1/deliveries?subscriber=\(webhooks[0])"
            _ = await api.answer(to: target) { $0["data"]?.count == 2 }
            for (query, types) in [
                ("type=order.paid", ["order.paid"]), ("type=order.*&order=asc", ["order.paid", "order.made"]),
                ("type=order.*", ["order.made", "order.paid"]), ("channel=shop.2", ["order.made"]),
                ("channel=shop.*&type=order.made", ["order.made"]), ("channel=other", []),
            ] as [(String, [String])] {
                let found = await api.call(.get, "\(target)&\(query)")
                #expect(found["data"]?.elements?.compactMap { $0["type"]?.string } == types, "\(query) \(found.text)")
                #expect(found["data"]?.elements?.allSatisfy { $0["subscriber"]?.string == webhooks[0] } == true)
            }
            let first = await api.call(.get, "\(target)&type=order.*&limit=1")
            let cursor = try #require(first["next_cursor"]?.string)
            let second = await api.call(.get, "\(target)&type=order.*&limit=1&cursor=\(cursor)")
            #expect(second["data"]?[0]?["type"]?.string == "order.paid" && second["has_more"]?.boolean == false)

            let begun = await api.call(.post, "/v1/deliveries/redrive", #"{"only":"dead"}"#)
            let job = try #require(begun["job"]?.string)
            #expect(await ids("/v1/jobs?state=running&state=done&state=paused&state=failed") == [job])
            #expect(await ids("/v1/jobs?state=cancelled").isEmpty)
        }
    }

    /// Lists that this test leaves empty: live streams, and results of deliveries and posts.
    private static let unfilled: Set<String> = [
        "/v1/streams", "/v1/users/{user}/sessions", "/v1/deliveries", "/v1/sources/{id}/requests",
        "/v1/channels/{channel}/reports",
    ]

    /// Every element by its id, or by its text where it has none, page by page.
    private static func walk(_ api: APIFixture, _ target: String, _ query: String) async throws -> [String] {
        var found: [String] = []
        var cursor = ""
        for _ in 0..<1000 {
            let page = await api.call(.get, "\(target)?\(query)\(cursor)")
            #expect(page.status == 200, "\(target) \(page.text)")
            let texts = JSONText(trusted: page.bytes).rawMember("data")?.rawElements() ?? []
            // Some values change between pages, but no id does.
            found += zip(page["data"]?.elements ?? [], texts).map { $0["id"]?.string ?? $1.description }
            guard let next = page["next_cursor"]?.string else { break }
            cursor = "&cursor=\(next)"
        }
        return found
    }

    private static func target(_ path: String, _ message: String) -> String {
        let id = path.hasPrefix("/v1/sources") ? "s" : "none"
        let channel = path.hasSuffix("/participants") ? "hall" : "room"
        return path.replacing("{channel}", with: channel).replacing("{user}", with: "eve").replacing("{id}", with: id)
            .replacing("{timetoken}", with: message).replacing("{type}", with: "order.paid")
    }

    /// Adds an element to every list.
    ///
    /// - Parameter thread: A message for reactions, actions and replies; nil for the message that is created.
    /// - Returns: The created message.
    private static func fill(_ api: APIFixture, _ name: String, thread: String? = nil) async throws -> String {
        func done(_ method: HTTPMethod, _ path: String, _ body: String = "") async -> Answer {
            let answer = await api.call(method, path, body)
            #expect((200...202).contains(answer.status) || answer.status == 204, "\(path) \(answer.text)")
            return answer
        }
        if thread == nil {
            _ = await done(.put, "/v1/channels/room", #"{"kind":"group"}"#)
            _ = await done(.put, "/v1/channels/hall", #"{"kind":"open"}"#)
            _ = await done(.put, "/v1/event-types/order.paid", "{}")
        }
        let mapping = #"{"channel":"c","type":"t","data":{"from":{"$":"body"},"name":"\#(name)"}}"#
        let source =
            #"{"scheme":"generic","scheme_options":{"header":"X-Sig"},"secrets":["s3cret"],"mapping":\#(mapping)}"#
        _ = await done(.put, "/v1/users/\(name)", #"{"name":"\#(name)"}"#)
        _ = await done(.put, "/v1/channels/room/members/eve", "{}")
        _ = await done(.put, "/v1/channels/hall/participants/\(name)")
        _ = await done(.put, "/v1/channels/\(name)", #"{"kind":"group"}"#)
        _ = await done(.put, "/v1/channels/room/members/\(name)", "{}")
        _ = await done(.put, "/v1/channels/room/typing/\(name)")
        _ = await done(.put, "/v1/channels/\(name)/members/eve", "{}")
        _ = await done(.put, "/v1/channels/room/restrictions/x\(name)", #"{"mute":true}"#)
        _ = await done(.put, "/v1/channels/\(name)/restrictions/eve", #"{"mute":true}"#)
        _ = await done(.put, "/v1/users/eve/blocks/\(name)")
        _ = await done(.put, "/v1/channel-groups/\(name)", #"{"channels":["room"]}"#)
        _ = await done(.put, "/v1/channels/room/presence/\(name)", "{}")
        _ = await done(.put, "/v1/channels/\(name)/presence/eve", "{}")
        _ = await done(.put, "/v1/event-types/\(name).made", "{}")
        let schema = #"{"schema":{"type":["object","array"],"description":"\#(name)"}}"#
        _ = await done(.post, "/v1/event-types/order.paid/versions", schema)
        _ = await done(.put, "/v1/sources/s", source)
        _ = await done(.put, "/v1/sources/\(name)", source)
        _ = await done(.post, "/v1/keys", #"{"name":"\#(name)","scopes":["read"]}"#)
        _ = await done(.post, "/v1/apps", #"{"name":"\#(name)"}"#)
        _ = await done(.post, "/v1/webhooks", #"{"url":"https://example.com/\#(name)","channels":["none"]}"#)
        _ = await done(.post, "/v1/subscriptions", #"{"channels":["none"]}"#)
        _ = await done(.post, "/v1/deliveries/redrive", #"{"only":"dead"}"#)
        let reply = thread.map { #","thread_of":"\#($0)""# } ?? ""
        let sent = await done(.post, "/v1/channels/room/messages", #"{"text":"\#(name)","user":"eve"\#(reply)}"#)
        let message = try #require(sent["timetoken"]?.string)
        let one = "/v1/channels/room/messages/\(thread ?? message)"
        _ = await done(.put, "\(one)/reactions/\(name)?user=eve")
        _ = await done(.post, "\(one)/actions", #"{"type":"seen","value":"\#(name)","user":"eve"}"#)
        return message
    }
}

extension Description {
    /// True for a schema of an object whose `data` is an array.
    fileprivate func isList(_ schema: YAMLNode?) -> Bool {
        guard let schema else { return false }
        if let reference = schema["$ref"]?.string { return isList(resolve(reference)) }
        if schema["properties"]?["data"]?["type"]?.string == "array" { return true }
        return schema["allOf"]?.sequence?.contains { isList($0) } ?? false
    }
}
