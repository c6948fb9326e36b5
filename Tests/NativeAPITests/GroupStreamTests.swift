import ChatCore
import ChatModel
import LongPolling
import JSON
import TestSupport
import Testing

@testable import NativeAPI

@Suite("A stream of channel groups", .timeLimit(.minutes(2))) struct GroupStreamTests {
    private func group(_ name: String, _ channels: [String], _ gateway: StreamHarness) async throws {
        let key = RecordKey(.group, name, in: StreamHarness.app)
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("channels", channels)
            writer.endObject()
        }
        _ = try await gateway.service.engine.directory.write([RecordChange(key, body: body)])
    }

    @Test("follows their channels, and changes of the groups")
    func follows() async throws {
        try await StreamHarness.run { gateway in
            try await group("crew", ["a", "b"], gateway)
            let (reader, _, _) = try await gateway.openReady("group=crew&group=none&channel=x")
            for (index, channel) in ["a", "b", "c", "x"].enumerated() { try await gateway.emit(channel, index + 1) }
            #expect(await reader.numbers(3) == [1, 2, 4])
            try await group("crew", ["b", "c"], gateway)
            let changed = try #require(await reader.next())
            #expect(changed.type == "stream.changed")
            #expect(changed.json?["channels"]?.strings == ["b", "c", "x"])
            for (index, channel) in ["a", "b", "c"].enumerated() { try await gateway.emit(channel, index + 5) }
            #expect(await reader.numbers(2) == [6, 7])
        }
    }

    @Test("receives nothing while the group is empty, and only channels that its credential reaches")
    func bounds() async throws {
        try await StreamHarness.run { gateway in
            try await group("crew", ["a.x", "b"], gateway)
            let key = try await gateway.key(channels: [.below("a.")])
            let (narrow, _, _) = try await gateway.openReady("group=crew", as: key.text)
            let (nothing, _, _) = try await gateway.openReady("group=none")
            try await gateway.emit("b", 1)
            try await gateway.emit("a.x", 2)
            #expect(await narrow.numbers(1) == [2])
            try await group("none", ["c"], gateway)
            #expect(await nothing.next()?.type == "stream.changed")
            try await gateway.emit("c", 3)
            #expect(await nothing.numbers(1) == [3])
            let many = (0...10).map { "group=g\($0)" }.joined(separator: "&")
            #expect(try await gateway.open(many).status == 400)
        }
    }

    @Test("is refused groups that hold more together than a request may follow")
    func crowd() async throws {
        var limits = Limits()
        limits.groupChannelsPerRequest = 2
        try await StreamHarness.run(limits: limits) { gateway in
            try await group("crew", ["a", "b"], gateway)
            try await group("more", ["c"], gateway)
            #expect(try await gateway.open("group=crew").status == 200)
            #expect(try await gateway.open("group=crew&group=more").status == 400)
        }
    }

    @Test("is looked up once for all streams, however many follow the group")
    func lookup() async throws {
        let reads = WatchedReads()
        try await StreamHarness.run(through: { WatchedEngine(real: $0, reads: reads) }) { gateway in
            try await group("crew", ["a"], gateway)
            let key = try await gateway.key()
            var readers: [EventStreamReader] = []
            for _ in 0..<5 { readers.append(try await gateway.openReady("group=crew").reader) }
            readers.append(try await gateway.openReady("group=crew", as: key.text).reader)
            readers.append(try await gateway.openReady("group=crew&channel=x&type=order.*").reader)
            readers.append(try await gateway.openReady("group=crew&user=ana&device=phone").reader)
            let before = reads.count
            try await group("crew", ["b"], gateway)
            for reader in readers { #expect(await reader.next()?.type == "stream.changed") }
            #expect(reads.count == before + 1)
            try await gateway.emit("b", 1)
            for reader in readers { #expect(await reader.numbers(1) == [1]) }
        }
    }

    @Test("leaves a change of the stream that comes while its groups are looked up as it is")
    func patched() async throws {
        let reads = WatchedReads()
        try await StreamHarness.run(through: { WatchedEngine(real: $0, reads: reads) }) { gateway in
            try await group("crew", ["a"], gateway)
            let (typed, id, _) = try await gateway.openReady("group=crew")
            let (named, other, _) = try await gateway.openReady("group=crew")
            reads.hold()
            try await group("crew", ["a", "b"], gateway)
            await gateway.until { _ in reads.waitingCount == 1 }
            for (id, body) in [(id, #"{"types":["said"]}"#), (other, #"{"channels":["c"]}"#)] {
                #expect(try await gateway.call("PATCH", "/v1/streams/\(id)", body).status == 200)
            }
            reads.release()
            #expect(await typed.next()?.json?["types"]?.strings == ["said"])
            let changed = try #require(await typed.next()?.json)
            #expect(changed["channels"]?.strings == ["a", "b"] && changed["types"]?.strings == ["said"])
            #expect(await named.next()?.json?["channels"]?.strings == ["c"])
            try await gateway.emit("b", 1)
            try await gateway.emit("b", 2, type: "said")
            try await gateway.emit("c", 3)
            #expect(await typed.numbers(1) == [2])
            #expect(await named.numbers(1) == [3])
        }
    }

    @Test("follows the last of two changes, even if the earlier lookup ends later")
    func overtaken() async throws {
        let reads = WatchedReads()
        try await StreamHarness.run(through: { WatchedEngine(real: $0, reads: reads) }) { gateway in
            try await group("crew", ["a"], gateway)
            let (reader, _, _) = try await gateway.openReady("group=crew")
            reads.hold()
            // Simulates a stream that begins while its group changes; this lookup is not the watch's own.
            let early = Task { [streams = gateway.streams] in await streams.followAllGroups() }
            await gateway.until { _ in reads.waitingCount == 1 }
            let held = reads.takeWaiting()
            try await group("crew", ["b"], gateway)
            #expect(await reader.next()?.json?["channels"]?.strings == ["b"])
            for continuation in held { continuation.resume() }
            await early.value
            try await gateway.emit("a", 1)
            try await gateway.emit("b", 2)
            #expect(await reader.numbers(1) == [2])
        }
    }

    @Test("works for polls too, which are answered when a group changes")
    func polls() async throws {
        try await StreamHarness.run { gateway in
            try await group("crew", ["a"], gateway)
            let from = try await gateway.emit("a", 1)
            async let held = gateway.call("GET", "/v1/poll?group=crew&cursor=\(from)")
            await gateway.until { !$0.polls.assumeIsolated { $0.isEmpty } }
            try await group("crew", ["a", "b"], gateway)
            #expect(try await held.json?["data"]?.count == 0)
            try await gateway.emit("b", 2)
            let next = try await gateway.call("GET", "/v1/poll?group=crew&cursor=\(from)")
            #expect(next.json?["data"]?[0]?["data"]?["n"]?.integer == 2)
        }
    }

    @Test("shows no presence where the user is no member or is banned")
    func absence() async throws {
        try await StreamHarness.run { gateway in
            try await gateway.channel("closed", .group)
            try await gateway.ban("ana", in: "b")
            let (watcher, _, _) = try await gateway.openReady("channel=*&type=presence.*")
            _ = try await gateway.openReady(
                "channel=closed&channel=b&channel=a&user=ana&device=phone&presence=true")
            #expect(await watcher.next()?.json?["channel"]?.string == "a")
            #expect(try await gateway.call("GET", "/v1/channels/closed/presence").json?["data"]?.count == 0)
            #expect(try await gateway.call("GET", "/v1/channels/b/presence").json?["data"]?.count == 0)
        }
    }

    @Test("of a device makes its user present, on what it moves to as well")
    func presence() async throws {
        try await StreamHarness.run { gateway in
            try await group("crew", ["a"], gateway)
            let (watcher, _, _) = try await gateway.openReady("channel=a&channel=b&type=presence.*")
            #expect(try await gateway.open("channel=a&presence=true").status == 400)
            let (reader, _, _) = try await gateway.openReady("group=crew&user=ana&device=phone&presence=true")
            let joined = try #require(await watcher.next())
            #expect(joined.type == "presence.joined")
            #expect(joined.json?["channel"]?.string == "a")
            #expect(joined.json?["data"]?["user"]?["id"]?.string == "ana")
            try await group("crew", ["b"], gateway)
            let moves = [await watcher.next(), await watcher.next()].compactMap { $0 }
            #expect(
                Set(moves.map { "\($0.type) \($0.json?["channel"]?.string ?? "")" })
                    == ["presence.joined b", "presence.left a"])
            reader.close()
        }
    }

    @Test("of a device makes its user present where the user comes to be, while it is open")
    func following() async throws {
        try await StreamHarness.run { gateway in
            try await gateway.channel("plaza", .public)
            let (watcher, _, _) = try await gateway.openReady("channel=*&type=presence.*")
            let (reader, _, _) = try await gateway.openReady("user=ana&device=phone&presence=true")
            for method in ["PUT", "DELETE"] {
                let answer = try await gateway.call(
                    method, "/v1/channels/plaza/members/ana", method == "PUT" ? "{}" : "")
                #expect((200..<300).contains(answer.status))
                let told = try #require(await watcher.next())
                #expect(told.type == (method == "PUT" ? "presence.joined" : "presence.left"))
                #expect(told.json?["channel"]?.string == "plaza")
            }
            reader.close()
        }
    }

    @Test("may be a poll's that makes its user present, and keeps the user there for the next one")
    func presentByPoll() async throws {
        try await StreamHarness.run { gateway in
            let (watcher, _, _) = try await gateway.openReady("channel=*&type=presence.*")
            let begin = try await gateway.call("GET", "/v1/poll?channel=a&user=ana&device=phone&presence=true")
            let cursor = try #require(begin.json?["cursor"]?.string)
            #expect(try await gateway.call("GET", "/v1/channels/a/presence").json?["data"]?.count == 0)
            _ = try await gateway.call("POST", "/v1/channels/a/events", #"{"type":"wave","data":{"n":1}}"#)
            let next = try await gateway.call(
                "GET", "/v1/poll?channel=a&user=ana&device=phone&presence=true&cursor=\(cursor)")
            // The next element may be the user's presence.
            #expect(next.json?["data"]?[0]?["type"]?.string == "wave")
            #expect(await watcher.next()?.type == "presence.joined")
            #expect(try await gateway.call("GET", "/v1/channels/a/presence").json?["data"]?.count == 1)
            #expect(try await gateway.call("GET", "/v1/poll?channel=a&presence=true").status == 400)
        }
    }
}

extension LiveStreams {
    fileprivate func followAllGroups() async { await followGroups(of: groupStreams.compactMap { roll[$0] }) }
}
