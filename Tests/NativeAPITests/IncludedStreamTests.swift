import ChatModel
import LongPolling
import HTTPServer
import JSON
import TestSupport
import Testing

@testable import NativeAPI

extension EventStreamParser.Event {
    /// The member `included` of an envelope, byte for byte.
    fileprivate var included: JSONText? { JSONText(trusted: Array(data.utf8)).rawMember("included") }

    fileprivate var userName: String? {
        included.flatMap { try? JSONDocument($0).root["user"]?["name"]?.string }
    }
}

extension StreamHarness {
    /// Creates a group of two members, of whom the first has a record.
    fileprivate func makeCrew() async throws {
        _ = try await call("PUT", "/v1/users/ana", #"{"name":"Ana","email":"ana@example.com"}"#)
        let made = try await call(
            "POST", "/v1/channels", #"{"id":"crew","kind":"group","by":"ana","users":["ben"]}"#)
        #expect(made.status == 201)
        _ = try await call("POST", "/v1/channels/crew/invites/ben/accept", #"{"by":"ben"}"#)
    }

    @discardableResult
    fileprivate func say(_ text: String, _ more: String = "") async throws -> String {
        let sent = try await call(
            "POST", "/v1/channels/crew/messages", #"{"user":"ana","text":"\#(text)"\#(more)}"#)
        return try #require(sent.json?["timetoken"]?.string)
    }

    fileprivate func token(of user: String) async throws -> String {
        try #require(
            try await call("POST", "/v1/tokens", #"{"user":"\#(user)"}"#).json?["token"]?.string)
    }
}

@Suite("Objects that streams and polls include", .timeLimit(.minutes(2))) struct IncludedStreamTests {
    private static let all = "include=user,channel,thread,member"
    private static let messages = "channel=crew&type=message.created"

    @Test("are what their own resources show, live and from the log, and absent without a request for them")
    func sameAsResources() async throws {
        try await StreamHarness.run { gateway in
            try await gateway.makeCrew()
            let root = try await gateway.say("hi")
            let (plain, _, _) = try await gateway.openReady(Self.messages)
            let (live, id, _) = try await gateway.openReady("\(Self.messages)&\(Self.all)")
            try await gateway.say("again", #","thread_of":"\#(root)""#)
            let first = try #require(await live.next())
            let names = ["user": "users/ana", "channel": "channels/crew", "member": "channels/crew/members/ana"]
            for (name, path) in names {
                let shown = try await gateway.call("GET", "/v1/\(path)").body
                #expect(first.included?.rawMember(name) == JSONText(trusted: shown), "\(name)")
            }
            let message = JSONText(trusted: try await gateway.call("GET", "/v1/channels/crew/messages/\(root)").body)
            #expect(first.included?.rawMember("thread") == message.rawMember("thread"))
            #expect(try #require(await plain.next()).included == nil)

            // A stream that catches up receives the current objects.
            _ = try await gateway.call("PATCH", "/v1/users/ana", #"{"name":"Anna"}"#)
            let (late, _, _) = try await gateway.openReady("\(Self.messages)&include=user&cursor=earliest")
            #expect(await late.next()?.userName == "Anna")
            #expect(await late.next()?.userName == "Anna")
            let listed = try await gateway.call("GET", "/v1/streams").json?["data"]?.elements ?? []
            let report = try #require(listed.first { $0["id"]?.string == id })
            #expect(report["include"]?.strings == ["user", "channel", "thread", "member"])
            #expect(listed.count { $0["include"] != nil } == 2)
        }
    }

    @Test("are read once for all streams that are handed an event")
    func sharedRead() async throws {
        let reads = WatchedReads()
        try await StreamHarness.run(through: { WatchedEngine(real: $0, reads: reads, kind: .user) }) { gateway in
            try await gateway.makeCrew()
            var readers: [EventStreamReader] = []
            for index in 0..<10 {
                for query in ["user=ana&device=d\(index)", "user=ben&device=d\(index)", "channel=crew"] {
                    readers.append(
                        try await gateway.openReady("\(query)&type=message.created&include=user").reader)
                }
            }
            let printed = await gateway.streams.framedCount
            for n in 1...3 {
                // Sending a message reads no user.
                let before = reads.count
                try await gateway.say("hi \(n)")
                for reader in readers { #expect(await reader.next()?.userName == "Ana") }
                #expect(reads.count == before + 1)
            }
            // One frame for the sender's own devices, one for all other readers with the same view, one for the
            // program.
            #expect(await gateway.streams.framedCount <= printed + 9)
        }
    }

    @Test("are never older than the event")
    func fresh() async throws {
        try await StreamHarness.run { gateway in
            try await gateway.makeCrew()
            let (reader, _, _) = try await gateway.openReady("\(Self.messages)&include=user")
            for n in 1...30 {
                _ = try await gateway.call("PATCH", "/v1/users/ana", #"{"name":"\#(n)"}"#)
                try await gateway.say("hi")
            }
            for n in 1...30 {
                let name = try #require(await reader.next()?.userName.flatMap { Int($0) })
                #expect(name >= n)
            }
        }
    }

    @Test("delay no stream without them, and lose and repeat nothing for streams that open meanwhile")
    func waiting() async throws {
        let reads = WatchedReads()
        try await StreamHarness.run(through: { WatchedEngine(real: $0, reads: reads, kind: .user) }) { gateway in
            try await gateway.makeCrew()
            let query = "channel=crew&type=order.paid"
            let (plain, _, _) = try await gateway.openReady(query)
            let (first, _, _) = try await gateway.openReady("\(query)&include=user")
            reads.hold()
            func emit(_ n: Int) async throws {
                _ = try await gateway.call(
                    "POST", "/v1/channels/crew/events", #"{"type":"order.paid","user":"ana","data":{"n":\#(n)}}"#)
            }
            try await emit(1)
            #expect(await plain.numbers(1) == [1])
            await gateway.until { _ in reads.waitingCount == 1 }
            // Begins after an event that its feed has not received yet.
            let (second, _, cursor) = try await gateway.openReady("\(query)&include=user")
            try await emit(2)
            #expect(await plain.numbers(1) == [2])
            reads.release()
            #expect(await first.numbers(2) == [1, 2])
            #expect(await second.numbers(1) == [2])
            try await emit(3)
            #expect(await first.numbers(1) == [3])
            #expect(await second.numbers(1) == [3])
            let (third, _, _) = try await gateway.openReady("\(query)&include=user&cursor=\(cursor)")
            #expect(await third.numbers(2) == [2, 3])
        }
    }

    @Test("that cannot be read end the stream, which continues where it was")
    func failure() async throws {
        let reads = WatchedReads()
        try await StreamHarness.run(through: { WatchedEngine(real: $0, reads: reads, kind: .user) }) { gateway in
            try await gateway.makeCrew()
            let query = "\(Self.messages)&include=user"
            let (reader, _, _) = try await gateway.openReady(query)
            try await gateway.say("one")
            let last = try #require(await reader.next())
            reads.refuse(true)
            try await gateway.say("two")
            let closing = try #require(await reader.next())
            #expect(closing.type == "stream.closing" && closing["reason"] == "store_unavailable")
            #expect(await reader.next() == nil)
            reads.refuse(false)
            let (again, _, _) = try await gateway.openReady(query, lastEventID: last.lastEventID)
            let missed = try #require(await again.next())
            #expect(missed.json?["data"]?["text"]?.string == "two" && missed.userName == "Ana")
        }
    }

    @Test("that cannot be read end the streams that follow them at the time, and no others")
    func failureAfterMoves() async throws {
        let reads = WatchedReads()
        try await StreamHarness.run(through: { WatchedEngine(real: $0, reads: reads, kind: .user) }) { gateway in
            try await gateway.makeCrew()
            let query = "\(Self.messages)&include=user"
            let elsewhere = "channel=other&type=message.created&include=user"
            let (stayed, _, _) = try await gateway.openReady(query)
            let (left, leftID, _) = try await gateway.openReady(query)
            let (came, cameID, _) = try await gateway.openReady(elsewhere)
            for (reader, id, channel) in [(left, leftID, "other"), (came, cameID, "crew")] {
                let moved = try await gateway.call("PATCH", "/v1/streams/\(id)", #"{"channels":["\#(channel)"]}"#)
                #expect(moved.status == 200)
                #expect(await reader.next()?.type == "stream.changed")
            }
            reads.refuse(true)
            try await gateway.say("one")
            for reader in [stayed, came] {
                #expect(await reader.next()?.type == "stream.closing")
                #expect(await reader.next() == nil)
            }
            reads.refuse(false)
            let sent = try await gateway.call(
                "POST", "/v1/channels/other/messages", #"{"user":"ana","text":"two"}"#)
            #expect(sent.status == 201)
            let received = try #require(await left.next())
            #expect(received.json?["data"]?["text"]?.string == "two" && received.userName == "Ana")
        }
    }

    @Test("show each reader what it may see")
    func rights() async throws {
        try await StreamHarness.run { gateway in
            try await gateway.makeCrew()
            let (ana, ben) = (try await gateway.token(of: "ana"), try await gateway.token(of: "ben"))
            let query = "\(Self.messages)&include=user"
            let readers = [
                try await gateway.openReady(query).reader, try await gateway.openReady(query, as: ben).reader,
                try await gateway.openReady("\(query)&user=ben&device=d").reader,
                try await gateway.openReady("user=ana&device=d&type=message.created&include=user", as: ana).reader,
            ]
            try await gateway.say("hi")
            var emails: [String?] = []
            for reader in readers {
                let user = try #require(await reader.next()?.included?.rawMember("user"))
                emails.append(try JSONDocument(user).root["email"]?.string)
            }
            #expect(emails == ["ana@example.com", nil, nil, "ana@example.com"])

            // A removed user receives the removal, and no object of the channel after it.
            let (gone, _, _) = try await gateway.openReady("user=ben&device=e&type=member.left&\(Self.all)", as: ben)
            let (there, _, _) = try await gateway.openReady("user=ana&device=e&type=member.left&\(Self.all)", as: ana)
            _ = try await gateway.call("DELETE", "/v1/channels/crew/members/ben?by=ana")
            #expect(try #require(await gone.next()?.included).rawMember("channel") == nil)
            #expect(try #require(await there.next()?.included).rawMember("channel") != nil)
        }
    }

    @Test("are in the answers of polls, held or not")
    func polls() async throws {
        try await StreamHarness.run { gateway in
            try await gateway.makeCrew()
            let before = try await gateway.call("GET", "/v1/poll?channel=crew").json?["cursor"]?.string ?? ""
            async let held = gateway.call("GET", "/v1/poll?\(Self.messages)&include=user,member&cursor=latest")
            async let plain = gateway.call("GET", "/v1/poll?\(Self.messages)&cursor=latest")
            await gateway.until { $0.polls.assumeIsolated { $0.count } == 2 }
            try await gateway.say("hi")
            let missed = try await gateway.call("GET", "/v1/poll?\(Self.messages)&include=user,member&cursor=\(before)")
            let texts = [try await held.body, missed.body].map { JSONText(trusted: $0).rawMember("data") }
            let user = JSONText(trusted: try await gateway.call("GET", "/v1/users/ana").body)
            let member = JSONText(trusted: try await gateway.call("GET", "/v1/channels/crew/members/ana").body)
            for text in texts {
                let included = try #require(text?.rawElements()?.first?.rawMember("included"))
                #expect(included.rawMembers()?.map(\.name) == ["user", "member"])
                #expect(included.rawMember("user") == user && included.rawMember("member") == member)
            }
            #expect(try await plain.json?["data"]?[0]?["included"] == nil)
        }
    }
}
