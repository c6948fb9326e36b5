import HTTPServer
import JSON
import Testing

@testable import NativeAPI

/// The members of a JSON object by their names, each in its exact spelling.
private func members(_ object: JSONText?) throws -> [String: JSONText] {
    let members = try #require(object?.rawMembers())
    return Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value) })
}

extension Answer {
    fileprivate var body: JSONText { JSONText(trusted: bytes) }
}

extension APIFixture {
    /// The data of a channel's events of a type, oldest first.
    fileprivate func data(_ type: String, on channel: String) async throws -> [JSONText] {
        let page = await call(.get, "/v1/channels/\(channel)/events?type=\(type)&order=asc")
        #expect(page.status == 200)
        return try #require(page.body.rawMember("data")?.rawElements())
            .compactMap { $0.rawMember("data") }
    }
}

/// Expects that an object inside an event has the members of the REST object, byte for byte.
///
/// - Parameters:
///   - without: Members of the REST object that are not compared.
///   - besides: Members of the object in the event that are not compared.
private func expectSame(
    _ object: JSONText?, as shown: JSONText, without: Set<String> = [], besides: Set<String> = [],
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let inEvent = try members(object).filter { !besides.contains($0.key) }
    let inREST = try members(shown).filter { !without.contains($0.key) }
    #expect(inEvent == inREST, sourceLocation: sourceLocation)
}

