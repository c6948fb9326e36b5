import ChatModel
import JSON
import Testing

@testable import ChatCore

@Suite("A channel's values by key", .timeLimit(.minutes(2))) struct ChannelValuesTests {
    @Test("is texts: added, changed and removed, each in an event of its own kind")
    func metadata() async throws {
        try await withChat { chat in
            try await chat.make("room", .open, operators: ["mod"])
            let mod = chat.of("mod")
            #expect(try await mod.createMetadata(["topic": "tea"], of: "room", by: nil) == ["topic": "tea"])
            try await expect(.conflict) {
                _ = try await mod.createMetadata(["topic": "x", "a": "b"], of: "room", by: nil)
            }
            let left = try await mod.updateMetadata(["topic": "milk", "new": "1"], adding: false, of: "room", by: nil)
            #expect(left.texts == ["topic": "milk"] && left.created.isEmpty)
            let both = try await mod.updateMetadata(["topic": "gin", "new": "1"], adding: true, of: "room", by: nil)
            #expect(both.texts == ["topic": "gin", "new": "1"] && both.created == ["new"])
            _ = try await mod.updateMetadata(["topic": "gin"], adding: true, of: "room", by: nil)
            #expect(try await chat.metadata(of: "room").texts == ["topic": "gin", "new": "1"])
            #expect(try await mod.deleteMetadata(["new", "none"], of: "room", by: nil) == ["new"])
            #expect(try await mod.deleteMetadata(of: "room", by: nil) == ["topic"])
            #expect(try await mod.deleteMetadata(of: "room", by: nil) == [])
            #expect(try await chat.metadata(of: "room").texts.isEmpty)
            let told = try await chat.told()
            // Each text is paired with its channel.
            let texts = told.map { event in
                "\(event.type.dropFirst("channel.metadata.".count)) \(event.data.description.split(separator: #","channel":"#)[0])"
            }
            #expect(
                texts == [
                    #"created {"metadata":{"topic":"tea"}"#, #"updated {"metadata":{"topic":"milk"}"#,
                    #"created {"metadata":{"new":"1"}"#, #"updated {"metadata":{"topic":"gin"}"#,
                    #"deleted {"keys":["new"]"#, #"deleted {"keys":["topic"]"#,
                ])
            #expect(told.allSatisfy { $0.audience == .rule(.participants) && $0.user == "mod" })
        }
    }

    @Test("is bounded, versioned, and changed by moderators of the channel")
    func refusals() async throws {
        var limits = Limits()
        limits.valuesPerChannel = 2
        try await withChat(limits: limits) { chat in
            _ = try await chat.createMetadata(["a": "1"], of: "room", by: nil, ifMatch: "0")
            try await expect(.stale) {
                _ = try await chat.createMetadata(["b": "1"], of: "room", by: nil, ifMatch: "0")
            }
            try await expect(.tooMany) { _ = try await chat.createMetadata(["b": "1", "c": "1"], of: "room", by: nil) }
            try await expect(.forbidden) { _ = try await chat.of("ana").createMetadata(["b": ""], of: "room", by: nil) }
            for texts in [[:], ["": ""], ["b": String(repeating: "x", count: 191)]] as [[ExactText: String]] {
                try await expect(.malformed) { _ = try await chat.createMetadata(texts, of: "room", by: nil) }
            }
            #expect(try await chat.metadata(of: "room").texts == ["a": "1"])
        }
    }

    @Test("is counters, which two hundred requests may change at once")
    func counters() async throws {
        try await withChat { chat in
            _ = try await chat.createMetacounters(["likes": 5, "low": .min], of: "room", by: nil)
            try await atOnce(200) { number in
                _ = try await chat.of("user\(number)").updateMetacounters(
                    ["likes": number % 2 == 0 ? 3 : 1], number % 2 == 0 ? .inc : .dec, adding: false, of: "room",
                    by: nil)
            }
            #expect(try await chat.metacounters(of: "room").counters["likes"] == 205)
            try await expect(.conflict) {
                _ = try await chat.updateMetacounters(["likes": 1, "low": 1], .dec, adding: false, of: "room", by: nil)
            }
            try await expect(.forbidden) {
                _ = try await chat.of("ana").updateMetacounters(["likes": 0], .set, adding: false, of: "room", by: nil)
            }
            let set = try await chat.updateMetacounters(
                ["likes": 7, "new": 1], .set, adding: true, of: "room", by: nil)
            #expect(set.counters == ["likes": 7, "new": 1] && set.created == ["new"])
            #expect(try await chat.deleteMetacounters(of: "room", by: nil) == ["likes", "low", "new"])
            let told = try await chat.told()
            #expect(told.count == 204)
            #expect(told[202].data.description == #"{"metacounter":{"likes":7},"mode":"set"}"#)
        }
    }
}
