import ChatModel
import EngineConformance
import JSON
import SQLiteEngine
import TestSupport
import Testing

/// The writer waits for callers of the last batch to come again; it must not wait for those who don't.
@Suite("The writer") struct AttemptBatcherTests {
    @Test("answers few callers after many, and one after few", arguments: Place.allCases)
    func fewAfterMany(_ place: Place) async throws {
        let folder = try TemporaryFolder()
        let path = place == .disk ? folder.database : ":memory:"
        let engine = try await SQLiteEngine(SQLiteEngineSettings(path: path, clock: ManualClock()))
        let room = ChannelID("room", in: AppID("app"))
        for callers in [200, 3, 1, 50, 1, 1] {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<callers {
                    let draft = EventDraft(channel: room, type: "t", data: JSONText(string: "\(number)"))
                    group.addTask { _ = try await engine.log.append([draft], claim: nil) }
                }
                try await group.waitForAll()
            }
        }
        #expect(try await engine.log.counts([HistoryRequest(channel: room, limit: 1)]) == [256])
        await engine.close()
    }
}
