import ChatCore
import ChatModel
import HTTPServer
import JSON
import Testing

@testable import NativeAPI

@Suite("Presence, participants and typing over HTTP") struct PresenceRouteTests {
    @Test("list the users of a channel, page by page, and the channels of a user")
    func presence() async throws {
        try await APIFixture.run { api in
            for user in ["cy", "ana", "ben"] {
                let came = await api.call(.put, "/v1/channels/room/presence/\(user)")
                #expect(came.status == 201 && came.header("Location") == "/v1/channels/room/presence/\(user)")
            }
            let body = #"{"ttl_seconds":60,"state":{"mood":"busy"}}"#
            #expect(await api.call(.put, "/v1/channels/room/presence/ben", body).status == 204)
            let first = await api.call(.get, "/v1/channels/room/presence?limit=2")
            #expect(first["data"]?.elements?.compactMap { $0["user"]?.string } == ["ana", "ben"])
            #expect(first["data"]?.elements?[1]["state"]?["mood"]?.string == "busy")
            #expect(first["total"]?.integer == 3 && first["has_more"]?.boolean == true)
            let cursor = try #require(first["next_cursor"]?.string)
            let second = await api.call(.get, "/v1/channels/room/presence?limit=2&cursor=\(cursor)")
            #expect(second["data"]?.elements?.compactMap { $0["user"]?.string } == ["cy"])
            #expect(second["has_more"]?.boolean == false)
            let places = await api.call(.get, "/v1/users/ben/presence")
            #expect(places["data"]?.elements?.compactMap { $0["channel"]?.string } == ["room"])
            #expect(await api.call(.delete, "/v1/channels/room/presence/ben").status == 204)
            #expect(await api.call(.delete, "/v1/channels/room/presence/ben").status == 204)
            #expect(await api.call(.get, "/v1/channels/room/presence/ben").code == "not_present")
        }
    }

