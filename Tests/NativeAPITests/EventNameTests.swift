import HTTPServer
import JSON
import Testing

@testable import NativeAPI

@Suite("The name of an event in a request", .timeLimit(.minutes(2))) struct EventNameTests {
    @Test("may be its id or its timetoken, wherever a request takes one of them")
    func both() async throws {
        try await APIFixture.run { api in
            let webhook = try #require(
                await api.call(.post, "/v1/webhooks", #"{"url":"https://example.com/hook"}"#)["id"]?.string)
            _ = await api.call(.post, "/v1/webhooks/\(webhook)/disable")
            let messages = "/v1/channels/room/messages"
            let sent = await api.call(.post, messages, #"{"text":"one","user":"ana"}"#)
            let action = await api.call(
                .post, "\(messages)/\(sent["id"]?.string ?? "")/actions", #"{"type":"seen","value":"x","user":"ben"}"#)
            #expect(action.status == 201, "\(action.text)")
            let attached = try #require(action["action_timetoken"]?.string)
            _ = try #require(await api.firstDelivery(of: webhook)["data"]?[0])
            for name in [try #require(sent["timetoken"]?.string), try #require(sent["id"]?.string)] {
                for (path, member) in [
                    ("\(messages)/\(name)", "id"), ("/v1/events/\(name)", "id"),
                    ("/v1/events/\(name)/explain", "event"),
                ] {
                    #expect(await api.call(.get, path)[member]?.string == sent["id"]?.string, "\(path)")
                }
                let reply = await api.call(.post, messages, #"{"text":"re","thread_of":"\#(name)","quote":"\#(name)"}"#)
                #expect(reply.status == 201, "\(reply.text)")
                let thread = await api.call(.get, "\(messages)/\(name)/thread")
                #expect(thread["data"]?[0]?["thread_of"]?.string == sent["timetoken"]?.string)
                #expect(await api.call(.get, "\(messages)?before=\(name)")["data"]?.count == 0)
                #expect(await api.call(.get, "/v1/poll?channel=room&limit=1&cursor=\(name)").status == 200)
                #expect(await api.call(.get, "/v1/deliveries?event=\(name)")["data"]?.count == 1)
                let preview = await api.call(.post, "/v1/webhooks/\(webhook)/preview", #"{"event":"\#(name)"}"#)
                #expect(preview.status == 200, "\(preview.text)")
                let history = await api.call(.post, "/v1/history", #"{"channels":["room"],"before":"\#(name)"}"#)
                #expect(history["channels"]?["room"]?["data"]?.count == 0)
            }
            for name in [attached, "evt_" + attached] {
                let path = "\(messages)/\(sent["id"]?.string ?? "")/actions/\(name)"
                #expect(await api.call(.get, path)["action_timetoken"]?.string == attached)
            }
            for path in ["\(messages)/evt_x", "/v1/events/x", "/v1/events/evt_1/explain"] {
                let refused = await api.call(.get, path)
                #expect(refused.status == 404 && refused["detail"]?.string?.contains("event id") == true, "\(path)")
            }
        }
    }
}
