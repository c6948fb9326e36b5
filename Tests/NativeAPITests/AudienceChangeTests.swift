import ChatCore
import ChatModel
import LongPolling
import JSON
import TestSupport
import Testing

@testable import NativeAPI

@Suite("A channel that becomes private", .timeLimit(.minutes(2))) struct AudienceChangeTests {
    private func ticket(_ gateway: StreamHarness, from cursor: String? = nil) async throws -> String {
        let start = cursor.map { #","cursor":"\#($0)""# } ?? ""
        let answer = try await gateway.call("POST", "/v1/stream-tickets", #"{"user":"ana"\#(start)}"#)
        return try #require(answer.json?["ticket"]?.string)
    }

    /// Makes a channel private and sends a message in the same commit, so that no event can follow sooner.
    private func close(_ name: String, members: [String] = [], _ gateway: StreamHarness) async throws {
        let channel = ChannelID(name, in: StreamHarness.app)
        var told = EventDraft(
            channel: channel, type: "channel.created", kind: .recordChange,
            data: JSONText(trusted: Array(#"{"channel":{"id":"\#(name)","kind":"group"}}"#.utf8)))
        told.audience = .rule(.members)
        var said = EventDraft(
            channel: channel, type: "secret.told", data: JSONText(trusted: Array(#"{"n":7}"#.utf8)))
        said.audience = .insiders
        var changes = [
            RecordChange(
                ChannelRecord.key(name, in: StreamHarness.app), body: ChannelRecord(id: name, kind: .group).body)
        ]
        for user in members {
            var member = MembershipRecord(user: user, channel: name, state: .joined)
            member.joined = gateway.service.clock.now
            changes.append(
                RecordChange(MembershipRecord.key(user, name, in: StreamHarness.app), body: member.body, parent: name)
            )
        }
        _ = try await gateway.service.engine.directory.write(changes, events: [told, said])
    }

    @Test("ends the stream of a non-member before the next message")
    func stranger() async throws {
        try await StreamHarness.run { gateway in
            for round in 0..<50 {
                let (reader, _, _) = try await gateway.openReady("channel=c\(round)&ticket=\(ticket(gateway))", as: nil)
                try await close("c\(round)", gateway)
                let heard = await reader.rest()
                #expect(!heard.contains { $0.type == "secret.told" })
                #expect(heard.last?.type == "stream.closing" && heard.last?["reason"] == "unauthorized")
            }
        }
    }

    @Test("ends the stream of a non-member that has just caught up, before the next message")
    func caughtUp() async throws {
        try await StreamHarness.run { gateway in
            for round in 0..<50 {
                try await gateway.emit("c\(round)", 1)
                let query = try await "channel=c\(round)&ticket=\(ticket(gateway, from: "earliest"))"
                let (reader, _, _) = try await gateway.openReady(query, as: nil)
                let first = try #require(await reader.next())
                #expect(first.json?["data"]?["n"]?.integer == 1)
                try await close("c\(round)", gateway)
                let heard = await reader.rest()
                #expect(!heard.contains { $0.type == "secret.told" })
                #expect(heard.last?.type == "stream.closing" && heard.last?["reason"] == "unauthorized")
            }
        }
    }

    @Test("leaves a member's stream open, which loses nothing")
    func member() async throws {
        try await StreamHarness.run { gateway in
            let (reader, _, _) = try await gateway.openReady("channel=c&ticket=\(ticket(gateway))", as: nil)
            try await gateway.emit("c", 1)
            try await close("c", members: ["ana"], gateway)
            try await gateway.emit("c", 8)
            var numbers: [Int64] = []
            while numbers.last != 8, let block = await reader.next() {
                if let number = block.json?["data"]?["n"]?.integer { numbers.append(number) }
            }
            #expect(numbers == [1, 7, 8])
        }
    }

    @Test("ends no stream that follows it by a pattern, which receives nothing more of it")
    func pattern() async throws {
        try await StreamHarness.run { gateway in
            let (reader, _, _) = try await gateway.openReady("channel=room.*&ticket=\(ticket(gateway))", as: nil)
            try await gateway.emit("room.c", 1)
            try await close("room.c", gateway)
            try await gateway.emit("room.d", 2)
            #expect(await reader.numbers(2) == [1, 2])
        }
    }

    @Test("answers a poll that waits, and refuses the next one")
    func poll() async throws {
        try await StreamHarness.run { gateway in
            let token = try await gateway.call("POST", "/v1/tokens", #"{"user":"ana"}"#).json?["token"]?.string ?? ""
            let start = try await gateway.openReady("channel=c").cursor
            async let answer = gateway.call("GET", "/v1/poll?channel=c&cursor=\(start)", as: token)
            await gateway.until { $0.polls.assumeIsolated { $0.count } == 1 }
            try await close("c", gateway)
            let heard = try await answer
            #expect(heard.status == 200 && !String(decoding: heard.body, as: UTF8.self).contains("secret.told"))
            #expect(try await gateway.call("GET", "/v1/poll?channel=c&cursor=\(start)", as: token).status == 403)
        }
    }

    @Test("leaves open a stream that follows it by a group, which goes on without it")
    func group() async throws {
        try await StreamHarness.run { gateway in
            #expect(try await gateway.call("PUT", "/v1/channel-groups/g", #"{"channels":["c","d"]}"#).status == 201)
            let (reader, _, _) = try await gateway.openReady("group=g&ticket=\(ticket(gateway))", as: nil)
            try await close("c", gateway)
            try await gateway.emit("d", 2)
            var heard: [EventStreamParser.Event] = []
            while heard.last?.json?["data"]?["n"]?.integer != 2, let block = await reader.next() { heard.append(block) }
            #expect(!heard.contains { $0.type == "secret.told" })
            #expect(heard.contains { $0.type == "stream.changed" && $0.json?["channels"]?.strings == ["d"] })
        }
    }
}
