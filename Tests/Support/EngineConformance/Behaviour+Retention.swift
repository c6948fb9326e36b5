import ChatModel
import JSON
import TestSupport
import Testing

extension Behaviour {
    static let retention: [Behaviour] = [
        Behaviour("a space's retention hides what is older at once, there only, and tells readers of the gap") {
            trial in
            let old = try await trial.append(trial.draft("room", "old"), trial.draft("room", "old too"))
            let other = ChannelID("room", in: SpaceID("other"))
            _ = try await trial.log.append([EventDraft(channel: other, type: "t", data: .null)], claim: nil)
            trial.clock.advance(by: .seconds(3600))
            try await trial.append(trial.draft("room", "new"))
            #expect(try await trial.log.floor(of: trial.space) == .zero)
            try await trial.log.setRetention(.seconds(7200), of: trial.space)
            #expect(try await trial.log.floor(of: trial.space) == .zero, "nothing is too old yet")
            #expect(try await trial.history("room").count == 3)

            try await trial.log.setRetention(.seconds(600), of: trial.space)
            #expect(try await trial.history("room").texts == ["new"])
            #expect(try await trial.readAll(trial.names("room")).texts == ["new"])
            #expect(try await trial.log.event(at: old[0].timetoken, in: trial.space) == nil)
            #expect(try await trial.log.counts([HistoryRequest(channel: trial.channel("room"), limit: 0)]) == [1])
            #expect(try await trial.log.floor(of: trial.space) == old[1].timetoken)
            let elsewhere = try await trial.log.history([HistoryRequest(channel: other, limit: 5)])
            #expect(elsewhere[0].items.count == 1)

            try await trial.log.setRetention(nil, of: trial.space)
            #expect(try await trial.history("room").texts == ["new"], "what was hidden stays hidden")
        },
        Behaviour("retention holds after a restart with the clock stepped back", needsRestart: true) { trial in
            try await trial.append(trial.draft("room", "old"))
            trial.clock.advance(by: .seconds(3600))
            try await trial.append(trial.draft("room", "new"))
            try await trial.log.setRetention(.seconds(600), of: trial.space)
            try await trial.subject.restart()
            trial.clock.step(by: .seconds(-3000))
            #expect(try await trial.history("room").texts == ["new"])
        },
        Behaviour("events a planner still needs are not expired before it has passed them, for three days") { trial in
            let events = try await trial.append(trial.draft("room", "planned"), trial.draft("room", "needed"))
            let cursor = CursorName("planner")
            try await trial.queue.plan([], cursor: cursor, from: .zero, to: events[0].timetoken)
            try await trial.log.setRetention(.seconds(60), of: trial.space)
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
