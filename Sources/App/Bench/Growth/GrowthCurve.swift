/// The measured cost of an emit at several sizes of one quantity.
public struct GrowthCurve: Sendable {
    /// The quantity that grows.
    public let axis: GrowthAxis
    /// The measured points, in ascending order of their sizes.
    public internal(set) var points: [Point] = []
    /// The reason why the largest sizes are missing, as one sentence; nil when all sizes were measured.
    public internal(set) var shortfall: String?

    /// The cost of an emit at one size.
    public struct Point: Sendable {
        /// The size of the quantity, in the unit of its axis: bytes for the payload, otherwise a number.
        public let size: Int
        /// The cost of an event that is sent to streams but not stored.
        public let notStored: EmitCost
        /// The cost of an event that is stored.
        public let stored: EmitCost
    }

    init(_ axis: GrowthAxis) { self.axis = axis }

    var measurement: [Measurement.Named] {
        var members = [
            Measurement.Named(name: "axis", measurement: .text(axis.quantity.rawValue)),
            Measurement.Named(
                name: "points",
                measurement: .list(
                    points.map { point in
                        .group([
                            Measurement.Named(name: "size", measurement: .count(point.size)),
                            Measurement.Named(name: "not_stored", measurement: point.notStored.measurement),
                            Measurement.Named(name: "stored", measurement: point.stored.measurement),
                        ])
                    })),
        ]
        if let shortfall { members.append(Measurement.Named(name: "shortfall", measurement: .text(shortfall))) }
        return members
    }
}

/// The CPU time of the gateway for one emit, in microseconds, over several samples.
public struct EmitCost: Sendable {
    /// The smallest cost of a sample.
    public let minimum: Double
    /// The median of all samples.
    public let median: Double
    /// The largest cost of a sample.
    public let maximum: Double
    /// The number of emits of all samples.
    public let emits: Int

    /// - Parameter samples: at least one sample.
    init(_ samples: [(emits: Int, microseconds: Double)]) {
        let costs = samples.map { $0.microseconds / Double($0.emits) }.sorted()
        (minimum, median, maximum) = (costs[0], costs[costs.count / 2], costs[costs.count - 1])
        emits = samples.reduce(0) { $0 + $1.emits }
    }

    fileprivate var measurement: Measurement {
        .group([
            Measurement.Named(name: "emits", measurement: .count(emits)),
            Measurement.Named(
                name: "cpu_us_per_emit",
                measurement: .group([
                    Measurement.Named(name: "min", measurement: .number(minimum)),
                    Measurement.Named(name: "median", measurement: .number(median)),
                    Measurement.Named(name: "max", measurement: .number(maximum)),
                ])),
        ])
    }
}
