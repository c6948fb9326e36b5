/// Measures a server with the load of a plan.
///
/// Blocks until the measurement is over; everything in it is bounded in count and time.
public enum Bench {
    /// - Throws: when the server cannot be measured at all. What it does wrong is in the result.
    public static func run(_ plan: BenchPlan) throws(BenchFailure) -> BenchResult {
        var result = BenchResult()
        result.add("scenario", .text(plan.scenario.rawValue))
        result.add("url", .text(plan.url))
        result.add("streams", .count(plan.streams))
        result.add("channels", .count(plan.channels))
        result.add("publishers", .count(plan.publishers))
        result.add("in_flight", .count(plan.inFlight))
        result.add("rate", .count(plan.rate))
        result.add("payload_bytes", .count(plan.payloadBytes))
        switch plan.scenario {
        case .strict, .burst, .channels, .rate, .publish, .soak: try runLoad(plan, &result)
        case .idle: try runIdle(plan, &result)
        case .storm: try runStorm(plan, &result)
        case .slow: try runSlow(plan, &result)
        case .webhooks: try runWebhooks(plan, &result)
        }
        return result
    }
}
