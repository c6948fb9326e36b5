import ChatCore
import ChatModel
import Testing

/// Names that are equal as Swift strings but differ in bytes: "é" as one code point and as two.
let composed = "caf\u{E9}"
let decomposed = "cafe\u{301}"

@Suite("An exact text") struct ExactTextTests {
    @Test("equals another byte for byte only")
    func equality() {
        #expect(composed == decomposed, "the case this suite is about")
        #expect(ExactText(composed) != ExactText(decomposed))
        #expect(ExactText(composed) == ExactText(String(decoding: Array(composed.utf8), as: UTF8.self)))
        #expect(ExactText("\u{212A}") != "K", "the Kelvin sign is no letter K")
        #expect(ExactText("") == "" && ExactText("") != "a")
        #expect(Set([composed, decomposed, composed].map { ExactText($0) }).count == 2)
    }

    @Test("has the order of its bytes")
    func order() {
        #expect(
            [composed, "d", decomposed, ""].map { ExactText($0) }.sorted().map { Array($0.text.utf8) }
                == ["", decomposed, composed, "d"].map { Array($0.utf8) })
    }

    @Test("finds repeats, and none among names that only look alike")
    func repeats() {
        #expect(![composed, decomposed].hasRepeats)
        #expect([composed, decomposed, composed].hasRepeats)
    }

    @Test("distinguishes names, ids and patterns")
    func identifiers() throws {
        let app = AppID("demo")
        #expect(AppID(composed) != AppID(decomposed))
        #expect(ChannelID(composed, in: app) != ChannelID(decomposed, in: app))
        #expect(UserID(composed, in: app) != UserID(decomposed, in: app))
        #expect(SubscriberID(composed, in: app) != SubscriberID(decomposed, in: app))
        #expect(RecordKey(.user, composed, in: app) != RecordKey(.user, decomposed, in: app))
        let patterns = try [composed, composed + ".*"].map { try #require(NamePattern($0)) }
        let others = try [decomposed, decomposed + ".*"].map { try #require(NamePattern($0)) }
        #expect(Set(patterns + others).count == 4)
        for (pattern, other) in zip(patterns, others) {
            #expect(!pattern.covers(other) && !pattern.matches(decomposed) && !pattern.matches(decomposed + ".a"))
        }
        #expect(patterns[0].matches(composed) && patterns[1].matches(composed + ".a"))
    }

    @Test("distinguishes callers that act for different users")
    func callers() {
        let callers = [composed, decomposed].map { user in
            Caller(app: demo, credential: "key", scopes: [.emit], user: user)
        }
        #expect(callers[0] != callers[1])
        #expect(!callers[0].hasSameUser(as: callers[1]))
    }

    @Test("keeps a mark behind the dollar sign from making a reserved name")
    func reserved() throws {
        #expect(throws: ChatError.self) { try Names.check(channel: "$\u{301}own") }
    }

    @Test("refuses user names whose channels are reserved or invalid")
    func users() throws {
        for name in ["$system", "$", "a*b", "*"] {
            #expect(throws: ChatError.self, "\(name)") { try Names.check(user: name) }
        }
        #expect(throws: Never.self) { try Names.check(user: "us$er") }
    }
}

@Suite("Names that look alike") struct LookalikeTests {
    @Test("have feeds of their own")
    func feeds() async throws {
        try await withScriptedService { service, log in
            let sinks = [RecordingSink(), RecordingSink(), RecordingSink(), RecordingSink()]
            for (sink, name) in zip(sinks, [composed, decomposed, composed + ".*", decomposed + ".*"]) {
                await service.hub.attach(sink, to: selection([name]))
            }
            log.commit([
                event(1, on: composed), event(2, on: decomposed), event(3, on: composed + ".a"),
                event(4, on: decomposed + ".a"),
            ])
            #expect(await service.hub.reach(4))
            #expect(sinks.map(\.timetokens) == [[1], [2], [3], [4]])
        }
    }

    @Test("are two channels in one selection, whatever their order")
    func selections() {
        let both = selection([composed, decomposed])
        #expect(both == selection([decomposed, composed]))
        #expect(both.channelPatterns.count == 2)
        #expect(both != selection([composed]))
        let types = [NamePattern.exact(composed), .exact(decomposed)]
        #expect(selection(["*"], types: types) == selection(["*"], types: types.reversed()))
    }

    @Test("share no right")
    func rights() throws {
        let caller = Caller(app: demo, credential: "key", scopes: [.read], channels: [.exact(composed)])
        #expect(caller.reaches(channel: composed) && !caller.reaches(channel: decomposed))
    }
}
