import ChatModel
import HTTPServer
import JSON
import Testing

@testable import NativeAPI

extension APIFixture {
    /// Sends a message and returns its path.
    fileprivate func sent(_ body: String, to channel: String = "room") async throws -> String {
        let answer = await call(.post, "/v1/channels/\(channel)/messages", body)
        try #require(answer.status == 201, "\(answer.text)")
        return "/v1/channels/\(channel)/messages/" + (try #require(answer["timetoken"]?.string))
    }
}

@Suite("A message", .timeLimit(.minutes(2))) struct MessagesRouteTests {
    @Test("is sent, edited, read, listed and deleted")
    func story() async throws {
        try await APIFixture.run { api in
            let path = try await api.sent(
                #"{"text":"helo","user":"ana","files":[{"url":"https://x.example/a","size":1}]}"#)
            let first = await api.call(.get, path)
            #expect(first.header("ETag") == "\"0\"" && first["edited"]?.isNull == true)
            #expect(first["data"]?["files"]?[0]?["url"]?.string == "https://x.example/a")

            let edited = await api.call(
                .patch, path, #"{"text":"hello","by":"ana"}"#, headers: [("If-Match", "\"0\"")])
            #expect(edited.status == 200 && edited["data"]?["text"]?.string == "hello")
            #expect(edited["data"]?["files"]?.count == 1 && edited["edited"]?["by"]?.string == "ana")
            let tag = try #require(edited.header("ETag"))
            #expect(await api.call(.get, path, headers: [("If-None-Match", tag)]).status == 304)
            #expect(await api.call(.patch, path, #"{"text":"x"}"#, headers: [("If-Match", "\"0\"")]).status == 412)
            #expect(await api.call(.patch, path, #"{"by":"ana"}"#).code == "member_missing")
            #expect(await api.call(.patch, path, #"{"text":"a","data":1}"#).code == "bad_member")

            for _ in 0..<2 { #expect(await api.call(.delete, path + "?by=ana").status == 204) }
            let list = await api.call(.get, "/v1/channels/room/messages")
            #expect(list["data"]?.count == 1 && list["data"]?[0]?["data"]?.isNull == true)
            #expect(list["data"]?[0]?["deleted"]?["by"]?.string == "ana")
            for _ in 0..<2 { #expect(await api.call(.delete, path + "?hard=true").status == 204) }
            #expect(await api.call(.get, path).status == 404)
            #expect(await api.call(.patch, path, #"{"text":"x"}"#).status == 404)
            #expect(await api.call(.get, "/v1/channels/room/messages/x").status == 404)
            // The event about the edit contained the message's text, and is removed with it.
            let told = await api.history("room").compactMap { $0["type"]?.string }
            #expect(told == ["message.deleted", "message.deleted"])
        }
    }

    @Test("is returned when it is sent, as it can be read")
    func returned() async throws {
        try await APIFixture.run { api in
            let list = "/v1/channels/room/messages"
            let root = await api.call(.post, list, #"{"text":"root","user":"ana","meta":{"n":1.50}}"#)
            let timetoken = try #require(root["timetoken"]?.string)
            let reply =
                #"{"text":"re","user":"ben","thread_of":"\#(timetoken)","quote":"\#(timetoken)","mentions":["ana"]}"#
            let once = [(name: "Idempotency-Key", value: "k2")]
            let sent = await api.call(.post, list, reply, headers: once)
            for answer in [sent, await api.call(.post, list, #"{"text":"x","quote":"\#(timetoken)"}"#)] {
                let read = await api.call(.get, try #require(answer.header("Location")))
                #expect(answer.status == 201 && answer.text == read.text)
                #expect(answer.header("ETag") == read.header("ETag") && read.header("ETag") != nil)
            }
            #expect(sent["thread_of"]?.string == timetoken && sent["etag"]?.string != "0")
            #expect(root["etag"]?.string == "0" && root["meta"]?["n"] != nil && root["duplicate"] == nil)
            // A repeat returns the message as it was sent, whatever happened to it since.
            _ = await api.call(.patch, "\(list)/\(sent["timetoken"]?.string ?? "")", #"{"text":"edited"}"#)
            let again = await api.call(.post, list, reply, headers: once)
            #expect(again.text == sent.text && again.header("ETag") == sent.header("ETag"))
            #expect(again.header("Idempotency-Replayed") == "true")
        }
    }

    @Test("shows the message that it quotes and the names that it mentions to senders who may read them alone")
    func withheld() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/users/ana", #"{"name":"Ana Real"}"#)
            let list = "/v1/channels/room/messages"
            let root = await api.call(.post, list, #"{"text":"secret","user":"ana"}"#)
            let key = await api.call(.post, "/v1/keys", #"{"scopes":["emit"]}"#)
            let body =
                #"{"text":"x","quote":"\#(root["timetoken"]?.string ?? "")","mentions":["ana"],"meta":{"n":1}}"#
            for _ in 0..<2 {
                let sent = await api.call(
                    .post, list, body, key: key["key"]?.string ?? "", headers: [("Idempotency-Key", "k3")])
                #expect(sent.status == 201 && sent["meta"]?["n"]?.integer == 1, "\(sent.text)")
                #expect(!sent.text.contains("secret") && !sent.text.contains("Ana Real"), "\(sent.text)")
                let read = await api.call(.get, try #require(sent.header("Location")))
                #expect(read.text.contains("secret") && read.text.contains("Ana Real"), "\(read.text)")
            }
        }
    }

    @Test("is not edited by the body that was read")
    func unchanged() async throws {
        try await APIFixture.run { api in
            let path = try await api.sent(#"{"text":"one","user":"ana"}"#)
            let read = await api.call(.get, path)
            let same = await api.call(.patch, path, read.text)
            #expect(same.status == 200 && same["edited"]?.isNull == true, "\(same.text)")
            #expect(same.header("ETag") == read.header("ETag") && same.text == read.text)
            #expect(await api.history("room").count == 1)
        }
    }

    @Test("is walked page by page in both directions, other events left out")
    func pages() async throws {
        try await APIFixture.run { api in
            for number in 0..<5 {
                _ = try await api.sent(#"{"data":\#(number)}"#)
                _ = await api.call(.post, "/v1/channels/room/events", #"{"data":"other"}"#)
            }
            func data(_ answer: Answer) -> [Int64] {
                (answer["data"]?.elements ?? []).compactMap { $0["data"]?.integer }
            }
            let list = "/v1/channels/room/messages?limit=2&order=desc"
            let first = await api.call(.get, list)
            #expect(data(first) == [4, 3])
            let next = try #require(first["next_cursor"]?.string)
            let second = await api.call(.get, list + "&cursor=\(next)")
            #expect(data(second) == [2, 1] && second["prev_cursor"]?.string != nil)
            #expect(await api.call(.get, "/v1/channels/other/messages?cursor=\(next)").code == "bad_cursor")
            #expect(await api.call(.get, "/v1/channels/room/messages?type=x").code == "unknown_parameter")
        }
    }

    @Test("quotes, replies and mentions, and can be repeated with one key")
    func links() async throws {
        try await APIFixture.run { api in
            let root = try await api.sent(#"{"text":"root","user":"ana"}"#)
            let timetoken = try #require(root.split(separator: "/").last)
            let body =
                #"{"text":"re","user":"ben","thread_of":"\#(timetoken)","quote":"\#(timetoken)","mentions":["cleo"]}"#
            let once = [(name: "Idempotency-Key", value: "k1")]
            let first = await api.call(.post, "/v1/channels/room/messages", body, headers: once)
            let again = await api.call(.post, "/v1/channels/room/messages", body, headers: once)
            #expect(first.status == 201 && first.text == again.text)
            #expect(again.header("Idempotency-Replayed") == "true")
            let thread = await api.call(.get, root + "/thread")
            #expect(thread["data"]?.count == 1)
            #expect(thread["data"]?[0]?["meta"]?["quotedMessage"]?["text"]?.string == "root")
            #expect(thread["data"]?[0]?["thread_of"]?.string == String(timetoken))
            #expect(await api.call(.get, root)["thread"]?["reply_count"]?.integer == 1)
            #expect(await api.history("cleo").map { $0["type"]?.string } == ["user.mentioned"])
            #expect(await api.history("room").compactMap { $0["cause"]?.string }.count == 2)
            for bad in [#"{"text":"x","mentions":"all"}"#, #"{"text":"x","quote":7}"#, #"{"text":"x","files":[]}"#] {
                #expect(await api.call(.post, "/v1/channels/room/messages", bad).status == 400, "\(bad)")
            }
            for (quote, status) in [("17324123456700000", 404), ("1", 400)] {
                let body = #"{"text":"x","quote":"\#(quote)"}"#
                #expect(await api.call(.post, "/v1/channels/room/messages", body).status == status)
            }
        }
    }

    @Test("is forwarded and reported")
    func deeds() async throws {
        try await APIFixture.run { api in
            let path = try await api.sent(#"{"text":"look","user":"ana"}"#)
            let forward = await api.call(.post, path + "/forward", #"{"channel":"b","by":"ben"}"#)
            #expect(forward.status == 201 && forward["channel"]?.string == "b")
            #expect(await api.history("b")[0]["meta"]?["originalChannelId"]?.string == "room")
            let report = #"{"reason":"rude","auto_moderation_id":"words","by":"ben"}"#
            #expect(await api.call(.post, path + "/report", report).status == 201)
            let unruly = #"{"reason":"rude","auto_moderation_id":""}"#
            #expect(await api.call(.post, path + "/report", unruly).status == 400)
            let reports = await api.call(.get, "/v1/channels/room/reports")
            #expect(reports["data"]?[0]?["data"]?["reason"]?.string == "rude")
            #expect(reports["data"]?[0]?["data"]?["auto_moderation_id"]?.string == "words")
            let emit = try await api.key([.emit, .read])
            #expect(await api.call(.get, "/v1/channels/room/reports?by=ben", key: emit).code == "not_operator")
            #expect(await api.call(.put, path + "/pin").status == 404, "the channel has no record")
        }
    }

    @Test("has reactions, each once for a user")
    func reactions() async throws {
        try await APIFixture.run { api in
            let path = try await api.sent(#"{"text":"hi"}"#)
            let smile = path + "/reactions/%F0%9F%98%80?user=ana"
            #expect(await api.call(.put, smile).status == 201)
            let again = await api.call(.put, smile)
            #expect(again.status == 200 && again["value"]?.string == "😀")
            #expect(await api.call(.put, path + "/reactions/x").code == "parameter_missing")
            #expect(await api.call(.get, path)["reactions"]?["😀"]?.integer == 1)
            #expect(await api.call(.get, path + "/reactions")["data"]?[0]?["user"]?.string == "ana")
            for _ in 0..<2 { #expect(await api.call(.delete, smile).status == 204) }
            #expect(
                await api.history("room").compactMap { $0["type"]?.string }.suffix(2) == [
                    "reaction.added", "reaction.removed",
                ])
        }
    }

    @Test("has actions, which are found by their timetokens")
    func actions() async throws {
        try await APIFixture.run { api in
            let path = try await api.sent(#"{"text":"hi"}"#) + "/actions"
            let body = #"{"type":"seen","value":"kitchen","user":"ana"}"#
            let made = await api.call(.post, path, body)
            #expect(made.status == 201)
            #expect(await api.call(.post, path, body).status == 409)
            #expect(await api.call(.get, path)["data"]?.count == 1)
            let location = try #require(made.header("Location"))
            #expect(await api.call(.delete, location).status == 204)
            #expect(await api.call(.delete, location).status == 404)
            #expect(await api.call(.delete, path + "/x").status == 404)
            #expect(
                await api.history("room").compactMap { $0["type"]?.string }.suffix(2) == [
                    "action.added", "action.removed",
                ])
        }
    }
}

@Suite("A channel's values", .timeLimit(.minutes(2))) struct ChannelValueRouteTests {
    @Test("are texts by key")
    func metadata() async throws {
        try await APIFixture.run { api in
            let path = "/v1/channels/room/metadata"
            #expect(await api.call(.get, path).text == #"{"metadata":{}}"#)
            #expect(await api.call(.post, path, #"{"metadata":{"topic":"tea"}}"#).status == 201)
            #expect(await api.call(.post, path, #"{"metadata":{"topic":"tea"}}"#).status == 409)
            #expect(
                await api.call(.patch, path, #"{"metadata":{"topic":"gin","x":"1"},"upsert":false}"#).text
                    == #"{"metadata":{"topic":"gin"}}"#)
            #expect(await api.call(.patch, path, #"{"metadata":{"y":"1"}}"#).text == #"{"metadata":{"y":"1"}}"#)
            #expect(await api.call(.patch, path, #"{"metadata":{"y":null}}"#).text == #"{"metadata":{}}"#)
            #expect(await api.call(.get, path + "/y").status == 404)
            #expect(await api.call(.get, path + "/topic").text == #"{"value":"gin"}"#)
            #expect(await api.call(.put, path + "/a%2Fb", #"{"value":"1"}"#).status == 201)
            #expect(await api.call(.put, path + "/a%2Fb", #"{"value":"2"}"#).status == 200)
            let all = await api.call(.get, path)
            #expect(all.text == #"{"metadata":{"a/b":"2","topic":"gin"}}"#)
            let tag = try #require(all.header("ETag"))
            #expect(await api.call(.get, path, headers: [("If-None-Match", tag)]).status == 304)
            #expect(await api.call(.delete, path + "/topic", headers: [("If-Match", tag)]).status == 204)
            #expect(await api.call(.delete, path, headers: [("If-Match", tag)]).status == 412)
            for count in [1, 0] {
                let removed = await api.call(.delete, path)
                #expect(removed.status == 200 && removed["deleted"]?.integer == Int64(count), "\(removed.text)")
            }
            #expect(await api.call(.post, path, #"{"metadata":{"x":1}}"#).code == "wrong_type")
        }
    }

    @Test("are counters by key")
    func metacounters() async throws {
        try await APIFixture.run { api in
            let path = "/v1/channels/room/metacounters"
            #expect(await api.call(.post, path, #"{"metacounters":{"n":9007199254740993}}"#).status == 201)
            let counted = await api.call(
                .post, "/v1/channels/room/increment-metacounters", #"{"metacounters":{"n":-2}}"#)
            #expect(counted.text == #"{"metacounters":{"n":9007199254740991}}"#)
            #expect(await api.call(.put, path + "/likes", #"{"value":-1}"#).status == 201)
            #expect(await api.call(.get, path).text == #"{"metacounters":{"likes":-1,"n":9007199254740991}}"#)
            for bad in [#"{"metacounters":{"n":1.5}}"#, #"{"metacounters":{"n":1},"mode":"inc"}"#, "{}"] {
                #expect(await api.call(.patch, path, bad).status == 400, "\(bad)")
            }
            #expect(await api.call(.put, path + "/n", #"{"value":24.0}"#).status == 200)
            #expect(await api.call(.get, path)["metacounters"]?["n"]?.integer == 24)
            #expect(await api.call(.put, path + "/n", #"{"value":9007199254740993.0}"#).code == "wrong_type")
            #expect(await api.call(.delete, path + "/n").status == 204)
            #expect(await api.call(.delete, path + "/n").status == 404)
            #expect(await api.call(.delete, path)["deleted"]?.integer == 1)
        }
    }
}

extension MessagesRouteTests {
    @Test("cannot be given to another user, and the refusal names the member for the acting user")
    func actingUser() async throws {
        try await APIFixture.run { api in
            let sent = await api.call(.post, "/v1/channels/room/messages", #"{"text":"hi","user":"ana"}"#)
            let address = "/v1/channels/room/messages/\(try #require(sent["timetoken"]?.string))"
            let refused = await api.call(.patch, address, #"{"text":"ho","user":"ben"}"#)
            #expect(refused.status == 400 && refused["errors"]?[0]?["pointer"]?.string == "#/user")
            #expect(refused["detail"]?.string?.hasSuffix("Send the acting user as 'by'") == true, "\(refused.text)")
            #expect(await api.call(.patch, address, #"{"text":"ho","user":"ana","by":"ana"}"#).status == 200)
        }
    }
}
