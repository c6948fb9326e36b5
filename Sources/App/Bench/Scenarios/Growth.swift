import Glibc
import JSON
import Locking

extension Bench {
    /// Measures the cost of an emit while one quantity grows. The quantities are measured one after the other.
    ///
    /// A quantity that cannot grow further, for example because of a limit of the gateway, ends its curve early.
    ///
    /// - Throws: when nothing could be measured, or when the run was interrupted.
    static func runGrowth(_ plan: BenchPlan, _ result: inout BenchResult) throws(BenchFailure) {
        guard !plan.processes.isEmpty else {
            throw BenchFailure("'growth' measures CPU time; pass the id of the gateway's process with --pid")
        }
        for axis in plan.axes { try axis.check() }
        for axis in plan.axes {
            let measurement = GrowthMeasurement(plan, axis)
            defer { measurement.removeWebhooks() }
            result.curves.append(try measurement.curve())
        }
        if result.curves.allSatisfy(\.points.isEmpty), let shortfall = result.curves.first?.shortfall {
            throw BenchFailure(shortfall)
        }
        result.add("sample_seconds", .number(plan.sampleSeconds))
        result.add("curves", .list(result.curves.map { .group($0.measurement) }))
        result.isClean = result.curves.allSatisfy { $0.shortfall == nil }
    }
}

/// The measurement of one axis.
private final class GrowthMeasurement {
    private let plan: BenchPlan
    private let axis: GrowthAxis
    /// The text in the names of this measurement's channels.
    private let run = String(MonotonicTime.now.nanoseconds, radix: 36)
    /// The size that the quantity has reached, if the quantity is cumulative; otherwise 0.
    private var reached = 0
    /// The drivers of the idle streams. Each driver has opened a part of the streams.
    private var holders: [Driver] = []
    private var webhooks: [String] = []
    /// The position in the cycle of channels at which the next sample continues.
    private var cycle: ChannelCycle?

    private typealias Sample = (emits: Int, microseconds: Double)

    /// The number of samples for each size and each kind of event (stored or not stored).
    private static let rounds = 3
    private static let warmUpSeconds = 0.1
    /// The number of events in one batch, the default limit of a gateway.
    private static let batchEvents = 500
    /// The number of channels over which stored events are spread.
    private static let channelsOfEvents = 1_000
    /// The file descriptors that are not available for idle streams.
    private static let reservedDescriptors = 256

    init(_ plan: BenchPlan, _ axis: GrowthAxis) {
        var plan = plan
        (plan.streams, plan.channels, plan.rate, plan.inFlight) = (0, 1, 0, 0)
        self.plan = plan
        self.axis = axis
    }

    /// Measures all sizes. If the quantity is not cumulative, the samples alternate between the sizes, so that a change
    /// of the machine's load affects all sizes.
    func curve() throws(BenchFailure) -> GrowthCurve {
        var curve = GrowthCurve(axis)
        let groups = axis.quantity.isCumulative ? axis.sizes.map { [$0] } : [axis.sizes]
        for group in groups where curve.shortfall == nil {
            var sizes = group
            var samples: [Int: (notStored: [Sample], stored: [Sample])] = [:]
            for _ in 0..<Self.rounds {
                for size in sizes {
                    do throws(BenchFailure) {
                        try grow(to: size)
                        samples[size, default: ([], [])].notStored.append(try sample(size, isStored: false))
                        samples[size, default: ([], [])].stored.append(try sample(size, isStored: true))
                        try checkStreams()
                    } catch {
                        guard !InterruptSignal.isAsked else { throw error }
                        curve.shortfall = "\(axis.quantity.rawValue) \(size): \(error.message)"
                        sizes.removeAll { $0 >= size }
                        break
                    }
                }
            }
            curve.points += sizes.compactMap { size in
                samples[size].map {
                    GrowthCurve.Point(size: size, notStored: EmitCost($0.notStored), stored: EmitCost($0.stored))
                }
            }
        }
        return curve
    }

    /// Emits events for a fixed time. Returns the number of emits and the CPU time of the gateway.
    private func sample(_ size: Int, isStored: Bool) throws(BenchFailure) -> Sample {
        var plan = plan
        plan.body = body(isStored: isStored)
        switch axis.quantity {
        case .connections: plan.publishers = size
        case .body: plan.payloadBytes = size - 2  // without the quotes
        case .channels: plan.channels = size
        default: break
        }
        let driver = try Driver(plan, run: run)
        if let cycle, cycle.count == plan.channels { driver.cycle = cycle }
        try driver.publish(seconds: Self.warmUpSeconds)
        try driver.drain()
        let interval = Interval(driver)
        try driver.publish(seconds: plan.sampleSeconds)
        try driver.drain()
        let cost = interval.cpuNanoseconds
        cycle = driver.cycle
        try check(driver)
        return (interval.published, Double(cost) / 1e3)
    }

