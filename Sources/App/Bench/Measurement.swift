public import JSON

/// One measured value, or a group of them.
public enum Measurement: Sendable {
    case count(Int)
    /// A measured number, printed with three decimals.
    case number(Double)
    case text(String)
    case flag(Bool)
    case group([Named])
    case list([Measurement])

    /// A measurement with its name in the JSON.
    public struct Named: Sendable {
        /// The name of the member in the JSON.
        public let name: String
        let measurement: Measurement
    }
}

/// The result of a measurement.
public struct BenchResult: Sendable {
    /// The measured values, in the order of the output.
    public internal(set) var measurements: [Measurement.Named] = []
    /// True when every event arrived at each of its readers, once and in order, and when every size was measured.
    public internal(set) var isClean = true
    /// The curves of the scenario `growth`; empty for other scenarios.
    public internal(set) var curves: [GrowthCurve] = []

    /// The result as one JSON object.
    public var json: JSONText {
        JSONText { writer in Self.write(measurements, to: &writer) }
    }

    /// The result as pairs of name and value. Names of nested values are joined by a dot.
    public var lines: [(name: String, value: String)] { Self.flat(measurements, prefix: "") }

    mutating func add(_ name: String, _ measurement: Measurement) {
        measurements.append(Measurement.Named(name: name, measurement: measurement))
    }

    private static func write(_ measurements: [Measurement.Named], to writer: inout JSONWriter) {
        writer.beginObject()
        for named in measurements {
            writer.key(text: named.name)
            write(named.measurement, to: &writer)
        }
        writer.endObject()
    }

    private static func write(_ measurement: Measurement, to writer: inout JSONWriter) {
        switch measurement {
        case .count(let value): writer.integer(value)
        case .number(let value): writer.raw(JSONText(trusted: Array(decimal(value).utf8)))
        case .text(let value): writer.string(value)
        case .flag(let value): writer.boolean(value)
        case .group(let members): write(members, to: &writer)
        case .list(let elements):
            writer.beginArray()
            for element in elements { write(element, to: &writer) }
            writer.endArray()
        }
    }

    private static func flat(_ measurements: [Measurement.Named], prefix: String) -> [(name: String, value: String)] {
        measurements.flatMap { named -> [(name: String, value: String)] in
            let name = prefix + named.name
            switch named.measurement {
            case .count(let value): return [(name, String(value))]
            case .number(let value): return [(name, decimal(value))]
            case .text(let value): return [(name, value)]
            case .flag(let value): return [(name, value ? "yes" : "no")]
            case .group(let members): return flat(members, prefix: name + ".")
            case .list(let elements):
                return flat(
                    elements.enumerated().map { Measurement.Named(name: String($0.offset), measurement: $0.element) },
                    prefix: name + ".")
            }
        }
    }

    private static func decimal(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "0" }
        let thousandths = Int((abs(value) * 1_000).rounded())
        let digits = String(thousandths % 1_000 + 1_000).dropFirst()
        return "\(value < 0 && thousandths > 0 ? "-" : "")\(thousandths / 1_000).\(digits)"
    }
}

extension Histogram {
    /// The 50th, 99th and 99.9th percentile and the maximum, in milliseconds.
    var measurement: Measurement {
        let shares = [("p50", 0.5), ("p99", 0.99), ("p999", 0.999)]
        var members = shares.map {
            Measurement.Named(name: $0.0, measurement: .number(Double(nanoseconds(at: $0.1)) / 1e6))
        }
        members.append(Measurement.Named(name: "max", measurement: .number(Double(largest) / 1e6)))
        return .group(members)
    }
}

/// Measures a server under the load of a plan.
///
/// The call blocks until the measurement has ended. All work is bounded in count and time.
public enum Bench {
    /// Runs a measurement.
    ///
    /// - Throws: the reason why the server cannot be measured at all. Errors of the server are part of the result.
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
        case .growth: try runGrowth(plan, &result)
        }
        return result
    }
}
