import ChatModel
import Testing

@testable import ChatCore

@Suite("Channel groups") struct GroupTests {
    @Test("keep their channels in the order they were added, each once")
    func order() async throws {
        try await withChat { chat in
            let made = try await chat.write(group: "news", .replace(["b", "a", "b"]))
            #expect(made.isNew)
            #expect(made.record.channels == ["b", "a"])
            let changed = try await chat.write(group: "news", .change(adding: ["c", "a"], removing: ["b", "x"]))
            #expect(!changed.isNew)
            #expect(changed.record.channels == ["a", "c"])
            #expect(try await chat.group("news") == changed.record)
            _ = try await chat.write(group: "more", .change(adding: ["c", "d"], removing: []))
            #expect(try await chat.groupChannels(["news", "none", "more"]) == ["a", "c", "d"])
            #expect(try await chat.groups(RecordList(limit: 10)).items.map(\.id) == ["more", "news"])
            try await chat.delete(group: "news")
            try await chat.delete(group: "news")
            #expect(try await chat.group("news") == nil)
            #expect(try await chat.events().isEmpty)
        }
    }

    @Test("are bounded, versioned, and written by managers that reach their channels")
    func bounds() async throws {
        var limits = Limits()
        limits.groupChannels = 2
        try await withChat(limits: limits) { chat in
            let made = try await chat.write(group: "news", .replace(["a", "b"]))
            let full = try await refusal {
                _ = try await chat.write(group: "news", .change(adding: ["c"], removing: []))
            }
            #expect(full.slug == "group_full")
            try await expect(.stale) { _ = try await chat.write(group: "news", .replace([]), precondition: .etag("x")) }
            _ = try await chat.write(group: "news", .replace([]), precondition: .etag(made.record.etag))
            let user = chat.with([.emit, .read])
            try await expect(.forbidden) { _ = try await user.write(group: "news", .replace(["a"])) }
            try await expect(.malformed) { _ = try await chat.write(group: "news", .replace(["a.*"])) }
            let patterns = [try #require(NamePattern("a.*"))]
            let narrow = chat.service.chat(
                for: Caller(app: chat.app, credential: "key_x", scopes: [.manage], channels: patterns))
            try await expect(.forbidden) { _ = try await narrow.write(group: "news", .replace(["b"])) }
        }
    }

    @Test("combine at most as many channels as one request may follow, or are refused with the bound")
    func crowd() async throws {
        var limits = Limits()
        limits.groupChannelsPerRequest = 2
        try await withChat(limits: limits) { chat in
            _ = try await chat.write(group: "a", .replace(["x", "y"]))
            _ = try await chat.write(group: "b", .replace(["y"]))
            _ = try await chat.write(group: "c", .replace(["z"]))
            #expect(try await chat.groupChannels(["a", "b"]) == ["x", "y"])
            let crowd = try await refusal { _ = try await chat.groupChannels(["a", "c"]) }
            #expect(crowd.code == .malformed && crowd.message.contains("more than 2 channels together; name fewer"))
        }
    }

    @Test("leave out private channels without the user, for that user's credential")
    func privateChannels() async throws {
        try await withChat { chat in
            try await chat.makeChannel("crew", users: ["ben"])
            try await chat.makeChannel("hall", .public)
            _ = try await chat.write(group: "news", .replace(["crew", "hall", "loose"]))
            for user in ["ana", "ben"] {
                #expect(try await chat.acting(as: user).group("news")?.channels == ["crew", "hall", "loose"])
            }
            let eve = chat.acting(as: "eve")
            #expect(try await eve.group("news")?.channels == ["hall", "loose"])
            #expect(try await eve.groups(RecordList(limit: 10)).items.map(\.channels) == [["hall", "loose"]])
            #expect(try await chat.with([.read]).group("news")?.channels == ["crew", "hall", "loose"])
        }
    }

    @Test("show a key the channels it reaches, and are changed only by keys that reach all of them")
    func reach() async throws {
        try await withChat { chat in
            _ = try await chat.write(group: "news", .replace(["a.1", "b"]))
            let patterns = [try #require(NamePattern("a.*"))]
            let narrow = chat.service.chat(
                for: Caller(app: chat.app, credential: "key_x", scopes: [.manage, .read], channels: patterns))
            #expect(try await narrow.group("news")?.channels == ["a.1"])
            #expect(try await narrow.groups(RecordList(limit: 10)).items.map(\.channels) == [["a.1"]])
            #expect(try await narrow.groupChannels(["news"]) == ["a.1"])
            try await expect(.forbidden) { _ = try await narrow.write(group: "news", .replace(["a.2"])) }
            try await expect(.forbidden) { try await narrow.delete(group: "news") }
            _ = try await chat.write(group: "news", .change(adding: [], removing: ["b"]))
            _ = try await narrow.write(group: "news", .replace(["a.2"]))
            try await narrow.delete(group: "news")
        }
    }
}
