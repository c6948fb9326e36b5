import ChatModel
import EngineConformance
import JSON
import Locking
import SQLiteEngine
import TestSupport
import Testing

/// What does not go to the disk does not wait for who writes to it.
@Suite("A passing event") struct PassingEventTests {
    private func draft(_ text: String) -> EventDraft {
        EventDraft(
            channel: ChannelID("room", in: AppID("app")), type: "t", retention: .passing, data: JSONText(string: text)
        )
    }

    @Test("is visible before its sender could wait, when nothing stands before it", arguments: Place.allCases)
    func atOnce(_ place: Place) async throws {
        let folder = try TemporaryFolder()
        let path = place == .disk ? folder.database : ":memory:"
        let engine = try await SQLiteEngine(SQLiteEngineSettings(path: path, clock: ManualClock()))
        // The writer reserves places for this one and those behind it.
        let first = try await engine.log.append([draft("first")], claim: nil)
        let timetokens = Lock<[Timetoken]>([])
        let sender = Task.immediate {
            let outcome = try await engine.log.append([draft("second"), draft("third")], claim: nil)
            timetokens.withLock { $0 = outcome.events.map(\.event.timetoken) }
        }
        let given = timetokens.withLock { $0 }
        #expect(given.count == 2)
        #expect(try await engine.log.watermark(of: AppID("app")) == given.last)
        try await sender.value
        let all = ChannelSet(app: AppID("app"), names: ["room"])
        let page = try await engine.log.events(in: all, after: .zero, limit: 10)
        #expect(page.items.map(\.timetoken) == first.events.map(\.event.timetoken) + given)
        await engine.close()
    }

    @Test("is refused once the store is closed")
    func afterTheEnd() async throws {
        let engine = try await SQLiteEngine(SQLiteEngineSettings(path: ":memory:", clock: ManualClock()))
        _ = try await engine.log.append([draft("first")], claim: nil)
        await engine.close()
        let late = draft("late")
        await #expect(throws: ChatError.self) { _ = try await engine.log.append([late], claim: nil) }
    }
}
