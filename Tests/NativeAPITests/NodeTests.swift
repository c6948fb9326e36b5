import ChatCore
import ChatModel
import ChatSupport
import HTTPServer
import JSON
import TestSupport
import Testing

@testable import NativeAPI

@Suite("On two nodes", .timeLimit(.minutes(2))) struct NodeTests {
    private func ids(_ answer: HTTPExchange) -> [String] {
        answer.json?["data"]?.elements?.compactMap { $0["id"]?.string } ?? []
    }

    // MARK: Streams

    @Test(
        "the list of streams is whole, in the order of opening, page by page, from either node",
        arguments: ["asc", "desc"])
    func list(_ order: String) async throws {
        try await StreamHarness.runTwo { one, two, _ in
            var open: [(reader: EventStreamReader, id: String, cursor: String)] = []
            for (index, node) in [one, two, two, one, two].enumerated() {
                open.append(try await node.openReady("channel=c\(index)"))
                one.clock.advance(by: .seconds(1))
            }
            let wanted = order == "asc" ? open.map(\.id) : open.map(\.id).reversed()
            var seen: [String] = []
            var cursor: String?
            var turn = 0
            repeat {
                let query = "limit=2&order=\(order)" + (cursor.map { "&cursor=\($0)" } ?? "")
                let page = try await (turn % 2 == 0 ? one : two).call("GET", "/v1/streams?\(query)")
                #expect(page.status == 200)
                seen += ids(page)
                cursor = page.json?["next_cursor"]?.string
                turn += 1
            } while cursor != nil && turn < 5
            #expect(seen == wanted)
            for stream in open { stream.reader.close() }
        }
    }

    @Test("a stream is shown, changed and ended from the other node as from its own")
    func commands() async throws {
        try await StreamHarness.runTwo { one, two, _ in
            let (reader, id, _) = try await one.openReady("channel=a")
            let shown = try await two.call("GET", "/v1/streams/\(id)")
            #expect(shown.json?["id"]?.string == id && shown.json?["channels"]?.strings == ["a"])
            let changed = try await two.call("PATCH", "/v1/streams/\(id)", #"{"channels":["b"]}"#)
            #expect(changed.status == 200 && changed.json?["channels"]?.strings == ["b"])
            #expect(await reader.next()?.type == "stream.changed")
            try await two.emit("b", 7)
            #expect(await reader.numbers(1) == [7])
            let faulty = try await two.call("PATCH", "/v1/streams/\(id)", #"{"channels":["*bad*"]}"#)
            let locally = try await one.call("PATCH", "/v1/streams/\(id)", #"{"channels":["*bad*"]}"#)
            #expect(faulty.status == 400 && faulty.json?["code"]?.string == locally.json?["code"]?.string)
            #expect(try await two.call("DELETE", "/v1/streams/\(id)").status == 204)
            #expect(await reader.next()?["reason"] == "deleted")
            #expect(try await two.call("GET", "/v1/streams/\(id)").status == 404)
        }
    }

    @Test("a stream of another key is unknown on the other node too, and so is one of a node that has stopped")
    func unknown() async throws {
        try await StreamHarness.runTwo { one, two, nodes in
            let (reader, id, _) = try await one.openReady("channel=a")
            let stranger = try await one.key([.read], channels: [.exact("a")])
            await waitUntil { two.service.keyring.caller(key: stranger.key.id, in: StreamHarness.app) != nil }
            #expect(try await two.call("DELETE", "/v1/streams/\(id)", as: stranger.text).status == 404)
            nodes.end(1)
            #expect(try await two.call("DELETE", "/v1/streams/\(id)").status == 404)
            #expect(try await two.call("GET", "/v1/streams/str_x-zz").status == 404)
            reader.close()
        }
    }

    @Test("calls leave no records behind")
    func leftovers() async throws {
        try await StreamHarness.runTwo { one, two, _ in
            let (reader, id, _) = try await one.openReady("channel=a")
            #expect(try await two.call("GET", "/v1/streams/\(id)").status == 200)
            #expect(try await two.call("GET", "/v1/streams/\(id)x").status == 404)
            for kind in [RecordKind.nodeCall, .nodeAnswer] {
                let query = RecordQuery(kind, in: .gateway, limit: 10)
                #expect(try await one.service.engine.directory.list(query).items.isEmpty)
            }
            reader.close()
        }
    }

    @Test("the sessions of a user's devices are listed and ended from either node")
    func sessions() async throws {
        try await StreamHarness.runTwo { one, two, _ in
            let phone = try await one.openReady("user=ana&device=phone&channel=a")
            one.clock.advance(by: .seconds(1))
            let tablet = try await two.openReady("user=ana&device=tablet&channel=a")
            for node in [one, two] {
                let list = try await node.call("GET", "/v1/users/ana/sessions")
                #expect(list.json?["data"]?.elements?.compactMap { $0["device"]?.string } == ["phone", "tablet"])
            }
            let list = try await two.call("GET", "/v1/users/ana/sessions")
            let id = try #require(list.json?["data"]?[0]?["id"]?.string)
            #expect(try await two.call("GET", "/v1/users/ana/sessions/\(id)").json?["device"]?.string == "phone")
            #expect(try await two.call("DELETE", "/v1/users/ana/sessions/\(id)").status == 204)
            #expect(await phone.reader.rest().last?["reason"] == "deleted")
            #expect(try await one.call("DELETE", "/v1/users/ana/sessions/\(id)").status == 404)
            tablet.reader.close()
        }
    }

    @Test("a session that no node has is 404, but 503 while a node that lives does not answer")
    func silentNode() async throws {
        try await StreamHarness.runTwo { one, two, nodes in
            let phone = try await one.openReady("user=ana&device=phone&channel=a")
            let id = try #require(try await one.call("GET", "/v1/users/ana/sessions").json?["data"]?[0]?["id"]?.string)
            nodes.add(9)
            for method in ["GET", "DELETE"] {
                let answer = try await two.call(method, "/v1/users/ana/sessions/ses_none")
                #expect(answer.status == 503 && answer.header("Retry-After") != nil)
            }
            #expect(try await two.call("DELETE", "/v1/users/ana/sessions/\(id)").status == 204)
            nodes.end(9)
            #expect(try await two.call("DELETE", "/v1/users/ana/sessions/\(id)").status == 404)
            phone.reader.close()
        }
    }

    // MARK: Tickets

    private func ticket(_ node: StreamHarness) async throws -> String {
        let answer = try await node.call("POST", "/v1/stream-tickets", #"{"channels":["a"]}"#)
        return try #require(answer.json?["ticket"]?.string)
    }

    @Test("a ticket opens one stream, on either node")
    func ticketOnce() async throws {
        try await StreamHarness.runTwo { one, two, _ in
            let text = try await ticket(one)
            let (reader, _, _) = try await two.openReady("ticket=\(text)", as: nil)
            try await one.emit("a", 1)
            #expect(await reader.numbers(1) == [1])
            #expect(try await one.open("ticket=\(text)", as: nil).status == 401)
            #expect(try await two.open("ticket=\(text)", as: nil).status == 401)
            reader.close()
        }
    }

    @Test("of two nodes that a ticket is shown to at the same time, one opens the stream")
    func ticketRace() async throws {
        try await StreamHarness.runTwo { one, two, _ in
            let text = try await ticket(one)
            let (_, shown) = try one.streams.tickets.caller(of: text)
            let results = await withTaskGroup { group in
                for node in [one, two] {
                    group.addTask { (try? await node.streams.tickets.use(shown, isResuming: false)) == .admitted }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.count { $0 } == 1)
        }
    }

    @Test("an EventSource resumes on the other node while its old stream seems open, which is then replaced")
    func ticketResumed() async throws {
        try await StreamHarness.runTwo { one, two, _ in
            let text = try await ticket(one)
            let (old, _, _) = try await one.openReady("ticket=\(text)", as: nil)
            let first = try await one.emit("a", 1)
            #expect(await old.numbers(1) == [1])
            try await one.emit("a", 2)
            #expect(try await two.open("ticket=\(text)", as: nil, lastEventID: "17000000000000000").status == 401)
            let (new, _, _) = try await two.openReady("ticket=\(text)", as: nil, lastEventID: first.description)
            #expect(await new.numbers(1) == [2])
            #expect(await old.rest().last?["reason"] == "replaced")
            // Back to the first node, and to the second again.
            let (third, _, _) = try await one.openReady("ticket=\(text)", as: nil, lastEventID: first.description)
            #expect(await new.rest().last?["reason"] == "replaced")
            #expect(await third.numbers(1) == [2])
            third.close()
            await one.until { $0.roll.count == 0 }
            let (fourth, _, _) = try await two.openReady("ticket=\(text)", as: nil, lastEventID: first.description)
            #expect(await fourth.numbers(1) == [2])
            fourth.close()
        }
    }

    @Test("a ticket that was taken over by a node whose client then disconnected is resumed on a third node")
    func ticketWithoutStream() async throws {
        try await StreamHarness.run(nodes: 3) { nodes, _ in
            let text = try await ticket(nodes[0])
            let (old, _, _) = try await nodes[0].openReady("ticket=\(text)", as: nil)
            let first = try await nodes[0].emit("a", 1)
            #expect(await old.numbers(1) == [1])
            try await nodes[0].emit("a", 2)
            // The second node takes the ticket over, and opens no stream.
            let tickets = nodes[1].streams.tickets
            let (_, shown) = try tickets.caller(of: text)
            let use = try await nodes[1].streams.resume(shown, lastID: first.description, nodes[1].chat)
            let etag = try #require(use.movingEtag)
            _ = try await tickets.use(shown, isResuming: true, replacing: etag)
            #expect(await old.rest().last?["reason"] == "replaced")
            // While its response is prepared, and after the client has disconnected.
            let (third, _, _) = try await nodes[2].openReady("ticket=\(text)", as: nil, lastEventID: first.description)
            #expect(await third.numbers(1) == [2])
            await waitUntil { tickets.ticketUsedHere(shown.nonce) == nil }
            let back = try await nodes[1].streams.resume(shown, lastID: first.description, nodes[1].chat)
            let newer = try #require(back.movingEtag)
            _ = try await tickets.use(shown, isResuming: true, replacing: newer)
            #expect(await third.rest().last?["reason"] == "replaced")
            tickets.release(shown.nonce)
            let (last, _, _) = try await nodes[0].openReady("ticket=\(text)", as: nil, lastEventID: first.description)
            #expect(await last.numbers(1) == [2])
            last.close()
        }
    }

    @Test("a ticket that another node takes over during a resumption on its own node is resumed all the same")
    func ticketTakenDuringResumption() async throws {
        try await StreamHarness.runTwo { one, two, _ in
            let text = try await ticket(one)
            let (_, shown) = try one.streams.tickets.caller(of: text)
            let (old, _, _) = try await one.openReady("ticket=\(text)", as: nil)
            let first = try await one.emit("a", 1).description
            #expect(await old.numbers(1) == [1])
            let use = try await one.streams.resume(shown, lastID: first, one.chat)
            let (new, _, _) = try await two.openReady("ticket=\(text)", as: nil, lastEventID: first)
            #expect(await old.rest().last?["reason"] == "replaced")
            #expect(try await one.api.isFinished(shown, use, lastID: first, one.chat) == false)
            #expect(await new.rest().last?["reason"] == "replaced")
        }
    }

    @Test("of resumptions on two nodes at the same time, none is refused, and one stream stays")
    func ticketResumptionRace() async throws {
        try await StreamHarness.run(nodes: 3) { nodes, _ in
            let text = try await ticket(nodes[0])
            let (old, _, _) = try await nodes[0].openReady("ticket=\(text)", as: nil)
            let first = try await nodes[0].emit("a", 1)
            #expect(await old.numbers(1) == [1])
            for round in 0..<9 {
                let readers = try await withThrowingTaskGroup { group in
                    for node in [nodes[round % 3], nodes[(round + 1) % 3]] {
                        group.addTask {
                            try await node.open("ticket=\(text)", as: nil, lastEventID: first.description)
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(readers.map(\.status) == [200, 200])
                await waitUntil {
                    var count = 0
                    for node in nodes { count += await node.streams.streamCount }
                    return count == 1
                }
                for reader in readers { reader.close() }
                for node in nodes { await node.until { $0.roll.count == 0 } }
            }
        }
    }

    @Test("a call about a ticket does not contain the ticket's text")
    func ticketText() async throws {
        try await StreamHarness.runTwo { one, two, nodes in
            let text = try await ticket(one)
            let (_, shown) = try one.streams.tickets.caller(of: text)
            // Node 9 has the ticket's stream, and does not answer.
            nodes.add(9)
            let record = RecordChange(StreamTickets.recordKey(of: shown.nonce), body: TicketHolder(node: 9).body)
            _ = try await one.service.engine.directory.write([record])
            async let resumed = two.open("ticket=\(text)", as: nil, lastEventID: shown.start.description)
            var bodies: [String] = []
            try await waitUntil {
                let query = RecordQuery(.nodeCall, in: .gateway, limit: 10)
                bodies = try await one.service.engine.directory.list(query).items.map(\.body.description)
                return !bodies.isEmpty
            }
            #expect(!bodies.contains { $0.contains(text) })
            #expect(try await resumed.status == 200)
        }
    }

    @Test("a ticket resumes nothing on the other node 120 s after its stream broke, nor after its stream was deleted")
    func ticketEnds() async throws {
        try await StreamHarness.runTwo { one, two, _ in
            let texts = [try await ticket(one), try await ticket(one)]
            let (broken, _, cursor) = try await one.openReady("ticket=\(texts[0])", as: nil)
            let (deleted, id, other) = try await one.openReady("ticket=\(texts[1])", as: nil)
            #expect(try await two.call("DELETE", "/v1/streams/\(id)").status == 204)
            _ = await deleted.rest()
            #expect(try await two.open("ticket=\(texts[1])", as: nil, lastEventID: other).status == 204)
            broken.close()
            await one.until { $0.roll.count == 0 }
            one.clock.advance(by: .seconds(121))
            #expect(try await two.open("ticket=\(texts[0])", as: nil, lastEventID: cursor).status == 401)
        }
    }

    @Test("a ticket whose node has stopped is resumed with a true id, on any node")
    func ticketOfDeadNode() async throws {
        try await StreamHarness.runTwo { one, two, nodes in
            let text = try await ticket(one)
            let (old, _, _) = try await one.openReady("ticket=\(text)", as: nil)
            let first = try await one.emit("a", 1)
            #expect(await old.numbers(1) == [1])
            nodes.end(1)
            #expect(try await two.open("ticket=\(text)", as: nil).status == 401)
            #expect(try await two.open("ticket=\(text)", as: nil, lastEventID: "17000000000000000").status == 401)
            try await two.emit("a", 2)
            let (new, _, _) = try await two.openReady("ticket=\(text)", as: nil, lastEventID: first.description)
            #expect(await new.numbers(1) == [2])
            // The node was only cut off: it closes its stream when it sees the record.
            #expect(await old.rest().last?["reason"] == "replaced")
            new.close()
        }
    }
}

extension LiveStreams.TicketUse {
    fileprivate var movingEtag: String? { if case .moving(let etag) = self { etag } else { nil } }
}

@Suite("Sources on two nodes", .timeLimit(.minutes(2))) struct SourceNodeTests {
    private static let open =
        #"{"scheme":"token","scheme_options":{"header":"X-Token","id_header":"X-Id"},"secrets":["abcdefghijklmnop"],"mapping":{"channel":"in","type":"posted","data":{"$":"body/a"}}}"#
    private static let token = (name: "X-Token", value: "abcdefghijklmnop")

    @Test("accept a post on the node that has not heard of the source yet, and a repeat on the other as a duplicate")
    func posts() async throws {
        try await StreamHarness.runTwo(isComplete: true) { one, two, _ in
            #expect(try await one.call("PUT", "/v1/sources/s", Self.open).status == 201)
            let first = try await two.call("POST", "/in/demo/s", #"{"a":1}"#, headers: [("X-Id", "7"), Self.token])
            #expect(first.status == 202, "\(String(decoding: first.body, as: UTF8.self))")
            #expect(first.json?["events"]?[0]?["duplicate"]?.boolean == false)
            let second = try await one.call("POST", "/in/demo/s", #"{"a":1}"#, headers: [("X-Id", "7"), Self.token])
            #expect(second.json?["events"]?[0]?["duplicate"]?.boolean == true)
            #expect(second.json?["events"]?[0]?["id"]?.string == first.json?["events"]?[0]?["id"]?.string)
        }
    }

    @Test("show the requests of both nodes on each, and replay those of the other")
    func requests() async throws {
        try await StreamHarness.runTwo(isComplete: true) { one, two, _ in
            #expect(try await one.call("PUT", "/v1/sources/s", Self.open).status == 201)
            for (node, body) in [(one, #"{"a":1}"#), (two, #"{"a":2}"#), (two, "nonsense")] {
                _ = try await node.call("POST", "/in/demo/s", body, headers: [Self.token])
                one.clock.advance(by: .seconds(1))
            }
            for node in [one, two] {
                var outcomes: [String?]?
                // The whole request of node 2 is stored after its response.
                try await waitUntil {
                    let list = try await node.call("GET", "/v1/sources/s/requests")
                    outcomes = list.json?["data"]?.elements?.map { $0["outcome"]?.string }
                    return outcomes?.count == 3
                }
                #expect(outcomes == ["rejected", "accepted", "accepted"])
            }
            let list = try await one.call("GET", "/v1/sources/s/requests")
            let id = try #require(list.json?["data"]?[1]?["id"]?.string)
            let shown = try await one.call("GET", "/v1/sources/s/requests/\(id)")
            #expect(shown.json?["events"]?[0]?.string?.hasPrefix("evt_") == true)
            let replay = try await one.call("POST", "/v1/sources/s/requests/\(id)/replay")
            #expect(replay.status == 202 && replay.json?["accepted"]?.integer == 1)
        }
    }
}

@Suite("Polls on two nodes", .timeLimit(.minutes(2))) struct PollNodeTests {
    @Test("miss nothing and repeat nothing when every poll reaches the other node")
    func alternating() async throws {
        try await StreamHarness.runTwo { one, two, _ in
            var cursor = try #require(try await one.call("GET", "/v1/poll?channel=a").json?["cursor"]?.string)
            var seen: [Int64] = []
            for turn in 0..<10 {
                let (poller, emitter) = turn % 2 == 0 ? (one, two) : (two, one)
                try await emitter.emit("a", 2 * turn)
                try await poller.emit("a", 2 * turn + 1)
                let answer = try await poller.call("GET", "/v1/poll?channel=a&cursor=\(cursor)")
                seen += answer.json?["data"]?.elements?.compactMap { $0["data"]?["n"]?.integer } ?? []
                cursor = try #require(answer.json?["cursor"]?.string)
            }
            #expect(seen == (0..<20).map { Int64($0) })
        }
    }

    @Test("execute a request with an Idempotency-Key once, though both nodes receive it at the same time")
    func idempotency() async throws {
        try await StreamHarness.runTwo { one, two, _ in
            let answers = await withTaskGroup { group in
                for node in [one, two] {
                    group.addTask {
                        try? await node.call("POST", "/v1/subscriptions", "{}", headers: [("Idempotency-Key", "k")])
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let statuses = answers.compactMap { $0?.status }.sorted()
            // The second request got the response of the first one, or was refused because the first one ran.
            #expect(statuses == [201, 201] || statuses == [201, 409], "\(statuses)")
            let list = try await one.call("GET", "/v1/subscriptions")
            #expect(list.json?["data"]?.count == 1)
        }
    }
}
