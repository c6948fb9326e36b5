import JSON
import Locking
import Testing

@testable import Bench

@Suite("A bench") struct BenchTests {
    /// The result of five streams and one publisher during one second.
    private func result(
        _ fault: SmallServer.Fault, inFlight: Int = 1
    ) async throws -> (clean: Bool, measurements: JSONValue) {
        let server = try SmallServer(fault)
        var plan = BenchPlan(.strict)
        plan.url = server.url
        (plan.streams, plan.seconds, plan.warmUpSeconds, plan.inFlight) = (5, 1, 0, inFlight)
        (plan.rate, plan.timeoutSeconds) = (50, 1)
        let result = try await onThread { [plan] in try Bench.run(plan) }
        withExtendedLifetime(server) {}
        return (result.isClean, try JSONDocument(result.json).root)
    }

    @Test("of a correct server finds no fault and counts everything")
    func right() async throws {
        let (isClean, measurements) = try await result(.none)
        #expect(isClean)
        let published = try #require(measurements["published"]?.integer)
        #expect(published > 0 && measurements["delivered"]?.integer == published * 5)
        #expect(measurements["lost"]?.integer == 0 && measurements["regressions"]?.integer == 0)
    }

    @Test("finds that an event was lost")
    func loss() async throws {
        let (isClean, measurements) = try await result(.loses)
        #expect(!isClean && measurements["lost"]?.integer == 5)
        #expect(measurements["duplicates"]?.integer == 0 && measurements["misordered"]?.integer == 0)
    }

    @Test("finds that an event came twice")
    func repetition() async throws {
        let (isClean, measurements) = try await result(.repeats)
        #expect(!isClean && measurements["duplicates"]?.integer == 5 && measurements["lost"]?.integer == 0)
    }

    @Test("finds that two events came in the wrong order")
    func order() async throws {
        let (isClean, measurements) = try await result(.swaps, inFlight: 2)
        #expect(!isClean && measurements["misordered"]?.integer == 5 && measurements["lost"]?.integer == 0)
        #expect(measurements["regressions"]?.integer == 5)
    }

    @Test("resumes interrupted streams where they were, without the incomplete frame")
    func returning() async throws {
        let server = try SmallServer(.cuts)
        var plan = BenchPlan(.rate)
        plan.url = server.url
        (plan.channels, plan.rate, plan.timeoutSeconds) = (1, 50, 1)
        try await onThread { [plan] in
            let driver = try Driver(plan, streams: 3, resumable: 0..<3)
            driver.streams.isReturning = true
            try driver.open(0..<3)
            try driver.publish(seconds: 1)
            try driver.drain()
            #expect(driver.streams.cut >= 3)
            #expect(driver.ledger.isClean && driver.ledger.delivered == 3 * driver.ledger.published(on: 0))
        }
        withExtendedLifetime(server) {}
    }

    @Test("of an address without a server reports that")
    func nobody() async throws {
        var plan = BenchPlan(.publish)
        plan.url = "http://127.0.0.1:1"
        let attempt = plan
        await #expect(throws: BenchFailure.self) {
            _ = try await onThread { try Bench.run(attempt) }
        }
    }
}

/// Runs blocking code on its own thread, so that the few threads of the pool remain free for other tests.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        let isStarted = startThread(name: "bench") {
            continuation.resume(with: Swift.Result { try body() })
        }
        precondition(isStarted, "there is no thread to have")
    }
}
