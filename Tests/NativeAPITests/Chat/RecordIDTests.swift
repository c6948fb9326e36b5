import HTTPServer
import JSON
import Testing

@testable import NativeAPI

@Suite("The id of a record between two names") struct RecordIDTests {
    @Test("joins the names, keeps them apart, and stays")
    func ids() async throws {
        try await APIFixture.run { api in
            for (channel, user, other, id) in [
                ("room", "ana", "ben", "ana/room"), ("b%2Fc", "a", "ben", "a/b/c"), ("c", "a%2Fb", "ben", "a%2Fb/c"),
                ("d", "a%252F", "ben", "a%252F/d"),
            ] {
                #expect(await api.call(.put, "/v1/channels/\(channel)", #"{"kind":"group"}"#).status == 201)
                let block = String(id.prefix { $0 != "/" }) + "/" + other
                for (address, body, wanted) in [
                    ("/v1/channels/\(channel)/members/\(user)", "{}", id),
                    ("/v1/channels/\(channel)/restrictions/\(user)", #"{"mute":true}"#, id),
                    ("/v1/users/\(user)/blocks/\(other)", "", block),
                ] {
                    let made = await api.call(.put, address, body)
                    #expect(made.status == 201 && made["id"]?.string == wanted, "\(address) \(made.text)")
                    #expect(made["created_at"]?.string?.hasSuffix("Z") == true)
                    #expect(await api.call(.get, address)["id"]?.string == wanted, "\(address)")
                    let list = await api.call(.get, String(address[..<address.lastIndex(of: "/")!]))
                    #expect(list["data"]?.elements?.map { $0["id"]?.string } == [wanted], "\(list.text)")
                }
            }
        }
    }

    @Test("is accepted back unchanged, and refused with another value")
    func readOnly() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/channels/room", #"{"kind":"group"}"#)
            for (address, body) in [
                ("/v1/channels/room/members/ana", #"{"status":"new"}"#),
                ("/v1/channels/room/restrictions/ana", #"{"mute":true}"#),
            ] {
                let made = await api.call(.put, address, body)
                let again = await api.call(.put, address, made.text)
                #expect(again.status == 200 && again["id"]?.string == made["id"]?.string, "\(again.text)")
                let other = await api.call(.put, address, #"{"id":"ben/room","mute":true}"#)
                #expect(other.status == 400 && other["errors"]?[0]?["pointer"]?.string == "#/id", "\(other.text)")
            }
        }
    }

    @Test("is in the events that contain the record")
    func events() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/channels/room", #"{"kind":"group"}"#)
            _ = await api.call(.put, "/v1/channels/room/members/ana", "{}")
            _ = await api.call(.put, "/v1/channels/room/restrictions/ana", #"{"mute":true}"#)
            _ = await api.call(.put, "/v1/users/ana/blocks/ben")
            let room = await api.call(.get, "/v1/channels/room/events")["data"]?.elements ?? []
            let ana = await api.call(.get, "/v1/channels/ana/events")["data"]?.elements ?? []
            let found = (room + ana).reduce(into: [String: Set<String>]()) { found, event in
                for name in ["membership", "restriction", "block"] {
                    if let id = event["data"]?[name]?["id"]?.string { found[name, default: []].insert(id) }
                }
            }
            #expect(found == ["membership": ["ana/room"], "restriction": ["ana/room"], "block": ["ana/ben"]])
        }
    }

    @Test("of an action on a message joins the timetokens of both, in the API and in events")
    func actions() async throws {
        try await APIFixture.run { api in
            let sent = await api.call(.post, "/v1/channels/room/messages", #"{"text":"one","user":"ana"}"#)
            let message = try #require(sent["timetoken"]?.string)
            let path = "/v1/channels/room/messages/\(message)"
            let action = await api.call(.post, path + "/actions", #"{"type":"task","value":"a/b","user":"ben"}"#)
            let place = try #require(action["action_timetoken"]?.string)
            #expect(action["id"]?.string == "\(message)/\(place)")
            let reaction = await api.call(.put, path + "/reactions/wave?user=ben")
            let ids = [action["id"]?.string, reaction["id"]?.string]
            #expect(await api.call(.put, path + "/reactions/wave?user=ben")["id"]?.string == ids[1])
            #expect(await api.call(.get, path + "/reactions/wave?user=ben")["id"]?.string == ids[1])
            #expect(await api.call(.get, path + "/actions/\(place)")["id"]?.string == ids[0])
            let listed = await api.call(.get, path + "/actions")["data"]?.elements ?? []
            #expect(Set(listed.map { $0["id"]?.string }) == Set(ids))
            let events = await api.history("room").compactMap { $0["data"] }
            #expect(events.compactMap { ($0["action"] ?? $0["reaction"])?["id"]?.string } == ids.compactMap(\.self))
        }
    }

    @Test("of a delivery stays, as does the time at which it was stored")
    func deliveries() async throws {
        try await APIFixture.run { api in
            let hook = await api.call(.post, "/v1/webhooks", #"{"url":"https://example.com/hook"}"#)
            let webhook = try #require(hook["id"]?.string)
            _ = await api.call(.post, "/v1/webhooks/\(webhook)/disable")
            _ = await api.call(.post, "/v1/channels/room/events", #"{"data":1}"#)
            let first = try #require(await api.firstDelivery(of: webhook)["data"]?[0])
            let (id, created) = (try #require(first["id"]?.string), try #require(first["created_at"]?.string))
            #expect(created.hasSuffix("Z") && !created.hasPrefix("1970"))
            let one = await api.call(.get, "/v1/deliveries/\(id)")
            #expect(one["created_at"]?.string == created)
            let retried = await api.call(.post, "/v1/deliveries/\(id)/retry")
            #expect(retried.status == 202 && retried["created_at"]?.string == created, "\(retried.text)")
        }
    }
}
