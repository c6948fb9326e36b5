import ChatCore
import ChatModel
import LongPolling
import JSON
import TestSupport
import Testing

@testable import NativeAPI

@Suite("A device's stream", .timeLimit(.minutes(2))) struct DeviceStreamTests {
    /// The receivers of an event on `room` from jo's phone with this audience and the subject sue.
    private static let table: [(Audience, Set<String>)] = [
        (.subscribers, ["phone", "laptop", "jim", "pat"]),
        (.webhooks, []),
        (.wire, []),
        (.rule(.participants), ["pat"]),
        (.rule(.participantsButOrigin), ["pat"]),
        (.rule(.participantsAndSubjects, subjects: ["sue"]), ["pat", "sue"]),
        (.rule(.joined), ["phone", "laptop", "jim"]),
        (.rule(.joinedButOrigin), ["laptop", "jim"]),
        (.rule(.joinedAndSubjects, subjects: ["sue"]), ["phone", "laptop", "jim", "sue"]),
        (.rule(.joinedButSubjects, subjects: ["jo", "sue"]), ["jim"]),
        (.rule(.joinedAndThreadButOrigin, subjects: ["sue", "jo"]), ["laptop", "jim", "sue"]),
        (.rule(.members), ["phone", "laptop", "jim", "ina"]),
        (.rule(.membersButOrigin), ["laptop", "jim", "ina"]),
        (.rule(.mentioned, subjects: ["jo", "ina", "pat", "sue"]), ["phone", "laptop", "ina", "pat"]),
        (.rule(.mentionedButOrigin, subjects: ["jo", "ina", "sue"]), ["laptop", "ina"]),
        (.rule(.user, subjects: ["sue", "jo", "sue"]), ["phone", "laptop", "sue"]),
        (.rule(.device), ["phone"]),
        (.rule(.channelList), ["phone", "laptop", "jim", "ina", "pat"]),
        (.rule(.channelList, subjects: ["sue"]), ["phone", "laptop", "jim", "ina", "pat", "sue"]),
    ]

    @Test("receives of its channels what each audience admits, each event once")
    func audiences() async throws {
        #expect(Set(AudienceRule.allCases) == Set(Self.table.compactMap { $0.0.ruleName }))
        try await StreamHarness.run { gateway in
            try await gateway.channel("room", .group)
            for user in ["jo", "jim"] { try await gateway.member(user, of: "room") }
            try await gateway.member("ina", of: "room", .invited)
            var readers: [(name: String, reader: EventStreamReader)] = []
            for (name, query) in [
                ("phone", "user=jo&device=phone"), ("laptop", "user=jo&device=laptop"),
                ("jim", "user=jim&device=phone"),
                ("ina", "user=ina"), ("pat", "user=pat"), ("sue", "user=sue"), ("out", "user=out"),
            ] {
                readers.append((name, try await gateway.openReady(query).reader))
            }
            try await gateway.change("participant.entered", "pat", in: "room", .participants)
            for (index, row) in Self.table.enumerated() {
                try await gateway.tell("room", index + 1, for: row.0, by: "jo", from: "phone")
            }
            try await gateway.end(["jo", "jim", "ina", "pat", "sue", "out"])
            for (name, reader) in readers {
                let expected = Self.table.indices.filter { Self.table[$0].1.contains(name) }.map { $0 + 1 }
                let heard = await reader.heard()
                #expect(heard.filter { $0 > 0 } == expected, "\(name)")
            }
        }
    }

    @Test("receives no messages of users whom its user has blocked, from the block until it is lifted")
    func blocked() async throws {
        try await StreamHarness.run { gateway in
            try await gateway.channel("room", .group)
            for user in ["ana", "ben"] { try await gateway.member(user, of: "room") }
            func say(_ n: Int, by user: String) async throws {
                try await gateway.tell("room", n, for: .rule(.joinedButOrigin), type: "message.created", by: user)
            }
            let (open, _, begin) = try await gateway.openReady("user=ana&device=phone&type=message.created")
            try await say(1, by: "ben")
            #expect(try await gateway.call("PUT", "/v1/users/ana/blocks/ben").status == 201)
            try await say(2, by: "ben")
            try await say(3, by: "cleo")
            #expect(await open.numbers(2) == [1, 3])
            // The state is read from the store. Events that are caught up show the current state.
            let (later, _, _) = try await gateway.openReady(
                "user=ana&device=desk&type=message.created&cursor=\(begin)")
            #expect(await later.numbers(1) == [3])
            let (other, _, _) = try await gateway.openReady("user=ben&device=phone&type=message.created")
            #expect(try await gateway.call("DELETE", "/v1/users/ana/blocks/ben").status == 204)
            try await say(4, by: "ben")
            for reader in [open, later, other] { #expect(await reader.numbers(1) == [4]) }
        }
    }

    @Test("receives its user's join, later events, the leave, and nothing more")
    func joinAndLeave() async throws {
        try await StreamHarness.run { gateway in
            let (reader, _, _) = try await gateway.openReady("user=ana&device=phone")
            try await gateway.tell("room", 1, for: .rule(.joined))
            try await gateway.change("member.joined", "ana", in: "room", n: 2)
            try await gateway.tell("room", 3, for: .rule(.joined))
            try await gateway.tell("room", 4, for: .subscribers)
            try await gateway.change("member.joined", "ben", in: "room", n: 5)
            try await gateway.change("member.left", "ana", in: "room", n: 6)
            try await gateway.tell("room", 7, for: .rule(.joined))
            try await gateway.tell("room", 8, for: .subscribers)
            try await gateway.change("member.joined", "ana", in: "room", n: 9)
            try await gateway.end(["ana"])
            #expect(await reader.heard() == [2, 3, 4, 5, 6, 9])
            #expect(await gateway.service.hub.feedCount == 1)
        }
    }

    @Test("trusts membership events of the chat, not equal payloads of clients")
    func forgery() async throws {
        try await StreamHarness.run { gateway in
            let (reader, _, _) = try await gateway.openReady("user=ana")
            try await gateway.tell(
                "room", 0, for: .subscribers, type: "member.joined", data: #"{"user":{"id":"ana"}}"#)
            try await gateway.tell("room", 1, for: .rule(.joined))
            try await gateway.end(["ana"])
            #expect(await reader.heard() == [])
        }
    }

    @Test("receives nothing of a channel while its user is banned there, except the ban itself")
    func bans() async throws {
        try await StreamHarness.run { gateway in
            for channel in ["a", "b", "c"] { try await gateway.member("ana", of: channel) }
            try await gateway.ban("ana", in: "b")
            try await gateway.ban("ana", in: "c", until: gateway.service.clock.now)
            let (reader, _, _) = try await gateway.openReady("user=ana")
            try await gateway.tell("a", 1, for: .rule(.joined))
            try await gateway.change("user.banned", "ana", in: "a", n: 2)
            try await gateway.tell("a", 3, for: .rule(.joined))
            try await gateway.tell("a", 4, for: .rule(.user, subjects: ["ana"]))
            try await gateway.tell("b", 5, for: .rule(.joined))
            try await gateway.tell("c", 6, for: .rule(.joined))
            try await gateway.change("user.unbanned", "ana", in: "a", n: 7)
            try await gateway.tell("a", 8, for: .rule(.joined))
            try await gateway.end(["ana"])
            #expect(await reader.heard() == [1, 2, 6, 7, 8])
        }
    }

    @Test("receives a channel that it names, unless that is for members only and its user is none")
    func named() async throws {
        try await StreamHarness.run { gateway in
            try await gateway.channel("open", .open)
            try await gateway.channel("crew", .group)
            try await gateway.member("ben", of: "crew")
            try await gateway.member("ben", of: "other")
            let query = "channel=open&channel=crew&channel=free&channel=later&user="
            let (ana, _, _) = try await gateway.openReady(query + "ana")
            let (ben, _, _) = try await gateway.openReady(query + "ben&channel=ben")
            try await gateway.tell("open", 1, for: .subscribers)
            try await gateway.tell("open", 2, for: .rule(.participants))
            try await gateway.tell("crew", 3, for: .subscribers)
            try await gateway.tell("free", 4, for: .subscribers)
            try await gateway.tell("other", 5, for: .subscribers)
            try await gateway.tell("later", 6, for: .subscribers)
            try await gateway.tell(
                "later", 0, for: .rule(.members), type: "channel.created",
                data: #"{"channel":{"id":"later","kind":"group"}}"#)
            try await gateway.tell("later", 7, for: .subscribers)
            try await gateway.emit("open", 999)
            try await gateway.end(["ben"])
            #expect(await ana.heard() == [1, 4, 6])
            #expect(await ben.numbers(5) == [1, 3, 4, 6, 999])
        }
    }

    @Test("picks by patterns among the channels of its user")
    func patterns() async throws {
        try await StreamHarness.run { gateway in
            for channel in ["team.a", "club.a"] { try await gateway.member("ana", of: channel) }
            let (reader, _, _) = try await gateway.openReady("channel=team.*&channel=ana&user=ana")
            try await gateway.tell("team.a", 1, for: .rule(.joined))
            try await gateway.tell("club.a", 2, for: .rule(.joined))
            try await gateway.tell("team.b", 3, for: .subscribers)
            try await gateway.change("member.joined", "ana", in: "team.b", n: 4)
            try await gateway.change("member.joined", "ana", in: "club.b", n: 5)
            try await gateway.tell("team.b", 6, for: .subscribers)
            try await gateway.tell("club.b", 7, for: .subscribers)
            try await gateway.end(["ana"])
            #expect(await reader.heard() == [1, 4, 6])
        }
    }

    @Test("loses nothing over a reconnect, and receives events since its user joined")
    func reconnect() async throws {
        try await StreamHarness.run { gateway in
            try await gateway.member("ana", of: "old")
            let (reader, _, cursor) = try await gateway.openReady("user=ana&device=phone")
            reader.close()
            await gateway.until { $0.roll.count == 0 }
            try await gateway.tell("old", 1, for: .rule(.joined))
            try await gateway.tell("old", 2, for: .rule(.joinedButOrigin), by: "ana", from: "phone")
            try await gateway.tell("new", 3, for: .rule(.joined))
            gateway.clock.advance(by: .seconds(1))
            try await gateway.member("ana", of: "new")
            try await gateway.change("member.joined", "ana", in: "new", n: 9)
            try await gateway.tell("new", 4, for: .rule(.joined))
            let (back, _, _) = try await gateway.openReady("user=ana&device=phone", lastEventID: cursor)
            try await gateway.tell("new", 5, for: .rule(.joined))
            try await gateway.end(["ana"])
            let heard = await back.heard()
            #expect(heard == [1, 9, 4, 5])
        }
    }

    @Test("is for the user of its credential, and for any user with one of the app")
    func rights() async throws {
        try await StreamHarness.run { gateway in
            let ticket = try await gateway.call("POST", "/v1/stream-tickets", #"{"user":"ana"}"#)
            let text = ticket.json?["ticket"]?.string ?? ""
            #expect(try await gateway.open("user=ben&ticket=\(text)", as: nil).status == 403)
            let (own, _, _) = try await gateway.openReady("device=phone&ticket=\(text)", as: nil)
            try await gateway.tell("ana", 1, for: .rule(.user, subjects: ["ana"]))
            #expect(await own.numbers(1) == [1])
            #expect(try await gateway.open("device=phone").status == 400)
            let emitter = try await gateway.key([.emit])
            #expect(try await gateway.open("user=ana", as: emitter.text).status == 403)
            let listed = try await gateway.call("GET", "/v1/streams").json?["data"]?[0]
            #expect(listed?["user"]?.string == "ana")
            #expect(listed?["device"]?.string == "phone")
        }
    }

    @Test("has equivalent polls, which receive the same")
    func polls() async throws {
        try await StreamHarness.run { gateway in
            try await gateway.member("ana", of: "room")
            let from = try await gateway.tell("room", 1, for: .rule(.joined))
            try await gateway.tell("room", 2, for: .rule(.participants))
            try await gateway.tell("room", 3, for: .rule(.joined))
            let poll = try await gateway.call("GET", "/v1/poll?user=ana&device=phone&cursor=\(from)")
            let events = poll.json?["data"]?.elements ?? []
            #expect(events.map { $0["data"]?["n"]?.integer } == [3])
            let cursor = poll.json?["cursor"]?.string ?? ""
            async let held = gateway.call("GET", "/v1/poll?user=ana&device=phone&cursor=\(cursor)")
            await gateway.until { !$0.polls.assumeIsolated { $0.isEmpty } }
            try await gateway.tell("room", 4, for: .rule(.participants))
            try await gateway.tell("room", 5, for: .rule(.joined))
            #expect(try await held.json?["data"]?[0]?["data"]?["n"]?.integer == 5)
        }
    }

    @Test("follows other channels after a change, with the same audience rules")
    func changed() async throws {
        try await StreamHarness.run { gateway in
            try await gateway.channel("open", .open)
            for channel in ["a", "b"] { try await gateway.member("ana", of: channel) }
            let (reader, id, _) = try await gateway.openReady("channel=a&user=ana")
            try await gateway.tell("b", 1, for: .rule(.joined))
            let change = try await gateway.call(
                "PATCH", "/v1/streams/\(id)", #"{"channels":["b","open","ana"]}"#)
            #expect(change.status == 200)
            try await gateway.tell("a", 2, for: .rule(.joined))
            try await gateway.tell("b", 3, for: .rule(.joined))
            try await gateway.tell("b", 4, for: .rule(.participants))
            try await gateway.tell("open", 5, for: .subscribers)
            try await gateway.end(["ana"])
            #expect(await reader.heard() == [3, 5])
        }
    }

    @Test("receives counts once a second, the latest of each channel, and never older ones")
    func counts() async throws {
        try await StreamHarness.run { gateway in
            for channel in ["a", "b"] { try await gateway.member("ana", of: channel) }
            let (reader, _, _) = try await gateway.openReady("user=ana")
            let (service, _, _) = try await gateway.openReady("channel=a&channel=b")
            await gateway.tick()
            for (channel, count) in [("a", 1), ("a", 2), ("b", 3), ("a", 4)] {
                try await gateway.tell(
                    channel, 0, for: .rule(.channelList), type: "channel.member_count.updated",
                    data: #"{"channels":[{"id":"\#(channel)","member_count":\#(count)}]}"#)
            }
            let said = try await gateway.tell("a", 5, for: .rule(.joined))
            var told: [[String: Int]] = []
            var ids: [String] = []
            while told.count < 2, let event = await reader.next() {
                ids.append(event.lastEventID)
                if event.number == 5 { await gateway.tick() }
                guard let channels = event.json?["data"]?["channels"]?.elements else { continue }
                told.append(
                    Dictionary(
                        uniqueKeysWithValues: channels.map {
                            ($0["id"]?.string ?? "", Int($0["member_count"]?.integer ?? 0))
                        }))
            }
            #expect(told == [["a": 1], ["a": 4, "b": 3]])
            #expect(ids.last == said.description)
            var all = 0
            while all < 4, let event = await service.next() { all += event.type.hasSuffix("count.updated") ? 1 : 0 }
            #expect(all == 4)
        }
    }

    @Test("of a credential of a user's own has each event once, however many of its patterns mean the channel")
    func severalPatterns() async throws {
        try await StreamHarness.run { gateway in
            let ticket = try await gateway.call("POST", "/v1/stream-tickets", #"{"user":"ana"}"#).json?["ticket"]?
                .string
            let (reader, _, _) = try await gateway.openReady(
                "channel=*&channel=team.*&channel=team.all.*&channel=team.all.now&ticket=\(ticket ?? "")", as: nil)
            for (n, channel) in ["team.all.now", "team.all.x", "team.x", "x"].enumerated() {
                try await gateway.emit(channel, n)
            }
            // A channel selected by name delivers events that a pattern leaves out.
            try await gateway.tell("team.all.now", 4, for: .insiders)
            try await gateway.tell("team.all.x", 5, for: .insiders)
            try await gateway.emit("x", 6)
            #expect(await reader.numbers(6) == [0, 1, 2, 3, 4, 6])
            #expect(await gateway.streams.metrics.appended == 6)
        }
    }

    @Test("receives held-back counts once, even if it catches up meanwhile")
    func heldBackAndCaughtUp() async throws {
        try await StreamHarness.run { gateway in
            try await gateway.member("ana", of: "a")
            let (first, _, cursor) = try await gateway.openReady("user=ana")
            await gateway.tick()
            for count in 1...3 {
                try await gateway.tell(
                    "a", count, for: .rule(.channelList), type: "channel.member_count.updated",
                    data: #"{"channels":[{"id":"a","member_count":\#(count)}],"n":\#(count)}"#)
            }
            let last = try await gateway.tell("a", 4, for: .rule(.joined))
            #expect(await gateway.service.hub.reach(last))
            let (second, _, _) = try await gateway.openReady("user=ana", lastEventID: cursor)
            let (third, _, _) = try await gateway.openReady("user=ana", lastEventID: "\(last)")
            await gateway.until { $0.catchingUp.isEmpty }
            await gateway.tick(2)
            try await gateway.end(["ana"])
            var told: [Int] = []
            for reader in [first, second, third] {
                var count = 0
                while let event = await reader.next(), event.number != 999 {
                    count += event.type == "channel.member_count.updated" ? 1 : 0
                }
                told.append(count)
            }
            // The first stream receives the first count and one held-back count; the second receives all from the log.
            #expect(told == [2, 3, 0])
        }
    }

    @Test("is refused to a credential of a user's own where the user is banned, and ends there with the ban")
    func bannedWithoutDevice() async throws {
        try await StreamHarness.run { gateway in
            func ticket() async throws -> String {
                try await gateway.call("POST", "/v1/stream-tickets", #"{"user":"ana"}"#).json?["ticket"]?.string ?? ""
            }
            try await gateway.ban("ana", in: "closed")
            let refused = try await gateway.open("channel=closed&channel=a&ticket=\(ticket())", as: nil)
            #expect(refused.status == 403)
            let (several, id, _) = try await gateway.openReady("channel=a&channel=b&ticket=\(ticket())", as: nil)
            let moved = try await gateway.call("PATCH", "/v1/streams/\(id)", #"{"channels":["a","closed"]}"#)
            #expect(moved.status == 403, "what cannot be opened cannot be moved to")
            let (one, _, _) = try await gateway.openReady("channel=a&ticket=\(ticket())", as: nil)
            try await gateway.emit("a", 1)
            try await gateway.change("user.banned", "ana", in: "a", n: 2)
            #expect(await several.numbers(2) == [1, 2])
            #expect(await several.next()?.type == "stream.changed")
            try await gateway.emit("a", 3)
            try await gateway.emit("b", 4)
            #expect(await several.numbers(1) == [4])
            #expect(await one.rest().last?["reason"] == "unauthorized")
        }
    }

    @Test(
        "ends for a credential of a user's own when the channel becomes private, or is made as a private one",
        arguments: [true, false])
    func becomesPrivate(isThere: Bool) async throws {
        try await StreamHarness.run { gateway in
            func put(_ kind: String) async throws -> Int {
                try await gateway.call("PUT", "/v1/channels/a", #"{"kind":"\#(kind)"}"#).status
            }
            if isThere { #expect(try await put("public") == 201) }
            let ticket = try await gateway.call("POST", "/v1/stream-tickets", #"{"user":"ana"}"#).json?["ticket"]?
                .string
            let (reader, _, _) = try await gateway.openReady("channel=a&ticket=\(ticket ?? "")", as: nil)
            #expect(try await put("group") == (isThere ? 200 : 201))
            let last = try #require(await reader.rest().last)
            #expect(last.type == "stream.closing" && last["reason"] == "unauthorized")
        }
    }

    @Test("ends for a credential of a user's own with the membership, where the channel is for its members")
    func leftWithoutDevice() async throws {
        try await StreamHarness.run { gateway in
            for (name, kind) in [("crew", ChannelKind.group), ("plaza", .public)] {
                try await gateway.channel(name, kind)
                try await gateway.member("ana", of: name)
            }
            let ticket = try await gateway.call("POST", "/v1/stream-tickets", #"{"user":"ana"}"#).json?["ticket"]?
                .string
            let (reader, _, _) = try await gateway.openReady(
                "channel=crew&channel=plaza&ticket=\(ticket ?? "")", as: nil)
            for (n, name) in ["plaza", "crew"].enumerated() {
                let kind = name == "crew" ? "group" : "public"
                try await gateway.tell(
                    name, n, for: .rule(.joinedAndSubjects, subjects: ["ana"]), type: "member.left",
                    data: #"{"user":{"id":"ana"},"channel":{"id":"\#(name)","kind":"\#(kind)"},"n":\#(n)}"#)
            }
            #expect(await reader.numbers(2) == [0, 1])
            let changed = try #require(await reader.next())
            #expect(changed.type == "stream.changed" && changed.json?["channels"]?.strings == ["plaza"])
        }
    }
}

extension Audience {
    fileprivate var ruleName: AudienceRule? {
        if case .rule(let rule, _) = self { rule } else { nil }
    }
}
