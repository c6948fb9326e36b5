import HTTPServer
import JSON
import Testing

@testable import NativeAPI

@Suite("Channels over HTTP") struct ChatChannelTests {
    @Test("are made with members, invited to, joined, changed, left and deleted")
    func story() async throws {
        try await APIFixture.run { api in
            let made = await api.call(
                .post, "/v1/channels", #"{"kind":"group","id":"crew","name":"Crew","users":["ben"],"by":"ana"}"#)
            #expect(made.status == 201 && made.header("Location") == "/v1/channels/crew")
            #expect(made["member_count"]?.integer == 2 && made["joined_member_count"]?.integer == 1)
            #expect(made["operators"]?.strings == ["ana"])
            #expect(await api.call(.post, "/v1/channels", #"{"kind":"group","id":"crew"}"#).code == "already_exists")

            let user = try await api.key(scopes: #""emit","read""#)
            let refused = await api.call(.put, "/v1/channels/crew/members/carl", #"{"by":"carl"}"#, key: user)
            #expect(refused.status == 403 && refused.code == "not_invited")
            let joined = await api.call(
                .put, "/v1/channels/crew/members/ben", #"{"by":"ben","status":"here"}"#, key: user,
                headers: [("X-Request-Id", "join-1")])
            #expect(joined.status == 200 && joined["state"]?.string == "joined" && joined["status"]?.string == "here")
            let events = await api.call(.get, "/v1/channels/crew/events?order=desc&limit=1")
            #expect(events["data"]?[0]?["type"]?.string == "member.joined")
            #expect(events["data"]?[0]?["cause"]?.string == "join-1")
            #expect(events["data"]?[0]?["user"]?.string == "ben")

            let invited = await api.call(
                .post, "/v1/channels/crew/invites", #"{"users":["carl","dora"],"by":"ben"}"#, key: user)
            #expect(invited["data"]?.elements?.map { $0["state"]?.string } == ["invited", "invited"])
            #expect(await api.types(on: "carl") == ["member.invited"])
            let carl = "/v1/channels/crew/invites/carl"
            #expect(await api.call(.post, carl + "/accept", #"{"by":"dora"}"#, key: user).code == "not_self")
            #expect(await api.call(.post, carl + "/accept", #"{"by":"carl"}"#, key: user)["state"]?.string == "joined")
            #expect(await api.call(.post, carl + "/decline", #"{"by":"carl"}"#, key: user).code == "already_joined")
            #expect(await api.call(.post, "/v1/channels/crew/invites/dora/decline", #"{"by":"dora"}"#).status == 204)
            #expect(await api.call(.get, "/v1/channels/crew/members/dora").code == "no_such_member")

            let members = await api.call(.get, "/v1/channels/crew/members?filter=state=='joined'&total=true")
            #expect(members["data"]?.elements?.map { $0["user"]?.string } == ["ana", "ben", "carl"])
            #expect(members["total"]?.integer == 3)
            let kicked = await api.call(.delete, "/v1/channels/crew/members/carl?by=ana&reason=spam", key: user)
            #expect(kicked.status == 204)
            #expect(await api.call(.delete, "/v1/channels/crew/members/carl?by=ben", key: user).code == "not_operator")

            let tag = try #require(await api.call(.get, "/v1/channels/crew").header("ETag"))
            let changed = await api.call(
                .patch, "/v1/channels/crew", #"{"description":"Ours","by":"ana"}"#, key: user,
                headers: [("If-Match", tag)])
            #expect(changed["description"]?.string == "Ours" && changed["name"]?.string == "Crew")
            #expect(await api.call(.delete, "/v1/channels/crew", headers: [("If-Match", tag)]).status == 412)
            #expect(await api.call(.delete, "/v1/channels/crew?by=ben", key: user).code == "not_operator")
            #expect(await api.call(.delete, "/v1/channels/crew").status == 204)
            #expect(await api.call(.delete, "/v1/channels/crew").status == 404)
            #expect(await api.types(on: "crew").last == "channel.deleted")
            #expect(await api.call(.get, "/v1/users/ben/memberships")["data"]?.count == 0)
        }
    }

    @Test("that are distinct are one for each set of users, and can be found by it")
    func distinct() async throws {
        try await APIFixture.run { api in
            let body = #"{"kind":"group","distinct":true,"users":["ben","carl"],"by":"ana"}"#
            let made = await api.call(.post, "/v1/channels", body)
            #expect(made.status == 201 && made["distinct"]?.boolean == true)
            let id = try #require(made["id"]?.string)
            let again = await api.call(
                .post, "/v1/channels", #"{"kind":"group","distinct":true,"users":["carl","ana"],"by":"ben"}"#)
            #expect(again.status == 200 && again.bytes == made.bytes && again.header("Location") == nil)
            _ = await api.call(
                .post, "/v1/channels", #"{"kind":"group","id":"other","users":["ben","carl"],"by":"ana"}"#)
            let list = await api.call(.get, "/v1/channels?filter=distinct==true")
            #expect(list["data"]?.elements?.compactMap { $0["id"]?.string } == [id])
            let shown = await api.call(.get, "/v1/channels/\(id)")
            #expect(await api.call(.put, "/v1/channels/\(id)", shown.text).bytes == shown.bytes)
            let refused = await api.call(.patch, "/v1/channels/\(id)", #"{"distinct":false}"#)
            #expect(refused.code == "bad_member")
            for body in [#"{"kind":"open","distinct":true}"#, #"{"kind":"group","distinct":true}"#] {
                #expect(await api.call(.post, "/v1/channels", body).code == "bad_member")
            }
        }
    }

    @Test("show a membership's push preference and whether it is hidden to its user and to keys, and to nobody else")
    func pushPreference() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/channels/square", #"{"kind":"public"}"#)
            let path = "/v1/channels/square/members/ben"
            var tokens: [String: String] = [:]
            for user in ["ana", "ben"] {
                let body = #"{"user":"\#(user)","channels":["*"],"scopes":["emit","read"]}"#
                tokens[user] = await api.call(.post, "/v1/tokens", body)["token"]?.string
            }
            let joined = await api.call(.put, path, #"{"push":"mentions"}"#, key: tokens["ben"])
            #expect(joined.status == 201 && joined["push"]?.string == "mentions")
            _ = await api.call(.put, "/v1/channels/square/members/ana", "{}", key: tokens["ana"])
            #expect(await api.call(.get, path)["push"]?.string == "mentions")
            let own = await api.call(.get, path, key: tokens["ben"])
            #expect(own["push"]?.string == "mentions" && own["hidden"]?.isNull == true)
            for target in [path, "/v1/channels/square/members"] {
                let seen = await api.call(.get, target, key: tokens["ana"])
                let member = seen["data"]?.elements?.last ?? seen.json
                #expect(member?["user"]?.string == "ben")
                #expect(member?["push"] == nil && member?["hidden"] == nil)
            }
            let written = await api.call(.put, path, own.text, key: tokens["ben"])
            #expect(written.text == own.text)
            let refused = await api.call(.patch, path, #"{"push":"loud"}"#, key: tokens["ben"])
            #expect(refused.code == "bad_member")
            #expect(await api.call(.patch, path, #"{"push":null}"#, key: tokens["ben"])["push"]?.string == "all")
        }
    }

    @Test("are made or replaced under their name, with an operator more or less")
    func put() async throws {
        try await APIFixture.run { api in
            #expect(await api.call(.put, "/v1/channels/lobby", "{}").code == "member_missing")
            #expect(await api.call(.put, "/v1/channels/lobby", #"{"kind":"opn"}"#).code == "bad_member")
            let made = await api.call(.put, "/v1/channels/lobby", #"{"kind":"open","data":[1.50]}"#)
            #expect(made.status == 201 && made.header("Location") == "/v1/channels/lobby")
            #expect(made.raw("data")?.description == "[1.50]")
            #expect(made["member_count"] == nil)
            let again = await api.call(.put, "/v1/channels/lobby", #"{"kind":"open"}"#)
            #expect(again.status == 200 && again["data"]?.isNull == true)
            let exists = await api.call(
                .put, "/v1/channels/lobby", #"{"kind":"open"}"#, headers: [("If-None-Match", "*")])
            #expect(exists.status == 412)
            #expect(await api.call(.put, "/v1/channels/lobby", #"{"kind":"group"}"#).code == "kind_fixed")
            #expect(await api.call(.put, "/v1/channels/lobby/members/ana", "{}").code == "no_members")
            #expect(await api.call(.put, "/v1/channels/lobby/operators/ana")["operators"]?.strings == ["ana"])
            #expect(await api.call(.delete, "/v1/channels/lobby/operators/ana").status == 204)
            #expect(await api.call(.get, "/v1/channels/lobby")["operators"]?.strings == [])
            let list = await api.call(.get, "/v1/channels?filter=kind=='open'")
            #expect(list["data"]?[0]?["id"]?.string == "lobby")
        }
    }

    @Test("with names that need escaping have an escaped Location")
    func location() async throws {
        try await APIFixture.run { api in
            let made = await api.call(.post, "/v1/channels", #"{"kind":"public","id":"a/b c"}"#)
            #expect(made.header("Location") == "/v1/channels/a%2Fb%20c")
            #expect(await api.call(.get, "/v1/channels/a%2Fb%20c")["id"]?.string == "a/b c")
        }
    }

    @Test("of kind direct answer the same channel to both")
    func direct() async throws {
        try await APIFixture.run { api in
            let first = await api.call(.post, "/v1/channels", #"{"kind":"direct","users":["ben"],"by":"ana"}"#)
            let second = await api.call(.post, "/v1/channels", #"{"kind":"direct","users":["ana"],"by":"ben"}"#)
            #expect(first.status == 201 && second.status == 200)
            #expect(first["id"]?.string == second["id"]?.string)
            #expect(second["pair"]?.strings == ["ana", "ben"])
        }
    }

    @Test("are hidden from a member's list and shown again")
    func hidden() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/channels/crew", #"{"kind":"public","by":"ana"}"#)
            let path = "/v1/channels/crew/members/ana/hidden"
            let hidden = await api.call(.put, path, #"{"hide_previous_messages":true}"#)
            #expect(hidden["hidden"]?["hide_previous_messages"]?.boolean == true)
            #expect(hidden["hidden"]?["allow_auto_unhide"]?.boolean == true)
            #expect(await api.call(.delete, path).status == 204)
            #expect(await api.call(.delete, path).status == 204)
            let member = await api.call(.get, "/v1/channels/crew/members/ana")
            #expect(member["hidden"]?.isNull == true)
            let role = await api.call(.patch, "/v1/channels/crew/members/ana", #"{"role":"none"}"#)
            #expect(role["role"]?.string == "none")
            #expect(await api.call(.patch, "/v1/channels/crew/members/eve", "{}").code == "no_such_member")
        }
    }

    @Test("come together in groups")
    func groups() async throws {
        try await APIFixture.run { api in
            let made = await api.call(.put, "/v1/channel-groups/news", #"{"channels":["news.eu","news.us"]}"#)
            #expect(made.status == 201)
            let changed = await api.call(
                .post, "/v1/channel-groups/news/channels", #"{"add":["news.uk"],"remove":["news.eu"]}"#)
            #expect(changed["channels"]?.strings == ["news.us", "news.uk"])
            let list = await api.call(.get, "/v1/channel-groups")
            #expect(list["data"]?[0]?["channel_count"]?.integer == 2)
            let tag = try #require(made.header("ETag"))
            #expect(await api.call(.delete, "/v1/channel-groups/news", headers: [("If-Match", tag)]).status == 412)
            #expect(await api.call(.delete, "/v1/channel-groups/news").status == 204)
            #expect(await api.call(.get, "/v1/channel-groups/news").status == 404)
        }
    }
}
