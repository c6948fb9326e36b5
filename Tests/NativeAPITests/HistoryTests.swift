import ChatCore
import ChatModel
import HTTPServer
import JSON
import Signing
import TestSupport
import Testing

@testable import NativeAPI

@Suite("Reading history") struct HistoryTests {
    /// Emits the numbers 0..<count on a channel.
    private static func fill(_ api: APIFixture, _ channel: String, _ count: Int) async {
        let events = (0..<count).map {
            #"{"channel":"\#(channel)","type":"t.\#($0 % 2)","user":"u\#($0 % 3)","data":\#($0)}"#
        }
        let answer = await api.call(.post, "/v1/events/batch", #"{"events":[\#(events.joined(separator: ","))]}"#)
        #expect(answer.status == 200)
    }

    private static func numbers(_ answer: Answer) -> [Int64] {
        answer["data"]?.elements?.compactMap { $0["data"]?.integer } ?? []
    }

    @Test("continues behind a long run of events that were not requested")
    func range() async throws {
        try await APIFixture.run { api in
            await Self.fill(api, "a", 1)
            let draft = EventDraft(
                channel: ChannelID("a", in: api.app.id), type: "other", data: JSONText(trusted: Array("{}".utf8)))
            for _ in 0..<41 {
                _ = try await api.service.engine.log.append(Array(repeating: draft, count: 500), claim: nil)
            }
            await Self.fill(api, "a", 1)
            for order in ["asc", "desc"] {
                var target = "/v1/channels/a/events?order=\(order)&limit=3&type=t.0"
                var found = 0
                for _ in 0..<3 {
                    let answer = await api.call(.get, target)
                    found += Self.numbers(answer).count
                    guard let next = answer["next_cursor"]?.string else { break }
                    #expect(answer["has_more"]?.boolean == true)
                    target = "/v1/channels/a/events?cursor=\(next)&limit=3&type=t.0"
                }
                #expect(found == 2, "\(order)")
            }
        }
    }

    @Test("walks every page once, forwards and back", arguments: ["asc", "desc"])
    func pages(_ order: String) async throws {
        try await APIFixture.run { api in
            await Self.fill(api, "a", 7)
            let all: [Int64] = order == "asc" ? Array(0..<7) : (0..<7).reversed()
            var target = "/v1/channels/a/events?order=\(order)&limit=3"
            var walked: [[Int64]] = []
            var last: Answer?
            while true {
                let page = await api.call(.get, target)
                #expect(page.status == 200)
                walked.append(Self.numbers(page))
                last = page
                guard let next = page["next_cursor"]?.string else { break }
                #expect(page["has_more"]?.boolean == true)
                // The link continues the same walk, even if the client ignores the body.
                let link = try #require(page.header("Link")?.split(separator: ",").first)
                #expect(link.contains("cursor=\(next)") && link.hasSuffix(#"rel="next""#))
                target = "/v1/channels/a/events?order=\(order)&limit=3&cursor=\(next)"
            }
            #expect(walked == [Array(all[0..<3]), Array(all[3..<6]), Array(all[6..<7])])
            let back = try #require(last?["prev_cursor"]?.string)
            let page = await api.call(.get, "/v1/channels/a/events?limit=3&cursor=\(back)")
            #expect(Self.numbers(page) == Array(all[3..<6]))
            let first = try #require(page["prev_cursor"]?.string)
            let start = await api.call(.get, "/v1/channels/a/events?limit=3&cursor=\(first)")
            #expect(Self.numbers(start) == Array(all[0..<3]))
            #expect(start["prev_cursor"]?.isNull == true)
            #expect(start["next_cursor"]?.string != nil)
        }
    }

    @Test("gives the cursor at which a stream goes on, the same for a whole walk into the past")
    func continuation() async throws {
        try await APIFixture.run { api in
            await Self.fill(api, "a", 4)
            let newest = await api.call(.get, "/v1/channels/a/events?limit=2&order=desc")
            let top = try #require(newest["data"]?[0]?["timetoken"]?.string)
            #expect(newest["stream_cursor"]?.string == top)
            await Self.fill(api, "a", 1)
            let cursor = try #require(newest["next_cursor"]?.string)
            let older = await api.call(.get, "/v1/channels/a/events?limit=2&cursor=\(cursor)")
            #expect(older["stream_cursor"]?.string == top)
            let oldest = await api.call(.get, "/v1/channels/a/events?limit=2")
            #expect(oldest["stream_cursor"]?.string == oldest["data"]?[1]?["timetoken"]?.string)
        }
    }

    @Test("narrows by type, user and exclusive bounds, and counts alike")
    func filters() async throws {
        try await APIFixture.run { api in
            await Self.fill(api, "a", 7)
            let all = await api.call(.get, "/v1/channels/a/events")
            func timetoken(_ index: Int) -> String { all["data"]?[index]?["timetoken"]?.string ?? "" }
            for (query, expected) in [
                ("type=t.1", [1, 3, 5]), ("type=t.*", Array(0..<7)), ("type=t.0&type=t.1", Array(0..<7)),
                ("user=u2", [2, 5]), ("after=\(timetoken(4))", [5, 6]), ("before=\(timetoken(2))", [0, 1]),
                ("after=\(timetoken(0))&before=\(timetoken(2))&type=*", [1]), ("type=other", []),
            ] as [(String, [Int64])] {
                #expect(Self.numbers(await api.call(.get, "/v1/channels/a/events?\(query)")) == expected)
                let count = await api.call(.get, "/v1/channels/a/events/count?\(query)")
                #expect(count["count"]?.integer == Int64(expected.count), "\(query)")
            }
        }
    }

    @Test("of a channel nobody has used is empty")
    func unknown() async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.get, "/v1/channels/never/events")
            #expect(answer.status == 200)
            #expect(answer["data"]?.count == 0)
            #expect(answer["next_cursor"]?.isNull == true)
        }
    }

    @Test("of several channels gives a page for each")
    func several() async throws {
        try await APIFixture.run { api in
            await Self.fill(api, "a", 3)
            await Self.fill(api, "b", 1)
            let answer = await api.call(
                .post, "/v1/history", #"{"channels":["a","b","c"],"limit":2,"order":"desc"}"#)
            #expect(answer.status == 200)
            let pages = answer["channels"]
            #expect(pages?["a"]?["data"]?.elements?.compactMap { $0["data"]?.integer } == [2, 1])
            #expect(pages?["b"]?["has_more"]?.boolean == false)
            #expect(pages?["c"]?["data"]?.count == 0)
            let cursor = try #require(pages?["a"]?["next_cursor"]?.string)
            let rest = await api.call(.get, "/v1/channels/a/events?limit=2&order=desc&cursor=\(cursor)")
            #expect(Self.numbers(rest) == [0])
        }
    }

    @Test(
        "of several channels is refused beyond its bounds",
        arguments: [
            #"{"channels":[]}"#, #"{"channels":["a","a"]}"#, #"{"channels":"a"}"#, #"{}"#,
            #"{"channels":["a"],"limit":251}"#, #"{"channels":["a"],"after":7}"#, #"{"channels":["a"],"after":"x"}"#,
            #"{"channels":["a,b"]}"#, #"{"channels":["a"],"order":"up"}"#,
        ])
    func severalRefused(_ body: String) async throws {
        try await APIFixture.run { api in
            #expect(await api.call(.post, "/v1/history", body).status == 400)
        }
    }

    @Test("of many channels lowers the limit of each")
    func manyChannels() async throws {
        try await APIFixture.run { api in
            func body(_ count: Int, _ limit: String) -> String {
                let names = (0..<count).map { #""c\#($0)""# }.joined(separator: ",")
                return #"{"channels":[\#(names)]\#(limit)}"#
            }
            #expect(await api.call(.post, "/v1/history", body(500, "")).status == 200)
            #expect(await api.call(.post, "/v1/history", body(500, #","limit":5"#)).status == 200)
            #expect(await api.call(.post, "/v1/history", body(500, #","limit":6"#)).status == 400)
            #expect(await api.call(.post, "/v1/history", body(501, "")).status == 400)
        }
    }

    @Test("leaves out deleted events, strictly between the bounds")
    func deletion() async throws {
        try await APIFixture.run { api in
            await Self.fill(api, "a", 5)
            let all = await api.call(.get, "/v1/channels/a/events")
            let first = try #require(all["data"]?[0]?["timetoken"]?.string)
            let last = try #require(all["data"]?[4]?["timetoken"]?.string)
            let answer = await api.call(.delete, "/v1/channels/a/events?after=\(first)&before=\(last)")
            #expect(answer.status == 200)
            #expect(answer["deleted"]?.integer == 3)
            #expect(Self.numbers(await api.call(.get, "/v1/channels/a/events")) == [0, 4])
            let writer = try await api.key([.emit, .read])
            #expect(await api.call(.delete, "/v1/channels/a/events?all=true", key: writer).status == 403)
        }
    }

    @Test("is deleted only by keys whose types have the event that announces it")
    func deletionByType() async throws {
        try await APIFixture.run { api in
            await Self.fill(api, "a", 3)
            let path = "/v1/channels/a/events"
            let narrow = try await api.key([.read, .manage], types: ["message.*", "channel.updated"])
            let answer = await api.call(.delete, path + "?all=true", key: narrow)
            #expect(answer.status == 403 && answer.code == "forbidden")
            #expect(answer["detail"]?.string?.contains("channel.events_deleted") == true)
            #expect(Self.numbers(await api.call(.get, path)) == [0, 1, 2])
            let wide = try await api.key([.read, .manage], types: ["channel.events_deleted"])
            #expect(await api.call(.delete, path + "?all=true", key: wide)["deleted"]?.integer == 3)
        }
    }

    @Test("is deleted as a whole only where that is asked for")
    func deletionOfAll() async throws {
        try await APIFixture.run { api in
            await Self.fill(api, "a", 3)
            let path = "/v1/channels/a/events"
            for query in ["", "?all=false", "?all=true&after=0", "?all=true&before=2030-01-31T12:00:00Z"] {
                let answer = await api.call(.delete, path + query)
                #expect(answer.status == 400 && answer.code == "bad_parameter", "\(query)")
            }
            #expect(Self.numbers(await api.call(.get, path)) == [0, 1, 2])
            #expect(await api.call(.delete, path + "?all=true")["deleted"]?.integer == 3)
        }
    }

    @Test(
        "takes 17 digits, 0 or an RFC 3339 time for a position, and no other unit",
        arguments: [
            "1795445757", "1795445757000", "1795445757000000000", "1732412345678901", "173241234567890123",
            "00000000000000005a", "-1", "2024-11-24", "",
        ])
    func units(_ text: String) async throws {
        try await APIFixture.run { api in
            await Self.fill(api, "a", 3)
            for path in ["events?after=", "events?before=", "events/count?after="] {
                let answer = await api.call(.get, "/v1/channels/a/\(path)\(text)")
                #expect(answer.status == 400 && answer.code == "bad_parameter", "\(path)")
                #expect(answer["detail"]?.string?.contains("17 digits") == true)
            }
            #expect(await api.call(.delete, "/v1/channels/a/events?before=\(text)").status == 400)
            #expect(await api.call(.get, "/v1/poll?channel=a&cursor=\(text)").status == 400)
            #expect(await api.call(.post, "/v1/history", #"{"channels":["a"],"after":"\#(text)"}"#).status == 400)
            #expect(Self.numbers(await api.call(.get, "/v1/channels/a/events?after=0")) == [0, 1, 2])
        }
    }

    @Test("begins and ends at times as well")
    func times() async throws {
        try await APIFixture.run { api in
            await Self.fill(api, "a", 3)
            let path = "/v1/channels/a/events"
            #expect(Self.numbers(await api.call(.get, path + "?after=2024-01-01T00:00:00Z")) == [0, 1, 2])
            #expect(Self.numbers(await api.call(.get, path + "?after=2034-01-01T00:00:00%2B01:00")) == [])
            #expect(Self.numbers(await api.call(.get, path + "?before=2024-01-01T00:00:00Z")) == [])
            #expect(await api.call(.delete, path + "?before=2024-01-01T00:00:00Z")["deleted"]?.integer == 0)
        }
    }

    @Test("needs the scope and the channel")
    func rights() async throws {
        try await APIFixture.run { api in
            await Self.fill(api, "a", 2)
            let emitter = try await api.key([.emit])
            let narrow = try await api.key([.read], channels: ["b"], types: ["t.1"])
            let typed = try await api.key([.read], types: ["t.1"])
            #expect(await api.call(.get, "/v1/channels/a/events", key: emitter).status == 403)
            #expect(await api.call(.get, "/v1/channels/a/events", key: narrow).status == 403)
            #expect(Self.numbers(await api.call(.get, "/v1/channels/a/events", key: typed)) == [1])
            #expect(await api.call(.get, "/v1/channels/a/events?type=t.0", key: typed).status == 403)
        }
    }
}

@Suite("One event") struct OneEventTests {
    @Test("has a tag, and is not sent again to a client with that tag")
    func tag() async throws {
        try await APIFixture.run { api in
            let id = try #require(await api.call(.post, "/v1/channels/a/events", #"{"data":1}"#)["id"]?.string)
            let event = await api.call(.get, "/v1/events/\(id)")
            #expect(event.status == 200)
            let tag = try #require(event.header("ETag"))
            for (field, status) in [(tag, 304), ("W/\(tag)", 304), ("\"x\", \(tag)", 304), ("*", 304), ("\"x\"", 200)] {
                let again = await api.call(.get, "/v1/events/\(id)", headers: [("If-None-Match", field)])
                #expect(again.status == status)
                #expect(again.header("ETag") == tag)
            }
        }
    }

    @Test("that is unknown, of another app or out of reach is 404 in the same words")
    func hidden() async throws {
        try await APIFixture.run { api in
            let id = try #require(await api.call(.post, "/v1/channels/a/events", #"{"data":1}"#)["id"]?.string)
            let other = await api.call(.post, "/v1/apps", #"{"name":"other"}"#)
            let foreign = try #require(other["admin_key"]?.string)
            let narrow = try await api.key([.read], channels: ["b"])
            let missing = await api.call(.get, "/v1/events/evt_17000000000000000")
            #expect(missing.status == 404)
            for (key, target) in [(foreign, id), (narrow, id), (api.adminKey, "17000000000000000")] {
                let answer = await api.call(.get, "/v1/events/\(target)", key: key)
                #expect(answer.status == 404)
                #expect(answer["detail"]?.string == missing["detail"]?.string)
            }
        }
    }

    @Test("is explained: its deliveries, and who would receive it now")
    func explanation() async throws {
        try await APIFixture.run { api in
            let made = await api.call(.post, "/v1/webhooks", #"{"url":"https://example.com/hook","types":["t"]}"#)
            let webhook = try #require(made["id"]?.string)
            _ = await api.call(.post, "/v1/webhooks/\(webhook)/disable")
            let id = try #require(
                await api.call(.post, "/v1/channels/a/events", #"{"type":"t","data":1}"#)["id"]?.string)
            _ = await api.firstDelivery(of: webhook)
            let answer = await api.call(.get, "/v1/events/\(id)/explain")
            #expect(answer["deliveries"]?[0]?["subscriber"]?.string == webhook)
            #expect(answer["would_reach"]?["webhooks"]?[0]?["id"]?.string == webhook)
            #expect(answer["schema"]?.isNull == true)
            let reader = try await api.key([.read])
            #expect(await api.call(.get, "/v1/events/\(id)/explain", key: reader).status == 403)
        }
    }

    @Test("is explained as older than a webhook that was made after it")
    func explainedOfItsTime() async throws {
        try await APIFixture.run { api in
            let event = await api.call(.post, "/v1/channels/a/events", #"{"type":"t","data":1}"#)
            _ = await api.call(.post, "/v1/webhooks", #"{"url":"https://example.com/hook"}"#)
            let answer = await api.call(.get, "/v1/events/\(event["id"]?.string ?? "")/explain")
            #expect(answer["kept"]?.boolean == true)
            for fate in [answer["webhooks"]?[0], answer["would_reach"]?["webhooks"]?[0]] {
                #expect(fate?["match"]?.boolean == false)
                #expect(fate?["why"]?.string == "the event is older than the webhook")
            }
        }
    }

    @Test("is explained by its deliveries when it is kept no more")
    func explainedWhenGone() async throws {
        try await APIFixture.run { api in
            let made = await api.call(.post, "/v1/webhooks", #"{"url":"https://example.com/hook"}"#)
            let webhook = try #require(made["id"]?.string)
            _ = await api.call(.post, "/v1/webhooks/\(webhook)/disable")
            let event = await api.call(.post, "/v1/channels/a/events", #"{"type":"t","data":1}"#)
            let id = try #require(event["id"]?.string)
            _ = await api.firstDelivery(of: webhook)
            #expect(await api.call(.delete, "/v1/channels/a/events?all=true").status == 200)
            #expect(await api.call(.get, "/v1/events/\(id)").status == 404)
            let answer = await api.call(.get, "/v1/events/\(id)/explain")
            #expect(answer.status == 200)
            #expect(answer["event"]?.string == id && answer["type"]?.string == "t")
            #expect(answer["kept"]?.boolean == false)
            #expect(answer["webhooks"]?[0]?["webhook"]?.string == webhook)
            #expect(answer["webhooks"]?[0]?["match"]?.boolean == true)
            #expect(answer["webhooks"]?[0]?["delivery"]?["status"]?.string == "held")
            #expect(answer["deliveries"]?.count == 1)
            #expect(await api.call(.get, "/v1/events/evt_17000000000000000/explain").status == 404)
            let narrow = try await api.key([.read, .manage], channels: ["b"])
            #expect(await api.call(.get, "/v1/events/\(id)/explain", key: narrow).status == 404)
        }
    }

    @Test("has the published tag formula")
    func formula() {
        let representation = #"{"id":"ep_1","url":"https://example.com/hook","version":3}"#
        #expect(EntityTag.of(Array(representation.utf8)) == #""OAnjLd2gkJqKEe_c""#)
    }
}

@Suite("Page cursors") struct PageCursorTests {
    @Test("of a history are refused in another channel, or with other filters")
    func ofAnotherHistory() async throws {
        try await APIFixture.run { api in
            for channel in ["a", "b"] {
                for n in 0..<4 { _ = await api.call(.post, "/v1/channels/\(channel)/events", #"{"data":\#(n)}"#) }
            }
            let path = "/v1/channels/a/events?type=custom&type=x.*&limit=2"
            let cursor = try #require(await api.call(.get, path)["next_cursor"]?.string)
            func page(_ channel: String, _ query: String) async -> Answer {
                await api.call(.get, "/v1/channels/\(channel)/events?\(query)&cursor=\(cursor)")
            }
            // The limit and its spelling may change from page to page.
            #expect(await page("a", "limit=3&type=x.*&type=cust%6Fm")["data"]?.count == 2)
            for (channel, query) in [
                ("b", "type=custom&type=x.*"), ("a", "type=custom"), ("a", "limit=2"),
                ("a", "type=custom&type=x.*&user=u"), ("a", "type=custom&type=x.*&after=17000000000000000"),
            ] {
                let refused = await page(channel, query)
                #expect(refused.status == 400 && refused.code == "bad_cursor", "\(channel) \(query)")
                #expect(refused["detail"]?.string?.contains("another list") == true)
            }
        }
    }

    @Test("of several histories continue in each, and only there")
    func ofSeveralHistories() async throws {
        try await APIFixture.run { api in
            for channel in ["a", "b"] {
                for n in 0..<4 { _ = await api.call(.post, "/v1/channels/\(channel)/events", #"{"data":\#(n)}"#) }
            }
            let first = await api.call(
                .post, "/v1/history", #"{"channels":["a","b"],"types":["custom"],"limit":3}"#)
            let cursor = try #require(first["channels"]?["a"]?["next_cursor"]?.string)
            func rest(_ channel: String) async -> Answer {
                await api.call(.get, "/v1/channels/\(channel)/events?type=custom&cursor=\(cursor)")
            }
            #expect(await rest("a")["data"]?.count == 1)
            #expect(await rest("b").code == "bad_cursor")
        }
    }

    @Test("of a list are refused in another one")
    func ofAnotherList() async throws {
        try await APIFixture.run { api in
            for name in ["one", "two", "three"] {
                _ = await api.call(.put, "/v1/event-types/\(name).x", "{}")
                for n in 1...3 {
                    let schema = #"{"schema":{"maximum":\#(10 - n)},"force":"test"}"#
                    _ = await api.call(.post, "/v1/event-types/\(name).x/versions", schema)
                }
                _ = await api.call(.post, "/v1/keys", #"{"name":"\#(name)","scopes":["read"]}"#)
                _ = await api.call(.post, "/v1/apps", #"{"name":"\#(name)"}"#)
            }
            let lists = [
                "/v1/event-types?built_in=false", "/v1/event-types?prefix=t", "/v1/event-types/one.x/versions?",
                "/v1/event-types/two.x/versions?", "/v1/keys?", "/v1/apps?",
            ]
            for list in lists {
                let cursor = try #require(await api.call(.get, list + "&limit=1")["next_cursor"]?.string, "\(list)")
                for other in lists {
                    let page = await api.call(.get, other + "&cursor=\(cursor)")
                    #expect(page.status == (other == list ? 200 : 400), "\(list) in \(other)")
                    #expect(page.code == (other == list ? nil : "bad_cursor"))
                }
            }
        }
    }

    @Test("are decoded to their content", arguments: [HistoryRequest.Order.oldestFirst, .newestFirst])
    func roundTrip(_ order: HistoryRequest.Order) throws {
        for direction in [PageCursor.Direction.next, .prev] {
            let cursor = PageCursor(
                position: 17_000_000_001_234_567, order: order, direction: direction, anchor: 9, list: "x")
            #expect(try PageCursor(text: cursor.text) == cursor)
        }
    }

    @Test(
        "of another origin are refused",
        arguments: ["", "x", "MXwxNzAwMDAwMDAwMTIzNDU2N3xhc2M", "%", "1|1|asc|next|1", "MnwxfGFzY3xuZXh0fDE"])
    func foreign(_ text: String) {
        #expect(throws: ChatError.self) { try PageCursor(text: text) }
    }

    @Test("of random bytes are refused or read, never a crash")
    func random() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
                Array("012|ascdenxtprv9".utf8).randomElement(using: &random) ?? 0
            }
            guard let cursor = try? PageCursor(text: Base64.encodeURL(bytes)) else { continue }
            #expect((try? PageCursor(text: cursor.text)) == cursor, "seed \(random.seed)")
        }
    }
}
