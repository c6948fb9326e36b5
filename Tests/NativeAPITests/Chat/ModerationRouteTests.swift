import ChatModel
import HTTPServer
import JSON
import Testing

@testable import NativeAPI

@Suite("Moderation over HTTP") struct ModerationRouteTests {
    @Test("bans, mutes, lists and lifts; a banned user is refused, with the reason and the end")
    func restrictions() async throws {
        try await APIFixture.run { api in
            let path = "/v1/channels/crew/restrictions/mallory"
            let made = await api.call(.put, path, #"{"ban":true,"reason":"spam","until":"2030-01-31T12:00:00Z"}"#)
            #expect(made.status == 201 && made.header("Location") == path && made["ban"]?.boolean == true)
            let etag = try #require(made.header("ETag"))
            let same = await api.call(.put, path, #"{"ban":true,"reason":"spam","until":"2030-01-31T12:00:00Z"}"#)
            #expect(same.status == 200 && same.header("ETag") == etag)
            let post = await api.call(.post, "/v1/channels/crew/messages", #"{"text":"hi","user":"mallory"}"#)
            #expect(post.status == 403 && post.code == "banned")
            #expect(post["detail"]?.string?.contains("until 2030-01-31T12:00:00.000000Z (spam)") == true)
            #expect(await api.call(.get, path, headers: [("If-None-Match", etag)]).status == 304)
            for list in ["/v1/channels/crew/restrictions", "/v1/users/mallory/restrictions"] {
                #expect(await api.call(.get, list)["data"]?.count == 1)
            }
            #expect(await api.call(.delete, path, headers: [("If-Match", "\"0\"")]).status == 412)
            #expect(await api.call(.delete, path).status == 204)
            #expect(await api.call(.delete, path).code == "no_restriction")
            #expect(await api.call(.get, path).code == "no_restriction")
            let again = await api.call(.post, "/v1/channels/crew/messages", #"{"text":"hi","user":"mallory"}"#)
            #expect(again.status == 201)
        }
    }

    @Test("refuses invalid restrictions, and callers who may not moderate")
    func refusals() async throws {
        try await APIFixture.run { api in
            let path = "/v1/channels/crew/restrictions/mallory"
            #expect(await api.call(.put, path, "{}").code == "bad_member")
            #expect(await api.call(.put, path, #"{"mute":true,"until":"soon"}"#).code == "bad_member")
            #expect(await api.call(.put, path, #"{"mute":true,"until":"2001-01-01T00:00:00Z"}"#).code == "bad_member")
            let sender = try await api.key([.emit])
            #expect(await api.call(.put, path, #"{"mute":true}"#, key: sender).code == "member_missing")
            #expect(await api.call(.put, path, #"{"mute":true,"by":"ana"}"#, key: sender).code == "not_operator")
            #expect(await api.call(.put, "/v1/channels/crew/freeze").status == 404)
        }
    }
}
