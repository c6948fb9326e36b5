import Locking
import Testing

@Suite("An executor on a thread of its own") struct ThreadExecutorTests {
    private actor Counter {
        private let executor: ThreadExecutor
        private var count = 0

        init(on executor: ThreadExecutor) { self.executor = executor }
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
        func increment() -> Int {
            count += 1
            return count
        }
    }

    @Test("runs jobs one after another")
    func serial() async throws {
        let counter = Counter(on: try #require(ThreadExecutor(name: "test")))
        await withTaskGroup { group in
            for _ in 0..<1000 { group.addTask { _ = await counter.increment() } }
        }
        #expect(await counter.increment() == 1001)
    }

    @Test("runs closures in order among its jobs, isolated to its actors")
    func closures() async throws {
        let executor = try #require(ThreadExecutor(name: "test"))
        let counter = Counter(on: executor)
        let counts = Lock<[Int]>([])
        await withCheckedContinuation { continuation in
            for _ in 0..<3 {
                executor.post {
                    counter.assumeIsolated { isolated in counts.withLock { $0.append(isolated.increment()) } }
                }
            }
            executor.post { continuation.resume() }
        }
        #expect(counts.withLock { $0 } == [1, 2, 3])
        #expect(executor.isIsolatingCurrentContext() == false)
    }

    /// Only the task holds the actor, and only the actor holds the executor.
    private func lastJob() throws -> Task<Int, Never> {
        let counter = Counter(on: try #require(ThreadExecutor(name: "test")))
        return Task { await counter.increment() }
    }

    @Test("may be released by a job before the enqueuing of that job has returned")
    func lifetime() async throws {
        for _ in 0..<2000 { #expect(await (try lastJob()).value == 1) }
    }
}
