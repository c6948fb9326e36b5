import ChatModel
import JSON
import TestSupport
import Testing

extension Behaviour {
    static let retention: [Behaviour] = [
        Behaviour("an app's retention hides older events at once, in that app only, and reports the gap to readers") {
            trial in
            let old = try await trial.append(trial.draft("room", "old"), trial.draft("room", "old too"))
            let other = ChannelID("room", in: AppID("other"))
            _ = try await trial.log.append([EventDraft(channel: other, type: "t", data: .null)], claim: nil)
            trial.clock.advance(by: .seconds(3600))
            try await trial.append(trial.draft("room", "new"))
            try await trial.log.setRetention(.seconds(7200), of: trial.app)
            #expect(try await trial.loss(after: 1) == nil, "nothing is too old yet")
            #expect(try await trial.history("room").count == 3)

            try await trial.log.setRetention(.seconds(600), of: trial.app)
            #expect(try await trial.history("room").texts == ["new"])
            #expect(try await trial.readAll(trial.names("room")).texts == ["new"])
            #expect(try await trial.log.event(at: old[0].timetoken, in: trial.app) == nil)
            #expect(try await trial.log.counts([HistoryRequest(channel: trial.channel("room"), limit: 0)]) == [1])
            #expect(try await trial.loss(after: 1)?.cause == .retention)
            #expect(try await trial.loss(after: old[0].timetoken) != nil)
            #expect(try await trial.loss(in: ["elsewhere"], after: 1) == nil, "nothing was ever said there")
            let elsewhere = try await trial.log.history([HistoryRequest(channel: other, limit: 5)])
            #expect(elsewhere[0].items.count == 1)

            try await trial.log.setRetention(nil, of: trial.app)
            #expect(try await trial.history("room").texts == ["new"], "what was hidden stays hidden")
        },
        Behaviour(
            "expiry by a type's rule counts as a loss of its channel and type; expiry set by a sender does not"
        ) {
            trial in
            var events: [EventDraft] = []
            for (channel, type, isOfType) in [("a", "kept", nil), ("a", "typed", true), ("b", "sent", false)] {
                var draft = EventDraft(channel: trial.channel(channel), type: type, data: .null)
                if let isOfType {
                    draft.expires = trial.clock.now.adding(.seconds(3600))
                    draft.isEndedByType = isOfType
                }
                events.append(draft)
            }
            let stored = try await trial.log.append(events, claim: nil).events.map(\.event)
            #expect(try await trial.loss(in: ["a", "b"], after: 1) == nil, "nothing is over yet")
            trial.clock.advance(by: .seconds(7201))
            let typed = stored[1].timetoken
            for isRemoved in [false, true] {
                if isRemoved { try await trial.subject.removeOutlived() }
                #expect(try await trial.loss(in: ["a"], after: 1) == Loss(upTo: typed, cause: .retention))
                #expect(try await trial.loss(in: ["a", "b"], types: ["typed"], after: 1)?.upTo == typed)
                #expect(try await trial.loss(in: ["a"], types: ["kept"], after: 1) == nil)
                #expect(try await trial.loss(in: ["b"], after: 1) == nil)
                #expect(try await trial.loss(in: ["a"], after: typed) == nil)
            }
        },
        Behaviour("retention holds after a restart with the clock stepped back", needsRestart: true) { trial in
            try await trial.append(trial.draft("room", "old"))
            trial.clock.advance(by: .seconds(3600))
            try await trial.append(trial.draft("room", "new"))
            try await trial.log.setRetention(.seconds(600), of: trial.app)
            try await trial.subject.restart()
            trial.clock.step(by: .seconds(-3000))
            #expect(try await trial.history("room").texts == ["new"])
        },
        Behaviour(
            "events that a planner still needs do not expire before it has passed them, for three days", usesQueue: true
        ) {
            trial in
            let events = try await trial.append(trial.draft("room", "planned"), trial.draft("room", "needed"))
            let cursor = CursorName("planner")
            try await trial.queue.plan([], cursor: cursor, from: .zero, to: events[0].timetoken)
            try await trial.log.setRetention(.seconds(60), of: trial.app)
            trial.clock.advance(by: .seconds(3600))
            #expect(try await trial.readAll(trial.names("room")).texts == ["needed"])
            try await trial.queue.plan([], cursor: cursor, from: events[0].timetoken, to: events[1].timetoken)
            #expect(try await trial.readAll(trial.names("room")).isEmpty)

            try await trial.append(trial.draft("room", "abandoned"))
            trial.clock.advance(by: .seconds(3 * 24 * 3600 + 1))
            #expect(try await trial.readAll(trial.names("room")).isEmpty, "a dead planner does not keep everything")
        },
    ]
}
