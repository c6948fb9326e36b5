import ChatCore
import ChatModel
import HTTPServer
import JSON
import Testing

@testable import NativeAPI

@Suite("Receipts over HTTP") struct ReceiptRouteTests {
    @Test("are set by a member who reads all messages, and nothing is unread")
    func story() async throws {
        try await APIFixture.run { api in
            let chat = api.service.chat(for: .gateway(in: api.app.id))
            let channel = ChannelRecord(id: "lobby", kind: .public)
            _ = try await api.service.engine.directory.write([
                RecordChange(ChannelRecord.key("lobby", in: api.app.id), body: channel.body)
            ])
            _ = try await chat.join("ben", to: "lobby")
            let post = await api.call(.post, "/v1/channels/lobby/messages", #"{"text":"hi","user":"ana"}"#)
            #expect(await api.call(.get, "/v1/users/ben/unread")["unread_count"]?.integer == 1)
            #expect(await api.call(.get, "/v1/channels/lobby/members/ben/unread")["unread_count"]?.integer == 1)
            let delivered = await api.call(.put, "/v1/channels/lobby/members/ben/delivered")
            #expect(delivered.status == 200 && delivered["read_timetoken"]?.isNull == true)
            let timetoken = try #require(post["timetoken"]?.string)
            let read = await api.call(
                .put, "/v1/channels/lobby/members/ben/read", #"{"timetoken":"\#(timetoken)"}"#)
            #expect(read["read_timetoken"]?.string == timetoken && read["delivered_timetoken"]?.string == timetoken)
            #expect(await api.call(.get, "/v1/users/ben/unread")["unread_count"]?.integer == 0)
            #expect(await api.call(.put, "/v1/channels/lobby/members/eve/read").code == "no_such_member")
            _ = await api.call(.post, "/v1/channels/lobby/messages", #"{"text":"hi","user":"ana"}"#)
            let all = await api.call(.post, "/v1/users/ben/read-all")
            #expect(all["channels"]?.strings == ["lobby"])
            #expect(await api.call(.get, "/v1/users/ben/unread")["unread_count"]?.integer == 0)
        }
    }
}
