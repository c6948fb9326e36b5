import ChatModel
import ChatSupport
import Testing

@testable import ChatCore

@Suite("An append without a task") struct DraftAppendTests {
    private static func draft(by user: String? = nil) -> EventDraft {
        EventDraft.message(channel: "crew", data: Room.text("hi"), user: user, meta: nil)
    }

    /// Appends drafts. Returns the state of the emit before the append, and the outcome; nil if a record has changed.
    private func append(_ emit: StartedEmit) async throws -> (beforeRules: StartedEmit, outcome: AppendOutcome?) {
        guard case .appendable(let append) = emit else { throw ChatError(.conflict, "\(emit)") }
        await withCheckedContinuation { continuation in append.begin { continuation.resume() } }
        return (append.beforeRules, try append.outcome())
    }

    /// Begins an emit of a message by `ben`, who may write in the channel.
    private func started(_ room: Room) async throws -> StartedEmit {
        try await room.establish("crew", .public)
        _ = try await room.say("first", in: "crew", by: "ben")
        var drafts = [Self.draft(by: "ben")]
        return try room.chat.start(&drafts)
    }

    @Test("stores durable events, in an app without records and in one with them", arguments: [false, true])
    func stores(hasRecords: Bool) async throws {
        try await Room.open { room in
            if hasRecords {
                try await room.establish("crew", .public)
                // Reads the rules of the channel into memory.
                _ = try await room.say("first", in: "crew", by: "ana")
            }
            var drafts = [Self.draft(by: hasRecords ? "ana" : nil)]
            let outcome = try #require(try await append(try room.chat.start(&drafts)).outcome)
            let event = outcome.events[0].event
            let stored = try await room.chat.history([HistoryRequest(channel: event.channel, limit: 10)])[0].items
            #expect(stored.last?.timetoken == event.timetoken)
            #expect(stored.last?.data == Room.text("hi"))
        }
    }

    @Test("stores nothing if the user was banned after the checks, and `finish` then rejects the emit")
    func banned() async throws {
        try await Room.open { room in
            let emit = try await started(room)
            _ = try await room.chat.restrict("ben", in: "crew", RestrictionRequest(isBan: true))
            let (beforeRules, outcome) = try await append(emit)
            #expect(outcome == nil)
            await #expect { try await room.chat.finish(beforeRules) } throws: { ($0 as? ChatError)?.slug == "banned" }
        }
    }

    @Test("stores the events in `finish` if a record has changed but the user's rights have not")
    func checkedAgain() async throws {
        try await Room.open { room in
            let emit = try await started(room)
            // A ban that ends again changes the records of the user's rights, but not the rights.
            _ = try await room.chat.restrict("ben", in: "crew", RestrictionRequest(isBan: true))
            _ = try await room.chat.lift(restrictionOf: "ben", in: "crew")
            let (beforeRules, outcome) = try await append(emit)
            #expect(outcome == nil)
            #expect(try await room.chat.finish(beforeRules).events.newCount == 1)
        }
    }
}
