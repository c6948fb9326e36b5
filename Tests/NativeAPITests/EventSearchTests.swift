import ChatModel
import HTTPServer
import JSON
import TestSupport
import Testing

@Suite("A search of events", .timeLimit(.minutes(2))) struct EventSearchTests {
    private func numbers(_ answer: Answer) -> [Int] {
        answer.json?["data"]?.elements?.compactMap { $0["data"]?["n"]?.integer.map { Int($0) } } ?? []
    }

    private func fill(_ api: APIFixture) async {
        for number in 1...6 {
            let body = #"{"type":"\#(number % 2 == 0 ? "order.paid" : "order.made")","data":{"n":\#(number)}"#
            let user = number > 4 ? #","user":"ana"}"# : "}"
            _ = await api.call(.post, "/v1/channels/shop.\(number % 3)/events", body + user)
        }
    }

    @Test(
        "finds what its parameters name, in either order",
        arguments: [
            ("", [1, 2, 3, 4, 5, 6]), ("order=desc", [6, 5, 4, 3, 2, 1]), ("channel=shop.1", [1, 4]),
            ("channel=shop.1&channel=shop.2&order=desc", [5, 4, 2, 1]), ("channel=shop.*&type=order.paid", [2, 4, 6]),
            ("user=ana", [5, 6]), ("filter=data.n>2%26%26data.n<5&order=desc", [4, 3]), ("channel=other.*", []),
        ] as [(String, [Int])])
    func parameters(_ query: String, _ expected: [Int]) async throws {
        try await APIFixture.run { api in
            await fill(api)
            let answer = await api.call(.get, "/v1/events?\(query)")
            #expect(answer.status == 200)
            #expect(numbers(answer) == expected)
            #expect(answer.json?["has_more"]?.boolean == false)
        }
    }

    @Test("goes from page to page, within its bounds", arguments: ["asc", "desc"])
    func pages(_ order: String) async throws {
        try await APIFixture.run { api in
            await fill(api)
            let all = await api.call(.get, "/v1/events")
            let first = try #require(all.json?["data"]?.elements?.first?["timetoken"]?.string)
            let query = "order=\(order)&after=\(first)&limit=2"
            var found: [Int] = []
            var target = "/v1/events?" + query
            for _ in 0..<5 {
                let page = await api.call(.get, target)
                found += numbers(page)
                guard let cursor = page.json?["next_cursor"]?.string else { break }
                target = "/v1/events?" + query + "&cursor=" + cursor
            }
            #expect(found == (order == "asc" ? [2, 3, 4, 5, 6] : [6, 5, 4, 3, 2]))
            let foreign = await api.call(.get, target.replacing("limit=2", with: "limit=2&type=x.y"))
            #expect(foreign.status == 400)
        }
    }

    @Test("hides from a user's token private channels of others and events for others")
    func rights() async throws {
        try await APIFixture.run { api in
            await fill(api)
            _ = await api.call(.put, "/v1/channels/secret", #"{"kind":"group"}"#)
            _ = await api.call(.post, "/v1/channels/secret/events", #"{"type":"a.b","data":{"n":7}}"#)
            _ = await api.call(.put, "/v1/channels/shop.1/restrictions/bo", #"{"ban":true}"#)
            let issued = await api.call(.post, "/v1/tokens", #"{"user":"bo","scopes":["read"],"channels":["*"]}"#)
            let token = try #require(issued.json?["token"]?.string)
            #expect(numbers(await api.call(.get, "/v1/events")).contains(7))
            #expect(numbers(await api.call(.get, "/v1/events", key: token)) == [2, 3, 5, 6])
            #expect(await api.call(.get, "/v1/events?channel=secret", key: token).status == 403)
            #expect(await api.call(.get, "/v1/events?channel=shop.1", key: token).status == 403)
        }
    }

    @Test("distinguishes users whose names are equal texts with different bytes")
    func exactUser() async throws {
        try await APIFixture.run { api in
            for (number, user) in [(1, "\u{E9}"), (2, "e\u{301}")] {
                let body = #"{"type":"a.b","user":"\#(user)","data":{"n":\#(number)}}"#
                #expect(await api.call(.post, "/v1/channels/c/events", body).status == 201)
            }
            #expect(numbers(await api.call(.get, "/v1/events?user=%C3%A9")) == [1])
            #expect(numbers(await api.call(.get, "/v1/events?user=e%CC%81")) == [2])
        }
    }

    @Test("refuses what it does not know", arguments: ["order=up", "limit=0", "filter=data.", "cursor=x", "chanel=a"])
    func refusals(_ query: String) async throws {
        try await APIFixture.run { api in
            #expect(await api.call(.get, "/v1/events?" + query).status == 400)
        }
    }
}