    @Test("are not followed by PubNub's name for a channel's presence", arguments: ["stream", "poll"])
    func wireName(way: String) async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.get, "/v1/\(way)?channel=room&channel=room-pnpres")
            #expect(answer.status == 400)
            #expect(
                answer["detail"]?.string
                    == "'room-pnpres' has no events of its own; to receive presence events, select channel 'room' and the type 'presence.*'"
            )
        }
    }

    @Test("show a state in place of the one before")
    func state() async throws {
        try await APIFixture.run { api in
            let path = "/v1/channels/room/presence/ana/state"
            #expect(await api.call(.put, path, #"{"a":1}"#).code == "not_present")
            _ = await api.call(.put, "/v1/channels/room/presence/ana")
            #expect(await api.call(.get, path).text == "{}")
            #expect(await api.call(.put, path, #"{"a":1.50}"#).status == 200)
            #expect(await api.call(.get, path).text == #"{"a":1.50}"#)
            #expect(await api.call(.put, path, "[]").status == 400)
            #expect(await api.call(.put, "/v1/channels/room/presence/ana", #"{"state":7}"#).status == 400)
            #expect(await api.call(.put, "/v1/channels/room/presence/ana", #"{"ttl_seconds":1}"#).status == 400)
        }
    }

    @Test("let users enter an open channel and no other, and leave it")
    func participants() async throws {
        try await APIFixture.run { api in
            let owner = Caller(app: api.app.id, credential: "key_owner", scopes: [.admin])
            let chat = api.service.chat(for: owner)
            _ = try await chat.make(NewChannel(kind: .open, id: "lobby"))
            var crew = NewChannel(kind: .group, id: "crew")
            crew.users = ["ana"]
            _ = try await chat.make(crew)
            let path = "/v1/channels/lobby/participants"
            let entered = await api.call(.put, path + "/ana", headers: [("X-Device-Id", "phone")])
            #expect(entered.status == 201 && entered["participant_count"]?.integer == 1)
            #expect(await api.call(.put, path + "/ana").status == 200)
            let list = await api.call(.get, path)
            #expect(list["data"]?.elements?.compactMap { $0["user"]?.string } == ["ana"])
            #expect(list["total"]?.integer == 1)
            #expect(await api.call(.delete, path + "/ana").status == 204)
            #expect(await api.call(.get, path)["total"]?.integer == 0)
            #expect(await api.call(.put, "/v1/channels/crew/participants/ana").code == "not_open")
            #expect(await api.call(.put, "/v1/channels/none/participants/ana").status == 404)
        }
    }

    @Test("announce a typing user, once for each time it begins")
    func typing() async throws {
        try await APIFixture.run { api in
            #expect(await api.call(.put, "/v1/channels/room/typing/ana").status == 204)
            #expect(await api.call(.put, "/v1/channels/room/typing/ana").status == 204)
            #expect(await api.call(.delete, "/v1/channels/room/typing/ana").status == 204)
            #expect(await api.call(.delete, "/v1/channels/room/typing/ana").status == 204)
            let channels = ChannelSet(app: api.app.id, isAll: true)
            let told = try await api.service.engine.log.events(in: channels, after: .zero, limit: 10).items
                .filter { $0.audience != .wire }
            #expect(told.map(\.type) == ["typing.started", "typing.stopped"])
            #expect(told.allSatisfy { $0.user == "ana" && $0.retention == .passing })
        }
    }

    @Test("list typing users, in the form of the event, page by page")
    func typists() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/users/ana", #"{"name":"Ana","email":"a@example.com"}"#)
            for user in ["cy", "ben", "ana"] {
                #expect(await api.call(.put, "/v1/channels/room/typing/\(user)").status == 204)
            }
            let path = "/v1/channels/room/typing"
            let all = await api.call(.get, path)
            #expect(all["total"]?.integer == 3 && all["has_more"]?.boolean == false)
            let channels = ChannelSet(app: api.app.id, isAll: true)
            let told = try await api.service.engine.log.events(in: channels, after: .zero, limit: 10).items.last
            let users = try #require(told?.data.rawMember("typing_users"))
            #expect(all.text.contains("\"data\":\(users)"))
            #expect(users.description == #"[{"id":"ana","name":"Ana"},{"id":"ben"},{"id":"cy"}]"#)
            let first = await api.call(.get, path + "?limit=2")
            #expect(first["data"]?.elements?.count == 2)
            let cursor = try #require(first["next_cursor"]?.string)
            let second = await api.call(.get, path + "?limit=2&cursor=\(cursor)")
            #expect(second["data"]?.elements?.compactMap { $0["id"]?.string } == ["cy"])
            _ = await api.call(.delete, path + "/ben")
            #expect(await api.call(.get, path)["total"]?.integer == 2)
        }
    }

    @Test("show typing users of a private channel to its members only")
    func typistsOfPrivateChannels() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.post, "/v1/channels", #"{"kind":"group","id":"crew","users":["ana"]}"#)
            _ = await api.call(.put, "/v1/channels/crew/typing/ana")
            for (user, status) in [("ana", 200), ("ben", 403)] {
                let token = await api.call(.post, "/v1/tokens", #"{"user":"\#(user)","channels":["*"]}"#)["token"]?
                    .string
                #expect(await api.call(.get, "/v1/channels/crew/typing", key: token).status == status)
            }
        }
    }

    @Test("need the scopes of those who emit and read")
    func scopes() async throws {
        try await APIFixture.run { api in
            let reader = try await api.key([.read])
            let emitter = try await api.key([.emit])
            for path in ["presence/ana", "participants/ana", "typing/ana"] {
                #expect(await api.call(.put, "/v1/channels/room/\(path)", key: reader).status == 403, "\(path)")
                #expect(await api.call(.delete, "/v1/channels/room/\(path)", key: reader).status == 403, "\(path)")
            }
            let lists = [
                "channels/room/presence", "channels/room/participants", "channels/room/typing", "users/ana/presence",
            ]
            for path in lists.map({ "/v1/" + $0 }) {
                #expect(await api.call(.get, path, key: emitter).status == 403, "\(path)")
            }
        }
    }
}
