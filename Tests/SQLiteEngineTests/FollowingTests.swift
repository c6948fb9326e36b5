import ChatModel
import Dispatch
import EngineConformance
import JSON
import SQLiteEngine
import Synchronization
import TestSupport
import Testing

/// A follower of the commits is woken for each of them. A detour over another thread would slow down every event.
@Suite("A follower of the commits") struct FollowingTests {
    @Test("is resumed by the commit itself if it names its executor")
    func sentFor() async throws {
        let engine = try await SQLiteEngine(SQLiteEngineSettings(path: ":memory:", clock: ManualClock()))
        let draft = EventDraft(
            channel: ChannelID("room", in: AppID("app")), type: "t", retention: .passing, data: JSONText(string: ""))
        // The writer reserves timetokens: from now on ephemeral events are visible when `append` returns.
        _ = try await engine.log.append([draft], claim: nil)
        let (heard, tell) = AsyncStream.makeStream(of: Timetoken.self)
        let executor = CountingExecutor()
        let commits = await engine.log.committed()
        let following = Task(executorPreference: executor) {
            for await commit in commits { tell.yield(commit.watermark) }
        }
        var told = heard.makeAsyncIterator()
        for _ in 0..<50 {
            executor.settle()
            let before = executor.jobs.load(ordering: .relaxed)
            let outcome = try await engine.log.append([draft], claim: nil)
            #expect(executor.jobs.load(ordering: .relaxed) == before + 1)
            #expect(await told.next() == outcome.events[0].event.timetoken)
        }
        await engine.close()
        await following.value
    }
}

/// Runs jobs one after the other and counts them.
private final class CountingExecutor: TaskExecutor {
    let jobs = Atomic(0)
    private let queue = DispatchQueue(label: "follower")

    func enqueue(_ job: consuming ExecutorJob) {
        jobs.add(1, ordering: .relaxed)
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Returns when every job enqueued so far has run.
    func settle() { queue.sync {} }
}
