@testable import ChatKit
import ChatRemote
import SQLiteEngine
import TestSupport
import Testing

@Suite("The connection of a chat") struct ConnectionTests {
    @Test("reports that it is open", arguments: MatchStrategy.allCases)
    func connected(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let heard = Heard<String>()
            let watch = chat.onConnectionStateChange { heard($0.word) }
            try await watch.ready()
            let events = chat.subscription(channels: ["a"]).makeAsyncIterator()
            try await events.open()
            #expect(await heard.next() == ["connected"])
        }
    }

    @Test("reports why it cannot be opened, and the sequence ends", arguments: MatchStrategy.allCases)
    func failed(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let heard = Heard<String>()
            let watch = chat.onConnectionStateChange { heard($0.word) }
            try await watch.ready()
            var events = chat.subscription(channels: ["a"], filter: "data.amount >").makeAsyncIterator()
            #expect(await events.next() == nil)
            #expect(await heard.next() == ["failed malformed"])
        }
    }

    @Test("ends every sequence and listener when the chat is closed", arguments: MatchStrategy.allCases)
    func closed(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            var events = chat.subscription(channels: ["a"]).makeAsyncIterator()
            try await events.open()
            await chat.close()
            #expect(await events.next() == nil)
            await #expect(throws: ChatError.self) { try await chat.channel("a").publish(1) }
        }
    }

    @Test("is reported open when every listener is connected, and lost for each lost listener")
    func several() async throws {
        let states = ConnectionStates()
        let told = states.follow()
        let error = ChatError(.unavailable, "lost")
        let (a, b) = (states.enter(EventSelection(channels: ["a"])), states.enter(EventSelection(channels: ["b"])))
        a.connected(hasGap: false)
        b.connected(hasGap: false)
        a.interrupted(error)
        b.interrupted(error)
        b.connected(hasGap: true)
        a.connected(hasGap: false)
        a.failed(error)
        states.close()
        var heard: [String] = []
        for await state in told {
            switch state {
            case .reconnecting(let error): heard.append("reconnecting \(error.listener ?? "-")")
            default: heard.append(state.word)
            }
            if case .closed = state { break }
        }
        #expect(
            heard == [
                "connected", "reconnecting channels a", "reconnecting channels b", "gap", "failed unavailable",
                "closed",
            ])
        withExtendedLifetime((a, b)) {}
    }

    @Test("is reopened after the gateway was down, and no event is missing")
    func resumed() async throws {
        try await withGatewayRestarts { gateway in
            let url = try await gateway.start()
            let chat = try await Chat(url: url, key: "dev", user: "ana")
            var events = chat.subscription(channels: ["a"]).makeAsyncIterator()
            try await events.open()
            try await chat.channel("a").publish(1)
            #expect(AnyJSON(try #require(await events.next()).data) == 1)
            try await gateway.stop()
            _ = try await gateway.start()
            try await chat.channel("a").publish(2)
            #expect(AnyJSON(try #require(await events.next()).data) == 2)
            await chat.close()
        }
    }

    @Test("is refused with an explanation for an invalid address")
    func badAddress() async throws {
        let error = await #expect(throws: ChatError.self) {
            _ = try await Chat(url: "chat.example.com", key: "k", user: "ana")
        }
        #expect(error?.code == .malformed)
    }
}

extension ConnectionState {
    var word: String {
        switch self {
        case .connected(let hasGap): hasGap ? "gap" : "connected"
        case .reconnecting: "reconnecting"
        case .failed(let error): "failed \(error.code)"
        case .closed: "closed"
        }
    }
}

@Suite("An interrupted device stream") struct CutStreamTests {
    @Test("continues from the greatest timetoken it received, even if an older one came last")
    func lateEvent() async throws {
        @Sendable func line(_ timetoken: String, _ type: String) -> String {
            #"{"id":"evt_\#(timetoken)","type":"\#(type)","timestamp":"2024-11-24T01:39:05.678901Z","#
                + #""timetoken":"\#(timetoken)","channel":"a","data":{}}"# + "\n"
        }
        let server = try ScriptedServer.perConnection { connection in
            guard connection.readRequest() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n")
            connection.write(
                #"{"event":"stream.ready","data":{"stream":"str_1","cursor":"17324123456789000","heartbeat_seconds":15}}"#
                    + "\n" + line("17324123456789020", "order.paid")
                    + line("17324123456789010", "channel.member_count.updated"))
        }
        let backend = try GatewayBackend(url: server.baseURL, key: "dev", user: "ana")
        var selection = EventSelection(channels: ["a"])
        selection.isDevice = true
        let following = Task { [selection] in for try await _ in backend.events(selection) {} }
        let requests = await server.requests.wait(count: 2)
        #expect(requests.last?.target.contains("cursor=17324123456789020") == true)
        following.cancel()
        await backend.close()
    }
}