/// Expects that an object inside an event is a part of the REST object, with at least some of its members.
private func expectPart(
    _ object: JSONText?, of shown: JSONText, with names: Set<String>,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let (inEvent, inREST) = (try members(object), try members(shown))
    #expect(names.isSubset(of: inEvent.keys), sourceLocation: sourceLocation)
    for (name, value) in inEvent { #expect(inREST[name] == value, "\(name)", sourceLocation: sourceLocation) }
}

@Suite("Objects in events") struct EventObjectTests {
    @Test("of a user are what GET /v1/users/{user} shows, without private fields")
    func users() async throws {
        try await APIFixture.run { api in
            let path = "/v1/users/ana"
            let body = #"{"name":"Ana","email":"a@example.com","custom":{"rate":1.50},"metadata":{"lang":"en"}}"#
            let made = await api.call(.put, path, body)
            let changed = await api.call(.patch, path, #"{"profile_url":"https://ex.am/ple","status":"away"}"#)
            let last = await api.call(.get, path)
            #expect(last.bytes == changed.bytes)
            #expect(await api.call(.delete, path).status == 204)

            let isPrivate: Set<String> = ["email", "external_id"]
            let created = try await api.data("user.created", on: "ana")
            try expectSame(created[0].rawMember("user"), as: made.body, without: isPrivate)
            let updated = try await api.data("user.updated", on: "ana")
            try expectSame(updated[0].rawMember("user"), as: changed.body, without: isPrivate)
            let deleted = try await api.data("user.deleted", on: "ana")
            try expectSame(deleted[0].rawMember("user"), as: last.body, without: isPrivate)

            // A change is named as the record names its members, with their values before and after.
            let changes = try #require(updated[0].rawMember("changes")?.rawElements())
            for change in changes {
                let name = try #require(JSONDocument(change).root["key"]?.string)
                #expect(change.rawMember("new") == (try members(changed.body))[name])
            }
            #expect(changes.count == 2)
        }
    }

    @Test("of a block are what the list of blocks shows, with both users")
    func blocks() async throws {
        try await APIFixture.run { api in
            let ana = await api.call(.put, "/v1/users/ana", #"{"name":"Ana"}"#)
            let eve = await api.call(.put, "/v1/users/eve", #"{"profile_url":"https://ex.am/ple"}"#)
            let block = await api.call(.put, "/v1/users/ana/blocks/eve")
            #expect(block.status == 201)
            let listed = await api.call(.get, "/v1/users/ana/blocks").body.rawMember("data")?.rawElements()
            #expect(listed == [block.body])
            #expect(await api.call(.delete, "/v1/users/ana/blocks/eve").status == 204)
            for type in ["user.blocked", "user.unblocked"] {
                let data = try #require(try await api.data(type, on: "ana").first)
                try expectSame(data.rawMember("block"), as: block.body)
                try expectPart(data.rawMember("user"), of: ana.body, with: ["id", "name"])
                try expectPart(data.rawMember("blocked_user"), of: eve.body, with: ["id", "profile_url"])
            }
        }
    }

    @Test("of a channel are what GET /v1/channels/{channel} shows after the event")
    func channels() async throws {
        try await APIFixture.run { api in
            let path = "/v1/channels/crew"
            let made = await api.call(
                .post, "/v1/channels",
                #"{"id":"crew","kind":"group","name":"Crew","custom":{"floor":3.0},"by":"ana","users":["ben"]}"#)
            #expect(made.status == 201)
            let changed = await api.call(.patch, path, #"{"description":"All of us","data":"x"}"#)
            let sent = await api.call(.post, path + "/messages", #"{"user":"ana","text":"hi"}"#)
            let timetoken = try #require(sent["timetoken"]?.string)
            #expect(await api.call(.put, path + "/messages/\(timetoken)/pin").status < 300)
            let pinned = await api.call(.get, path)
            #expect(pinned["pinned_timetoken"]?.string == timetoken)
            #expect(await api.call(.put, path + "/freeze").status == 200)
            let frozen = await api.call(.get, path)
            #expect(await api.call(.delete, path + "/freeze").status == 204)
            #expect(await api.call(.put, path + "/operators/ben").status < 300)
            let last = await api.call(.get, path)
            #expect(await api.call(.delete, path).status == 204)

            func shown(_ type: String) async throws -> [JSONText?] {
                try await api.data(type, on: "crew").map { $0.rawMember("channel") }
            }
            try expectSame(try await shown("channel.created")[0], as: made.body)
            let updated = try await shown("channel.updated")
            #expect(updated.count == 3)
            for (object, answer) in zip(updated, [changed, pinned, last]) { try expectSame(object, as: answer.body) }
            try expectSame(try await shown("channel.frozen")[0], as: frozen.body)
            try expectSame(try await shown("channel.deleted")[0], as: last.body)
            for (data, answer) in zip(try await api.data("channel.updated", on: "crew"), [changed, pinned, last]) {
                for change in try #require(data.rawMember("changes")?.rawElements()) {
                    let name = try #require(JSONDocument(change).root["key"]?.string)
                    #expect(change.rawMember("new") == (try members(answer.body))[name])
                }
            }
        }
    }

    @Test("of a restriction are what GET /v1/channels/{channel}/restrictions/{user} shows")
    func restrictions() async throws {
        try await APIFixture.run { api in
            let path = "/v1/channels/crew/restrictions/eve"
            let ana = await api.call(.put, "/v1/users/ana", #"{"name":"Ana"}"#)
            let eve = await api.call(.put, "/v1/users/eve", #"{"name":"Eve"}"#)
            let channel = await api.call(
                .post, "/v1/channels", #"{"id":"crew","kind":"group","by":"ana","users":["ben"]}"#)
            let muted = await api.call(
                .put, path, #"{"mute":true,"reason":"loud","until":"2099-01-31T12:00:00Z","by":"ana"}"#)
            #expect(muted.status == 201 && muted["until"]?.string == "2099-01-31T12:00:00.000000Z")
            let banned = await api.call(.put, path, #"{"ban":true,"reason":"spam"}"#)
            #expect(await api.call(.get, path).bytes == banned.bytes)
            #expect(await api.call(.delete, path).status == 204)

            var events: [JSONText] = []
            for type in ["user.muted", "user.unmuted", "user.banned", "user.unbanned"] {
                events.append(try #require(try await api.data(type, on: "crew").first))
            }
            for (data, answer) in zip(events, [muted, banned, banned, banned]) {
                let isLifted = data == events[3]
                try expectSame(
                    data.rawMember("restriction"), as: answer.body, without: isLifted ? ["ban"] : [],
                    besides: isLifted ? ["ban"] : [])
                try expectPart(data.rawMember("user"), of: eve.body, with: ["id", "name"])
                try expectSame(data.rawMember("channel"), as: channel.body)
            }
            try expectPart(events[0].rawMember("moderator"), of: ana.body, with: ["id", "name"])
            #expect(events[2].rawMember("moderator") == .null)
            #expect(events[3].rawMember("restriction")?.rawMember("ban") == JSONText(trusted: Array("false".utf8)))
        }
    }

    @Test(
        "of a membership are what GET /v1/channels/{channel}/members/{user} shows, without how its user hides the channel"
    )
    func memberships() async throws {
        try await APIFixture.run { api in
            let path = "/v1/channels/crew/members/ben"
            let ben = await api.call(.put, "/v1/users/ben", #"{"name":"Ben"}"#)
            _ = await api.call(.post, "/v1/channels", #"{"id":"crew","kind":"group","by":"ana","users":["ben"]}"#)
            let invited = await api.call(.get, path)
            let joined = await api.call(.post, "/v1/channels/crew/invites/ben/accept", #"{"by":"ben"}"#)
            #expect(joined.status == 200)
            let changed = await api.call(.patch, path, #"{"status":"new","custom":{"rate":1.50}}"#)
            #expect(changed.status == 200)
            let hidden = await api.call(.put, path + "/hidden", #"{"hide_previous_messages":true}"#)
            #expect(hidden.status == 200)
            #expect(await api.call(.delete, path).status == 204)

            func shown(_ type: String, of user: String) async throws -> JSONText {
                let events = try await api.data(type, on: "crew")
                return try #require(
                    events.first { $0.rawMember("membership")?.rawMember("user") == JSONText(string: user) })
            }
            let first = try #require(try await api.data("channel.created", on: "crew").first)
            try expectSame(
                first.rawMember("memberships")?.rawElements()?[1], as: invited.body, without: ["hidden", "push"])
            for channel in ["crew", "ben"] {
                let data = try #require(try await api.data("member.invited", on: channel).first)
                try expectSame(
                    data.rawMember("memberships")?.rawElements()?[0], as: invited.body, without: ["hidden", "push"])
                try expectPart(data.rawMember("invitees")?.rawElements()?[0], of: ben.body, with: ["id", "name"])
            }
            for (type, answer) in [("member.joined", joined), ("membership.updated", changed), ("member.left", hidden)]
            {
                let data = try await shown(type, of: "ben")
                try expectSame(data.rawMember("membership"), as: answer.body, without: ["hidden", "push"])
                try expectPart(data.rawMember("user"), of: ben.body, with: ["id", "name"])
            }
        }
    }

    @Test("of a hidden channel are the user's own membership, with how it is hidden")
    func hiding() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.post, "/v1/channels", #"{"id":"crew","kind":"group","users":["ben"]}"#)
            let start = await api.call(.get, "/v1/channels/crew/events?order=desc&limit=1")["data"]?[0]?["timetoken"]?
                .string
            let hidden = await api.call(.put, "/v1/channels/crew/members/ben/hidden", "{}")
            #expect(hidden.status == 200)
            let page = await api.call(.get, "/v1/poll?user=ben&cursor=\(try #require(start))")
            let events =
                page.body.rawMember("data")?.rawElements() ?? page.body.rawMember("events")?.rawElements() ?? []
            let event = try #require(events.first { $0.rawMember("type") == JSONText(string: "channel.hidden") })
            try expectSame(event.rawMember("data")?.rawMember("membership"), as: hidden.body)
        }
    }

    /// Makes users ana and ben, and the group crew with both of them as joined members.
    private static func crew(_ api: APIFixture) async throws -> (ana: JSONText, ben: JSONText) {
        let ana = await api.call(.put, "/v1/users/ana", #"{"name":"Ana"}"#)
        let ben = await api.call(.put, "/v1/users/ben", #"{"name":"Ben"}"#)
        _ = await api.call(.post, "/v1/channels", #"{"id":"crew","kind":"group","by":"ana","users":["ben"]}"#)
        #expect(await api.call(.post, "/v1/channels/crew/invites/ben/accept", #"{"by":"ben"}"#).status == 200)
        return (ana.body, ben.body)
    }

    /// Sends a message to the channel crew and returns its path.
    private static func send(_ body: String, _ api: APIFixture) async throws -> String {
        let sent = await api.call(.post, "/v1/channels/crew/messages", body)
        #expect(sent.status == 201)
        return "/v1/channels/crew/messages/\(try #require(sent["timetoken"]?.string))"
    }

    @Test("of a message are what GET /v1/channels/{channel}/messages/{timetoken} shows after the event")
    func messages() async throws {
        try await APIFixture.run { api in
            _ = try await Self.crew(api)
            let path = try await Self.send(
                #"{"text":"one","user":"ana","custom_type":"note","meta":{"rate":1.50}}"#, api)
            let sent = await api.call(.get, path)
            let edited = await api.call(.patch, path, #"{"text":"two","by":"ana"}"#)
            #expect(edited.status == 200)
            #expect(await api.call(.put, path + "/pin").status < 300)
            #expect(await api.call(.delete, path).status == 204)
            let deleted = await api.call(.get, path)
            let channel = await api.call(.get, "/v1/channels/crew")
            #expect(await api.call(.delete, path + "?hard=true").status == 204)

            let removals = try await api.data("message.deleted", on: "crew")
            try expectSame(removals[0].rawMember("message"), as: deleted.body)
            try expectSame(removals[0].rawMember("channel"), as: channel.body)
            #expect(removals[1].rawMember("hard") == JSONText(trusted: Array("true".utf8)))
            try expectSame(
                removals[1].rawMember("message"), as: deleted.body,
                without: ["etag", "deleted", "edited", "updated_at"],
                besides: ["etag", "deleted", "edited", "updated_at"])

            let other = try await Self.send(#"{"text":"one","user":"ana"}"#, api)
            let before = await api.call(.get, other)
            let after = await api.call(.patch, other, #"{"text":"two","by":"ana"}"#)
            let data = try #require(try await api.data("message.updated", on: "crew").first)
            try expectSame(data.rawMember("message"), as: after.body)
            try expectSame(data.rawMember("channel"), as: (await api.call(.get, "/v1/channels/crew")).body)
            let changes = try #require(data.rawMember("changes")?.rawElements())
            #expect(changes.count == 2)
            for change in changes {
                let name = try #require(JSONDocument(change).root["key"]?.string)
                #expect(change.rawMember("new") == (try members(after.body))[name])
                let old = try members(before.body)[name]
                #expect(change.rawMember("old") == (old == .null ? nil : old))
            }
            #expect(sent["custom_type"]?.string == "note" && sent["kind"]?.string == "message")
        }
    }

    @Test("of a mention and a report are the message and the channel as the REST API shows them")
    func mentionsAndReports() async throws {
        try await APIFixture.run { api in
            let users = try await Self.crew(api)
            let path = try await Self.send(#"{"text":"hi ben","user":"ana","mentions":["ben"]}"#, api)
            let message = await api.call(.get, path)
            let channel = await api.call(.get, "/v1/channels/crew")
            let mention = try #require(try await api.data("user.mentioned", on: "ben").first)
            try expectSame(mention.rawMember("message"), as: message.body)
            try expectSame(mention.rawMember("channel"), as: channel.body)
            #expect(await api.call(.post, path + "/report", #"{"reason":"rude","by":"ben"}"#).status == 201)
            let reports = await api.call(.get, "/v1/channels/crew/reports")
            let report = try #require(reports.body.rawMember("data")?.rawElements()?.first?.rawMember("data"))
            try expectSame(report.rawMember("message"), as: message.body)
            try expectSame(report.rawMember("channel"), as: channel.body)
            try expectPart(report.rawMember("author"), of: users.ana, with: ["id", "name"])
            try expectPart(report.rawMember("user"), of: users.ben, with: ["id", "name"])
            // An invited user receives the mention, and can read the message after joining.
            _ = await api.call(.post, "/v1/channels/crew/invites", #"{"users":["cy"],"by":"ana"}"#)
            _ = try await Self.send(#"{"text":"hi cy","user":"ana","mentions":["cy"]}"#, api)
            let told = try #require(try await api.data("user.mentioned", on: "cy").first?.rawMember("message"))
            #expect(try members(told).keys.sorted() == ["channel", "id", "timetoken", "user"])
        }
    }

    @Test("of reactions, actions and threads are what the REST API shows of the message and lists beside it")
    func reactionsAndThreads() async throws {
        try await APIFixture.run { api in
            let users = try await Self.crew(api)
            let path = try await Self.send(#"{"text":"one","user":"ana"}"#, api)
            let root = String(path.split(separator: "/").last ?? "")
            let reaction = await api.call(.put, path + "/reactions/wave?user=ben")
            let reacted = await api.call(.get, path)["etag"]?.string
            #expect(await api.call(.put, path + "/reactions/wave?user=ana").status == 201)
            #expect(await api.call(.delete, path + "/reactions/wave?user=ben").status == 204)
            let unreacted = await api.call(.get, path)["etag"]?.string
            let action = await api.call(.post, path + "/actions", #"{"type":"task","value":"done","user":"ben"}"#)
            let acted = await api.call(.get, path)["etag"]?.string
            let reply = try await Self.send(#"{"text":"two","user":"ben","thread_of":"\#(root)"}"#, api)
            let message = await api.call(.get, path)
            let channel = await api.call(.get, "/v1/channels/crew")
            let added = try await api.data("reaction.added", on: "crew")
            let removed = try await api.data("reaction.removed", on: "crew")
            for data in [added[0], removed[0]] {
                try expectSame(data.rawMember("reaction"), as: reaction.body)
                try expectSame(data.rawMember("channel"), as: channel.body)
                try expectPart(data.rawMember("user"), of: users.ben, with: ["id", "name"])
            }
            #expect((added + removed).map { $0.rawMember("reaction_count")?.description } == ["1", "2", "1"])
            let attached = try #require(try await api.data("action.added", on: "crew").first)
            for (data, etag) in [(added[0], reacted), (removed[0], unreacted), (attached, acted)] {
                #expect(data.rawMember("message_etag") == JSONText(string: try #require(etag)))
            }
            try expectSame(attached.rawMember("action"), as: action.body)
            try expectPart(attached.rawMember("user"), of: users.ben, with: ["id", "name"])
            let thread = try #require(try await api.data("thread.updated", on: "crew").first)
            #expect(thread.rawMember("thread") == message.body.rawMember("thread"))
            #expect(thread.rawMember("thread_of") == JSONText(string: root))
            let replied = try #require(JSONDocument(thread).root["message_timetoken"]?.string)
            #expect(reply.hasSuffix("/" + replied))
            try expectSame(thread.rawMember("channel"), as: channel.body)
            try expectPart(thread.rawMember("most_replies")?.rawElements()?[0], of: users.ben, with: ["id", "name"])
        }
    }

    @Test("of receipts, typing and values are the user and the channel, with the membership's mark and counts")
    func passing() async throws {
        try await APIFixture.run { api in
            let users = try await Self.crew(api)
            _ = try await Self.send(#"{"text":"one","user":"ana"}"#, api)
            let start = try #require(
                await api.call(.get, "/v1/channels/crew/events?order=desc&limit=1")["data"]?[0]?["timetoken"]?.string)
            #expect(await api.call(.put, "/v1/channels/crew/members/ben/delivered", #"{"by":"ben"}"#).status == 200)
            let read = await api.call(.put, "/v1/channels/crew/members/ben/read", #"{"by":"ben"}"#)
            #expect(await api.call(.put, "/v1/channels/crew/members/ana/read", #"{"by":"ana"}"#).status == 200)
            #expect(await api.call(.put, "/v1/channels/crew/typing/ben").status < 300)
            #expect(await api.call(.post, "/v1/channels/crew/metadata", #"{"metadata":{"k":"v"}}"#).status < 300)
            let channel = await api.call(.get, "/v1/channels/crew")
            let page = await api.call(.get, "/v1/poll?channel=crew&cursor=\(start)")
            let events =
                page.body.rawMember("data")?.rawElements() ?? page.body.rawMember("events")?.rawElements() ?? []
            func data(_ type: String) -> [JSONText] {
                events.filter { $0.rawMember("type") == JSONText(string: type) }.compactMap { $0.rawMember("data") }
            }
            let delivered = try #require(data("receipt.delivered").first)
            #expect(delivered.rawMember("delivered_timetoken") == read.body.rawMember("delivered_timetoken"))
            #expect(delivered.rawMember("undelivered_member_count")?.description == "1")
            let receipts = data("receipt.read")
            #expect(receipts[0].rawMember("read_timetoken") == read.body.rawMember("read_timetoken"))
            #expect(receipts.map { $0.rawMember("unread_member_count")?.description } == ["1", "0"])
            let typing = try #require(data("typing.started").first)
            let metadata = try #require(data("channel.metadata.created").first)
            for shown in [delivered, receipts[0], typing] {
                try expectPart(shown.rawMember("user"), of: users.ben, with: ["id", "name"])
            }
            for shown in [delivered, receipts[0], typing, metadata] {
                try expectSame(shown.rawMember("channel"), as: channel.body)
            }
        }
    }
}
