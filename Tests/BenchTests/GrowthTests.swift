import ChatModel
import Glibc
import JSON
import Locking
import TestSupport
import Testing

@testable import Bench
@testable import Gateway

@Suite("A bench of growth") struct GrowthTests {
    private struct Outcome {
        let result: BenchResult
        /// The webhooks that exist after the run, as JSON.
        let webhooks: String
    }

    /// Runs the scenario against a gateway in this process, whose CPU time it measures.
    private func measure(
        _ axes: [GrowthAxis], changing change: (inout Configuration) -> Void = { _ in }
    ) async throws -> Outcome {
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.listenPort = 0
        configuration.isDevelopment = true
        configuration.dataDirectory = folder.path + "/data"
        change(&configuration)
        let (addresses, heard) = AsyncStream.makeStream(of: String.self)
        let outcome = Lock<Result<Outcome, any Error>?>(nil)
        try await GatewayServer(configuration).run(whenListening: { heard.yield($0) }) {
            var iterator = addresses.makeAsyncIterator()
            guard let url = await iterator.next() else { return }
            do {
                let measured = try await onThread {
                    var plan = BenchPlan(.growth)
                    (plan.url, plan.key, plan.processes) = (url, "dev", [getpid()])
                    (plan.axes, plan.sampleSeconds) = (axes, 0.02)
                    let result = try Bench.run(plan)
                    let control = ControlRequests(target: try Target(url), key: "dev")
                    let webhooks = try control.send("GET", "/v1/webhooks", nil)
                    return Outcome(result: result, webhooks: String(decoding: webhooks.body, as: UTF8.self))
                }
                outcome.withLock { $0 = .success(measured) }
            } catch {
                outcome.withLock { $0 = .failure(error) }
            }
        }
        return try #require(outcome.withLock { $0 }).get()
    }

    @Test("measures every quantity at all of its sizes, and deletes its webhooks")
    func everything() async throws {
        let axes = GrowthAxis.Quantity.allCases.map { quantity in
            GrowthAxis(quantity, largest: quantity == .body ? 200 : quantity == .connections ? 3 : 12)
        }
        let outcome = try await measure(axes)
        #expect(outcome.result.isClean, "\(outcome.result.curves.compactMap(\.shortfall))")
        #expect(outcome.result.curves.map(\.axis) == axes)
        for curve in outcome.result.curves {
            #expect(curve.points.map(\.size) == curve.axis.sizes, "\(curve.axis)")
            for cost in curve.points.flatMap({ [$0.notStored, $0.stored] }) {
                #expect(cost.emits > 0 && cost.minimum > 0, "\(curve.axis)")
                #expect(cost.minimum <= cost.median && cost.median <= cost.maximum, "\(curve.axis)")
            }
        }
        #expect(outcome.webhooks.contains(#""data":[]"#), "\(outcome.webhooks)")
        let json = try JSONDocument(outcome.result.json).root
        #expect(json["curves"]?.elements?.count == axes.count)
    }

    @Test("ends a curve at the gateway's limit, says why, and continues with the next quantity")
    func limited() async throws {
        let outcome = try await measure(
            [GrowthAxis(.webhooks, largest: 40), GrowthAxis(.channels, largest: 2)],
            changing: { $0.limits.webhooksPerApp = 12 })
        let curves = outcome.result.curves
        #expect(!outcome.result.isClean && curves.count == 2)
        #expect(curves[0].points.map(\.size) == [0, 10])
        #expect(curves[0].shortfall?.hasPrefix("webhooks 40: a webhook could not be registered") == true)
        #expect(curves[1].points.map(\.size) == [1, 2] && curves[1].shortfall == nil)
        #expect(outcome.webhooks.contains(#""data":[]"#), "\(outcome.webhooks)")
    }

    @Test("keeps the sizes of a payload that the gateway accepts")
    func largePayload() async throws {
        let outcome = try await measure(
            [GrowthAxis(.body, largest: 2_000)], changing: { $0.limits.dataBytes = 1_000 })
        #expect(outcome.result.curves[0].points.map(\.size) == [100, 500])
        #expect(outcome.result.curves[0].shortfall?.hasPrefix("body 2000: ") == true)
    }

    @Test("needs the id of a process")
    func withoutProcess() {
        #expect(throws: BenchFailure("'growth' measures CPU time; pass the id of the gateway's process with --pid")) {
            try Bench.run(BenchPlan(.growth))
        }
    }

    @Test(
        "measures few sizes up to the largest, each a multiple of the previous size",
        arguments: [
            (GrowthAxis(.connections), [1, 4, 16, 64, 256, 1_000]),
            (GrowthAxis(.body), [100, 500, 2_500, 12_500, 65_536]),
            (GrowthAxis(.channels, largest: 1), [1]),
            (GrowthAxis(.events, largest: 10_000_000), [0, 1_000, 10_000, 100_000, 1_000_000, 10_000_000]),
            (GrowthAxis(.streams, largest: 15_000), [0, 10, 100, 1_000, 15_000]),
            (GrowthAxis(.webhooks, largest: 0), [0]), (GrowthAxis(.webhooks, largest: 5), [0, 5]),
        ])
    func sizes(_ axis: GrowthAxis, _ sizes: [Int]) {
        #expect(axis.sizes == sizes)
    }

    @Test("has no size outside the bounds of its quantity")
    func bounds() {
        #expect(throws: BenchFailure("the size of the axis 'channels' must be from 1 to 1000000")) {
            try GrowthAxis(.channels, largest: 1_000_001).check()
        }
        #expect(throws: BenchFailure.self) { try GrowthAxis(.body, largest: 99).check() }
        #expect(throws: Never.self) { try GrowthAxis(.webhooks, largest: 0).check() }
    }

    @Test("emits on each channel once before it emits on a channel again", arguments: [1, 2, 3, 10, 1_000, 1_024])
    func cycle(_ count: Int) {
        for isScattered in [false, true] {
            var cycle = ChannelCycle(count: count, current: count - 1, isScattered: isScattered)
            let first = (0..<count).map { _ in cycle.next() }
            #expect(first.sorted() == Array(0..<count))
            #expect((0..<count).map { _ in cycle.next() } == first)
        }
    }

    @Test("reports the lowest, the median and the highest cost of the samples")
    func cost() {
        let cost = EmitCost([
            (emits: 10, microseconds: 400), (emits: 5, microseconds: 100), (emits: 2, microseconds: 50),
        ])
        #expect(cost.minimum == 20 && cost.median == 25 && cost.maximum == 40 && cost.emits == 17)
    }
}
