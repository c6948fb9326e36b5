import ChatKit
import Testing

@Suite("Values that are kept with a channel") struct ChannelValueTests {
    @Test("are texts, made, changed, added and removed", arguments: MatchStrategy.allCases)
    func metaData(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let room = try await chat.createChannel(id: "room.1")
            #expect(try await room.getMetaData() == [:])
            #expect(try await room.createMetaData(["topic": "tea", "lang": "en"]) == ["topic": "tea", "lang": "en"])
            let again = await #expect(throws: ChatError.self) { try await room.createMetaData(["topic": "x"]) }
            #expect(again?.code == .conflict)
            #expect(try await room.updateMetaData(["topic": "cups", "new": "1"], upsert: false) == ["topic": "cups"])
            #expect(try await room.updateMetaData(["new": "1"]) == ["new": "1"])
            try await room.deleteMetaData(key: "lang")
            #expect(try await room.getMetaData() == ["topic": "cups", "new": "1"])
            try await room.deleteAllMetaData()
            #expect(try await room.getMetaData() == [:])
        }
    }

    @Test("are counters, of which no step is lost", arguments: MatchStrategy.allCases)
    func counters(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let room = try await chat.createChannel(id: "room.1")
            #expect(try await room.createMetaCounters(["likes": 0]) == ["likes": 0])
            await withThrowingTaskGroup { group in
                for _ in 0..<10 { group.addTask { try await room.increaseMetaCounters(["likes": 2]) } }
            }
            #expect(try await room.decreaseMetaCounters(["likes": 5, "none": 1]) == ["likes": 15])
            #expect(try await room.updateMetaCounters(["likes": 1, "new": 7]) == ["likes": 1, "new": 7])
            #expect(try await room.getMetaCounters() == ["likes": 1, "new": 7])
            try await room.deleteMetaCounter(key: "new")
            #expect(try await room.getMetaCounters() == ["likes": 1])
            try await room.deleteAllMetaCounters()
            #expect(try await room.getMetaCounters() == [:])
        }
    }
}
