import HTTPServer
import JSON
import Testing

@testable import NativeAPI

@Suite("Users over HTTP") struct ChatUserTests {
    @Test("are made, read, changed at a version, listed and deleted")
    func story() async throws {
        try await APIFixture.run { api in
            #expect(await api.call(.get, "/v1/users/ana").status == 404)
            let made = await api.call(
                .put, "/v1/users/ana", #"{"name":"Ana","custom":{"rate":1.50},"metadata":{"lang":"en"}}"#)
            #expect(made.status == 201 && made.header("Location") == "/v1/users/ana")
            #expect(made.raw("custom")?.description == #"{"rate":1.50}"#)
            let tag = try #require(made.header("ETag"))
            #expect(await api.call(.get, "/v1/users/ana", headers: [("If-None-Match", tag)]).status == 304)

            let patched = await api.call(
                .patch, "/v1/users/ana", #"{"name":null,"status":"away"}"#, headers: [("If-Match", tag)])
            #expect(patched.status == 200 && patched["name"]?.isNull == true && patched["status"]?.string == "away")
            #expect(patched["metadata"]?["lang"]?.string == "en")
            let stale = await api.call(.patch, "/v1/users/ana", #"{"name":"B"}"#, headers: [("If-Match", tag)])
            #expect(stale.status == 412)
            let second = await api.call(.put, "/v1/users/ana", "{}", headers: [("If-None-Match", "*")])
            #expect(second.status == 412)

            _ = await api.call(.put, "/v1/users/ben", #"{"name":"Ben"}"#)
            let list = await api.call(.get, "/v1/users?filter=name%20LIKE%20'b*'&total=true")
            #expect(list["data"]?.elements?.map { $0["id"]?.string } == ["ben"])
            #expect(list["total"]?.integer == 1)
            let page = await api.call(.get, "/v1/users?sort=id:desc&limit=1")
            #expect(page["data"]?[0]?["id"]?.string == "ben")
            let cursor = try #require(page["next_cursor"]?.string)
            let next = await api.call(.get, "/v1/users?sort=id:desc&limit=1&cursor=\(cursor)")
            #expect(next["data"]?[0]?["id"]?.string == "ana")
            #expect(await api.call(.get, "/v1/users?sort=nme").code == "bad_sort")
            #expect(await api.call(.get, "/v1/users?filter=nme==1").code == "bad_filter")

            #expect(await api.call(.delete, "/v1/users/ana").status == 204)
            #expect(await api.call(.delete, "/v1/users/ana").status == 404)
            #expect(
                await api.types(on: "ana") == ["user.created", "user.updated", "user.deleted"])
        }
    }

    @Test("show other users' tokens what the app makes public, in records, lists and events")
    func publicFields() async throws {
        try await APIFixture.run { api in
            let body = #"{"name":"Ana","email":"ana@example.com","external_id":"4711","custom":{"team":"red"}}"#
            _ = await api.call(.put, "/v1/users/ana", body)
            func token(_ user: String) async -> String {
                await api.call(.post, "/v1/tokens", "{\"user\":\"\(user)\",\"scopes\":[\"read\"]}")["token"]?.string
                    ?? ""
            }
            let (ana, eve) = (await token("ana"), await token("eve"))
            #expect(await api.call(.get, "/v1/users/ana", key: ana)["email"]?.string == "ana@example.com")
            let seen = await api.call(.get, "/v1/users/ana", key: eve)
            #expect(seen["email"]?.isNull == true && seen["external_id"]?.isNull == true)
            #expect(seen["name"]?.string == "Ana" && seen["custom"]?["team"]?.string == "red")
            #expect(seen.header("Cache-Control") == nil)
            for target in [
                "/v1/users", "/v1/users?filter=name%20==%20'Ana'", "/v1/channels/ana/events",
                "/v1/poll?channel=ana&cursor=earliest",
            ] {
                let answer = await api.call(.get, target, key: eve)
                #expect(answer.status == 200 && answer.text.contains("red"), "\(target)")
                #expect(!answer.text.contains("example.com") && !answer.text.contains("4711"), "\(target)")
            }
            #expect(await api.call(.get, "/v1/users?filter=email%20LIKE%20'a*'", key: eve).code == "bad_filter")
            #expect(await api.call(.get, "/v1/users?sort=external_id", key: eve).code == "bad_sort")

            let changed = await api.call(.patch, "/v1/apps/default", #"{"public_user_fields":["email"]}"#)
            #expect(changed["public_user_fields"]?.elements?.map(\.string) == ["email"])
            let other = await api.call(.get, "/v1/users/ana", key: eve)
            #expect(other["email"]?.string == "ana@example.com" && other["custom"]?.isNull == true)
            let bad = await api.call(.patch, "/v1/apps/default", #"{"public_user_fields":["name"]}"#)
            #expect(bad.status == 400 && bad["errors"]?[0]?["pointer"]?.string == "#/public_user_fields/0")
            let reset = await api.call(.patch, "/v1/apps/default", #"{"public_user_fields":null}"#)
            #expect(
                reset["public_user_fields"]?.elements?.map(\.string) == ["type", "status", "custom", "metadata"])
        }
    }

    @Test("are sorted by their records among members, with a token by public fields only; channels of a user likewise")
    func membersSorted() async throws {
        try await APIFixture.run { api in
            for (channel, name) in [("a", "Zoo"), ("b", "Alps")] {
                _ = await api.call(.put, "/v1/channels/\(channel)", #"{"kind":"public","name":"\#(name)"}"#)
            }
            for (user, name, status) in [("ana", "Zoe", "away"), ("ben", "Adam", "here"), ("cy", "Max", "busy")] {
                _ = await api.call(.put, "/v1/users/\(user)", #"{"name":"\#(name)","status":"\#(status)"}"#)
                for channel in ["a", "b"] { _ = await api.call(.put, "/v1/channels/\(channel)/members/\(user)", "{}") }
            }
            func read(_ path: String, _ member: String, key: String = "dev") async -> [String?]? {
                await api.call(.get, path, key: key)["data"]?.elements?.map { $0[member]?.string }
            }
            let members = "/v1/channels/a/members?sort="
            #expect(await read(members + "user.name", "user") == ["ben", "cy", "ana"])
            #expect(await read(members + "user.status:desc", "user") == ["ben", "cy", "ana"])
            let first = await api.call(.get, members + "user.name&limit=2")
            let cursor = try #require(first["next_cursor"]?.string)
            #expect(await read(members + "user.name&limit=2&cursor=\(cursor)", "user") == ["ana"])
            #expect(await read("/v1/users/ana/memberships?sort=channel.name", "channel") == ["b", "a"])
            #expect(await api.call(.get, members + "channel.name").code == "bad_sort")
            let answer = await api.call(.post, "/v1/tokens", #"{"user":"ana","scopes":["read"]}"#)
            let token = try #require(answer["token"]?.string)
            _ = await api.call(.patch, "/v1/apps/default", #"{"public_user_fields":["email"]}"#)
            #expect(await read(members + "user.name", "user", key: token) == ["ben", "cy", "ana"])
            #expect(await api.call(.get, members + "user.status", key: token).code == "bad_sort")
        }
    }

    @Test("block others, and lift it")
    func blocks() async throws {
        try await APIFixture.run { api in
            let block = await api.call(.put, "/v1/users/ana/blocks/eve")
            #expect(block.status == 201 && block["blocked"]?.string == "eve")
            #expect(await api.call(.put, "/v1/users/ana/blocks/eve", #"{"by":"ana"}"#).status == 200)
            #expect(await api.call(.get, "/v1/users/ana/blocks")["data"]?[0]?["blocked"]?.string == "eve")
            #expect(await api.call(.delete, "/v1/users/ana/blocks/eve?by=ana").status == 204)
            #expect(await api.call(.get, "/v1/users/ana/blocks")["data"]?.count == 0)
            #expect(await api.call(.put, "/v1/users/ana/blocks/ana").code == "own_block")
        }
    }

    @Test("answer an unknown member with the name that was meant")
    func mistakes() async throws {
        try await APIFixture.run { api in
            let wrong = await api.call(.put, "/v1/users/ana", #"{"name":7}"#)
            #expect(wrong.code == "wrong_type")
            #expect(await api.call(.put, "/v1/users/ana", #"{"nam":"A"}"#).code == "unknown_member")
            #expect(await api.call(.put, "/v1/users/ana", #"{"custom":[1]}"#).code == "wrong_type")
            #expect(await api.call(.put, "/v1/users/ana", #"{"metadata":{"a":1}}"#).code == "wrong_type")
            // The acting user is a member of the body, or a query parameter where there is no body. The value is a
            // user's name.
            #expect(await api.call(.put, "/v1/users/ana?by=x", #"{"by":"y"}"#).code == "unknown_parameter")
            let actor = await api.call(.put, "/v1/users/ana", #"{"by":"a,b"}"#)
            #expect(actor.code == "bad_member" && actor["errors"]?[0]?["pointer"]?.string == "#/by")
            #expect(await api.call(.delete, "/v1/users/ana?by=a,b").code == "bad_parameter")
            let device = await api.call(
                .put, "/v1/users/ana", headers: [("X-Device-Id", String(repeating: "x", count: 200))])
            #expect(device.status == 400)
        }
    }
}

extension APIFixture {
    /// The types of a channel's stored events, oldest first.
    func types(on channel: String) async -> [String] {
        await call(.get, "/v1/channels/\(channel)/events")["data"]?.elements?.compactMap { $0["type"]?.string } ?? []
    }

    /// Creates a key with these scopes only.
    func key(scopes: String) async throws -> String {
        let made = await call(.post, "/v1/keys", #"{"scopes":[\#(scopes)]}"#)
        return try #require(made["key"]?.string)
    }
}
