import ChatModel
import HTTPServer
import JSON
import Testing

@testable import NativeAPI

extension Answer {
    fileprivate var body: JSONText { JSONText(trusted: bytes) }

    /// The `included` members of a page's elements.
    fileprivate var included: [JSONText?] {
        (body.rawMember("data")?.rawElements() ?? []).map { $0.rawMember("included") }
    }
}

/// A group with two members, whose first message has a reply.
struct IncludedChat {
    let root: String
    let reply: String

    static func made(_ api: APIFixture) async throws -> IncludedChat {
        _ = await api.call(.put, "/v1/users/ana", #"{"name":"Ana","email":"ana@example.com","custom":{"rate":1.50}}"#)
        let made = await api.call(
            .post, "/v1/channels",
            #"{"id":"crew","kind":"group","name":"Crew","custom":{"floor":3.0},"by":"ana","users":["ben"]}"#)
        #expect(made.status == 201)
        _ = await api.call(.post, "/v1/channels/crew/invites/ben/accept", #"{"by":"ben"}"#)
        let root = try #require(
            await api.call(.post, "/v1/channels/crew/messages", #"{"user":"ana","text":"hi"}"#)["timetoken"]?.string)
        let reply = try #require(
            await api.call(
                .post, "/v1/channels/crew/messages", #"{"user":"ben","text":"hello","thread_of":"\#(root)"}"#)[
                    "timetoken"]?.string)
        return IncludedChat(root: root, reply: reply)
    }
}

@Suite("Objects that reads include") struct IncludedObjectTests {
    private static let all = "include=user,channel,thread,member"

    @Test("are what their own resources show, on every route that reads events and messages")
    func sameAsResources() async throws {
        try await APIFixture.run { api in
            let chat = try await IncludedChat.made(api)
            let user = await api.call(.get, "/v1/users/ana").body
            let channel = await api.call(.get, "/v1/channels/crew").body
            let member = await api.call(.get, "/v1/channels/crew/members/ana").body
            let message = await api.call(.get, "/v1/channels/crew/messages/\(chat.root)").body
            let thread = try #require(message.rawMember("thread"))
            #expect(thread != .null)
            let id = try #require(try JSONDocument(message).root["id"]?.string)

            let walk = "type=message.created&order=asc&limit=1&\(Self.all)"
            let pages = [
                await api.call(.get, "/v1/channels/crew/events?\(walk)").included,
                await api.call(.get, "/v1/events?channel=crew&\(walk)").included,
                await api.call(.get, "/v1/channels/crew/messages?order=asc&limit=1&\(Self.all)").included,
                [await api.call(.get, "/v1/events/\(id)?\(Self.all)").body.rawMember("included")],
            ]
            for page in pages {
                let included = try #require(page.first ?? nil)
                #expect(included.rawMembers()?.map(\.name) == ["user", "channel", "thread", "member"])
                #expect(included.rawMember("user") == user)
                #expect(included.rawMember("channel") == channel)
                #expect(included.rawMember("member") == member)
                #expect(included.rawMember("thread") == thread)
            }
        }
    }

    @Test("are only those that were asked for and exist, and none without a request for them")
    func onlyWanted() async throws {
        try await APIFixture.run { api in
            let chat = try await IncludedChat.made(api)
            // A reply belongs to the thread of the message that it replies to. Its sender has no record.
            let replies = "/v1/channels/crew/events?type=message.created&after=\(chat.root)"
            let included = await api.call(.get, "\(replies)&include=thread&include=user").included
            #expect(try #require(included.first ?? nil).rawMembers()?.map(\.name) == ["thread"])
            #expect(await api.call(.get, replies).included == [nil])
            _ = await api.call(.post, "/v1/channels/lobby/events", #"{"type":"door.opened","data":{}}"#)
            let bare = await api.call(.get, "/v1/channels/lobby/events?\(Self.all)").included
            #expect(bare == [JSONText(trusted: Array("{}".utf8))])
        }
    }

    @Test("are read when the event is handed out")
    func fresh() async throws {
        try await APIFixture.run { api in
            let chat = try await IncludedChat.made(api)
            let walk = "/v1/channels/crew/events?type=message.created&order=asc&limit=1&\(Self.all)"
            for name in ["Anna", "Annika"] {
                _ = await api.call(.patch, "/v1/users/ana", #"{"name":"\#(name)"}"#)
                let included = try #require(await api.call(.get, walk).included.first ?? nil)
                #expect(try JSONDocument(included).root["user"]?["name"]?.string == name)
            }
            _ = await api.call(.delete, "/v1/channels/crew/members/ana")
            _ = await api.call(.delete, "/v1/users/ana")
            let last = try #require(await api.call(.get, walk).included.first ?? nil)
            #expect(last.rawMembers()?.map(\.name) == ["channel", "thread"])
            #expect(!chat.root.isEmpty)
        }
    }

    @Test("show a user's token what GET shows it: its own private fields, and nobody else's")
    func privateFields() async throws {
        try await APIFixture.run { api in
            _ = try await IncludedChat.made(api)
            let walk = "/v1/channels/crew/messages?order=asc&limit=1&include=user,member"
            for (user, email) in [("ana", "ana@example.com"), ("ben", nil)] {
                let token = await api.call(.post, "/v1/tokens", #"{"user":"\#(user)","scopes":["read"]}"#)["token"]?
                    .string
                let shown = await api.call(.get, "/v1/users/ana", key: token).body
                let member = await api.call(.get, "/v1/channels/crew/members/ana", key: token).body
                let included = try #require(await api.call(.get, walk, key: token).included.first ?? nil)
                #expect(included.rawMember("user") == shown)
                #expect(included.rawMember("member") == member)
                #expect(try JSONDocument(included).root["user"]?["email"]?.string == email)
            }
            // A token that may not read the channel gets nothing about it.
            let token = await api.call(.post, "/v1/tokens", #"{"user":"eve","scopes":["read"]}"#)["token"]?.string
            #expect(await api.call(.get, walk, key: token).status == 403)
        }
    }

    @Test("are refused by the nearest name and beside too large a page")
    func refusals() async throws {
        try await APIFixture.run { api in
            let path = "/v1/channels/crew/events?"
            for query in ["include=users", "include=", "include=user,", "include=user;channel"] {
                let answer = await api.call(.get, path + query)
                #expect(answer.status == 400 && answer.code == "bad_parameter", "\(query)")
            }
            let detail = await api.call(.get, path + "include=users")["detail"]?.string ?? ""
            #expect(detail.contains("did you mean 'user'?") && detail.contains("'thread' or 'member'"))
            #expect(await api.call(.get, path + "include=user&limit=101").code == "bad_parameter")
            #expect(await api.call(.get, path + "include=user&limit=100").status == 200)
            #expect(await api.call(.get, path + "limit=101").status == 200)
        }
    }

    @Test("change the version of an event, which does not change itself")
    func version() async throws {
        try await APIFixture.run { api in
            let chat = try await IncludedChat.made(api)
            let id = try #require(
                await api.call(.get, "/v1/channels/crew/messages/\(chat.root)")["id"]?.string)
            let path = "/v1/events/\(id)"
            let plain = try #require(await api.call(.get, path).header("ETag"))
            let before = try #require(await api.call(.get, path + "?include=user").header("ETag"))
            _ = await api.call(.patch, "/v1/users/ana", #"{"name":"Anna"}"#)
            let known = [(name: "If-None-Match", value: before)]
            #expect(await api.call(.get, path + "?include=user", headers: known).status == 200)
            #expect(await api.call(.get, path).header("ETag") == plain)
        }
    }
}
