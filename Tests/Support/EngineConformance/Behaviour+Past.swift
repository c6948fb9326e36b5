import ChatModel
import JSON
import TestSupport
import Testing

extension Behaviour {
    static let past: [Behaviour] = [
        Behaviour("an imported event has its own time in history, among the existing events") { trial in
            let place = trial.clock.now.adding(.seconds(-3600))
            try await trial.append(trial.draft("room", "now"))
            let moved = try await trial.log.append([trial.moved("then", to: place)], claim: nil).events[0]
            #expect(moved.event.timetoken == place && !moved.isDuplicate)
            #expect(try await trial.history("room").texts == ["then", "now"])
            let found = try #require(try await trial.log.event(at: place, in: trial.app))
            #expect(found.data == moved.event.data && found.draft.past == place && found.draft.originDevice == nil)
            #expect(try await trial.log.counts([HistoryRequest(channel: trial.channel("room"), limit: 0)]) == [2])
        },
        Behaviour("an event imported into an empty log can be read at once") { trial in
            let place = trial.clock.now.adding(.seconds(-1))
            _ = try await trial.log.append([trial.moved("first", to: place)], claim: nil)
            #expect(try await trial.history("room").texts == ["first"])
            #expect(try await trial.log.event(at: place, in: trial.app) != nil)
        },
        Behaviour("a follower of the log receives no imported event, wherever it resumes") { trial in
            let commits = await trial.log.committed()
            let place = trial.clock.now.adding(.seconds(60))
            try await trial.append(trial.draft("room", "before"), trial.draft("other", "before"))
            trial.clock.advance(by: .seconds(120))
            _ = try await trial.log.append([trial.moved("moved", to: place)], claim: nil)
            let last = try await trial.append(trial.draft("room", "after"))[0]
            #expect(try await trial.readAll(trial.names("room")).texts == ["before", "after"])
            #expect(try await trial.readAll(trial.everything).texts == ["before", "before", "after"])
            var seen: [Event] = []
            for await commit in commits {
                seen += commit.events
                if commit.watermark >= last.timetoken { break }
            }
            #expect(seen.texts == ["before", "before", "after"])
        },
        Behaviour("a follower receives no imported event after a restart", needsRestart: true) { trial in
            let place = trial.clock.now.adding(.seconds(60))
            try await trial.append(trial.draft("room", "before"))
            trial.clock.advance(by: .seconds(120))
            _ = try await trial.log.append([trial.moved("moved", to: place)], claim: nil)
            try await trial.append(trial.draft("room", "after"))
            try await trial.subject.restart()
            #expect(try await trial.readAll(trial.names("room")).texts == ["before", "after"])
            #expect(try await trial.readAll(trial.everything).texts == ["before", "after"])
            #expect(try await trial.history("room").texts == ["before", "moved", "after"])
        },
        Behaviour("an event is imported once, and two that claim one timetoken both find one") { trial in
            let place = trial.clock.now.adding(.seconds(-60))
            let drafts = [trial.moved("a", to: place), trial.moved("b", to: place, in: "other")]
            let first = try await trial.log.append(drafts, claim: nil).events
            #expect(first.map(\.event.timetoken.rawValue) == [place.rawValue, place.rawValue + 1])
            let second = try await trial.log.append(drafts, claim: nil).events
            #expect(second.map(\.event.timetoken) == first.map(\.event.timetoken))
            #expect(second.allSatisfy(\.isDuplicate) && first.allSatisfy { !$0.isDuplicate })
            #expect(try await trial.history("room").count == 1)
            #expect(try await trial.history("other").count == 1)
        },
        Behaviour("an event cannot be imported at a timetoken that the log has not reached") { trial in
            try await trial.append(trial.draft("room", "now"))
            let later = trial.clock.now.adding(.seconds(60))
            await trial.refusal(.invalid) {
                _ = try await trial.log.append([trial.moved("later", to: later)], claim: nil)
            }
            #expect(try await trial.history("room").texts == ["now"])
        },
        Behaviour("events older than the retention are not imported, and imported ones expire like all others") {
            trial in
            try await trial.log.setRetention(.seconds(600), of: trial.app)
            let drafts = [-700, -500].map { trial.moved("\($0)", to: trial.clock.now.adding(.seconds($0))) }
            _ = try await trial.log.append(drafts, claim: nil)
            #expect(try await trial.history("room").texts == ["-500"])
            trial.clock.advance(by: .seconds(200))
            #expect(try await trial.history("room").isEmpty)
        },
    ]
}

extension Trial {
    func moved(_ data: String, to place: Timetoken, in channel: String = "room") -> EventDraft {
        var draft = draft(channel, data, kind: .message)
        draft.past = place
        return draft
    }
}