    private func body(isStored: Bool) -> String {
        let data = axis.quantity == .filters ? #"{"customer":"{payload}"}"# : #""{payload}""#
        return isStored ? #"{"type":"bench","data":\#(data)}"# : #"{"type":"bench","store":false,"data":\#(data)}"#
    }

    private func check(_ driver: Driver) throws(BenchFailure) {
        guard let publishers = driver.publishers else { return }
        guard publishers.refused == 0 else {
            throw BenchFailure("the gateway rejected a request to emit with status \(publishers.lastRefusal)")
        }
        guard publishers.broken == 0, publishers.underWay == 0, publishers.accepted > 0 else {
            throw BenchFailure("the gateway did not respond to a request to emit")
        }
    }
}

// MARK: - Growing

extension GrowthMeasurement {
    /// Changes the gateway so that the quantity has this size.
    private func grow(to size: Int) throws(BenchFailure) {
        guard axis.quantity.isCumulative, size > reached else { return }
        switch axis.quantity {
        case .connections, .body: break
        case .channels: try emitOnce(on: reached..<size)
        case .events: try store(size - reached)
        case .streams: try openStreams(size - reached, "/v1/stream?channel={channel}")
        case .patterns: try openStreams(size - reached, "/v1/stream?channel={channel}.*")
        case .filters:
            let filter = "data.customer%20%3D%3D%20%27{channel}%27"
            try openStreams(size - reached, "/v1/stream?channel=bench-\(run)-00000&filter=\(filter)")
        case .webhooks: try createWebhooks(size - reached)
        }
        reached = size
        // The gateway completes the work that follows its responses.
        usleep(300_000)
    }

    /// Emits two events on each channel: one that is not stored, and one that is stored. The next samples use all
    /// channels from 0 to the end of the range, in a scattered order.
    private func emitOnce(on channels: Range<Int>) throws(BenchFailure) {
        for isStored in [false, true] {
            var plan = plan
            plan.body = body(isStored: isStored)
            plan.channels = channels.upperBound
            plan.publishers = min(64, channels.count)
            let driver = try Driver(plan, run: run)
            driver.cycle = ChannelCycle(count: channels.upperBound, current: channels.lowerBound)
            try driver.publish(count: channels.count)
            try check(driver)
        }
        cycle = ChannelCycle(count: channels.upperBound, isScattered: true)
    }

    /// Stores events in batches. Rounds up to whole batches.
    private func store(_ count: Int) throws(BenchFailure) {
        let event = #"{"channel":"{channel}","type":"bench","data":"{payload}"}"#
        let events = Array(repeating: event, count: min(count, Self.batchEvents)).joined(separator: ",")
        var plan = plan
        plan.publishPath = "/v1/events/batch"
        plan.body = #"{"events":[\#(events)]}"#
        plan.channels = Self.channelsOfEvents
        plan.publishers = 4
        let driver = try Driver(plan)
        try driver.publish(count: (count + Self.batchEvents - 1) / Self.batchEvents)
        try check(driver)
    }

    private func openStreams(_ count: Int, _ path: String) throws(BenchFailure) {
        let available = Sockets.descriptorLimit - Self.reservedDescriptors - plan.publishers
        guard reached + count <= available else {
            throw BenchFailure(
                "the limit of open files permits only \(max(0, available)) streams; raise it with ulimit -n")
        }
        var plan = plan
        (plan.streams, plan.channels, plan.publishers) = (count, count, 1)
        plan.streamPath = path
        let driver = try Driver(plan, hasPublishers: false)
        try driver.open(0..<count)
        holders.append(driver)
    }

    /// Checks that the gateway has kept all idle streams.
    private func checkStreams() throws(BenchFailure) {
        for holder in holders {
            try holder.rest(milliseconds: 20)
            guard holder.streams.cut == 0 else { throw BenchFailure("the gateway closed idle streams") }
        }
    }

    private func createWebhooks(_ count: Int) throws(BenchFailure) {
        let control = ControlRequests(target: try Target(plan.url), key: plan.key)
        for index in reached..<(reached + count) {
            guard !InterruptSignal.isAsked else { throw BenchFailure("interrupted") }
            // Nothing is ever sent to this URL.
            webhooks.append(
                try control.createWebhook(url: "http://127.0.0.1:65535/", channel: "bench-\(run)-webhook-\(index)"))
        }
    }

    func removeWebhooks() {
        guard !webhooks.isEmpty, let target = try? Target(plan.url) else { return }
        ControlRequests(target: target, key: plan.key).deleteWebhooks(webhooks)
        webhooks = []
    }
}
