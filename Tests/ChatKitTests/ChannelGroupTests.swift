import ChatKit
import Testing

@Suite("Channel groups") struct ChannelGroupTests {
    @Test("are made by their first channel, listed, changed and removed", arguments: MatchStrategy.allCases)
    func life(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let group = chat.channelGroup("news")
            #expect(try await group.listChannels().isEmpty)
            try await group.addChannels([chat.channel("sport"), chat.channel("weather"), chat.channel("sport")])
            try await chat.channelGroup("other").addChannels([chat.channel("x")])
            #expect(try await group.listChannels().map(\.id) == ["sport", "weather"])
            try await group.removeChannels([chat.channel("sport")])
            #expect(try await group.listChannels().map(\.id) == ["weather"])
            let first = try await chat.getChannelGroups(limit: 1)
            #expect(first.groups.map(\.id) == ["news"])
            #expect(try await chat.getChannelGroups(limit: 1, page: first.page).groups.map(\.id) == ["other"])
            try await chat.removeChannelGroup(id: "news")
            #expect(try await chat.getChannelGroups().groups.map(\.id) == ["other"])
        }
    }

    @Test("are followed: their channels, and no others", arguments: MatchStrategy.allCases)
    func following(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            try await chat.channelGroup("news").addChannels([chat.channel("sport")])
            var events = chat.subscription(channels: ["extra"], groups: ["news", "none"]).makeAsyncIterator()
            try await events.open()
            for channel in ["elsewhere", "sport", "extra"] { try await chat.channel(channel).publish(1) }
            #expect(await events.next()?.channel.name == "sport")
            #expect(await events.next()?.channel.name == "extra")
        }
    }

    @Test("are followed as they change", arguments: MatchStrategy.allCases)
    func change(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let group = chat.channelGroup("news")
            var events = chat.subscription(groups: ["news"]).makeAsyncIterator()
            try await events.open()
            try await group.addChannels([chat.channel("sport")])
            // The change takes effect after a moment, so one of these messages is the first that arrives.
            let sender = Task {
                for number in 0..<10_000 where !Task.isCancelled {
                    try await chat.channel("sport").publish(number)
                }
            }
            #expect(await events.next()?.channel.name == "sport")
            sender.cancel()
            _ = await sender.result
        }
    }

    @Test(
        "without channels deliver no events when followed", arguments: MatchStrategy.allCases)
    func empty(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            var events = chat.subscription(groups: ["none"]).makeAsyncIterator()
            try await events.open()
            try await chat.channel("sport").publish("unheard")
            await chat.close()
            #expect(await events.next() == nil)
        }
    }
}
