/// A quantity on which the cost of an emit may depend, with the largest size to measure.
///
/// The scenario `growth` changes one quantity at a time. All other quantities keep their defaults.
public struct GrowthAxis: Sendable, Equatable {
    /// The quantity that grows.
    public enum Quantity: String, CaseIterable, Sendable {
        /// Connections that emit at the same time.
        case connections
        /// The size of the payload as JSON text, in bytes.
        case body
        /// Channels that receive the events one after the other.
        case channels
        /// Events in the store.
        case events
        /// Idle streams, each on a channel of its own.
        case streams
        /// Idle streams. Each stream has a different channel pattern, and no pattern matches the channels of the
        /// events.
        case patterns
        /// Idle streams on the channel of the events. Each stream has a different filter, and no filter matches the
        /// events.
        case filters
        /// Webhooks, each on a channel of its own.
        case webhooks
    }

    /// The quantity that grows.
    public let quantity: Quantity
    /// The largest size. The size 0 means that only the smallest size is measured.
    public let largest: Int

    /// Creates an axis.
    ///
    /// - Parameter largest: the largest size; nil for a size that takes a few seconds at most.
    public init(_ quantity: Quantity, largest: Int? = nil) {
        self.quantity = quantity
        self.largest = largest ?? quantity.usualLargest
    }

    /// All axes with their usual sizes.
    public static let usual = Quantity.allCases.map { GrowthAxis($0) }

    /// The measured sizes in ascending order. Each is a constant multiple of the previous size, except for the first
    /// size 0 and for the last size, which is ``largest``.
    var sizes: [Int] {
        var sizes = [quantity.smallest]
        var next = Double(quantity.smallest == 0 ? quantity.firstAboveZero : quantity.smallest * quantity.factor)
        while next * Double(quantity.factor).squareRoot() <= Double(largest) {
            sizes.append(Int(next))
            next *= Double(quantity.factor)
        }
        if largest > quantity.smallest { sizes.append(largest) }
        return sizes
    }

    func check() throws(BenchFailure) {
        let bound = quantity.smallest...quantity.most
        guard bound.contains(largest) else {
            throw BenchFailure(
                "the size of the axis '\(quantity.rawValue)' must be from \(bound.lowerBound) to \(bound.upperBound)")
        }
    }
}

extension GrowthAxis.Quantity {
    /// The title of a chart and the label of its horizontal axis.
    var texts: (title: String, label: String) {
        switch self {
        case .connections: ("Connections", "connections that emit")
        case .body: ("Payload", "size of the payload in bytes")
        case .channels: ("Channels", "channels that receive events in turn")
        case .events: ("Stored events", "events in the store")
        case .streams: ("Idle streams", "idle streams, each on a channel of its own")
        case .patterns: ("Streams with patterns", "idle streams, each with a pattern of its own")
        case .filters: ("Streams with filters", "streams of the same channel, each with a filter of its own")
        case .webhooks: ("Webhooks", "webhooks that do not match")
        }
    }

    var smallest: Int {
        switch self {
        case .connections, .channels: 1
        case .body: 100
        case .events, .streams, .patterns, .filters, .webhooks: 0
        }
    }

    fileprivate var firstAboveZero: Int { self == .events ? 1_000 : 10 }

    fileprivate var factor: Int {
        switch self {
        case .connections: 4
        case .body: 5
        default: 10
        }
    }

    fileprivate var usualLargest: Int {
        switch self {
        case .connections: 1_000
        case .body: 65_536
        case .channels, .events: 100_000
        case .streams, .patterns, .filters, .webhooks: 1_000
        }
    }

    fileprivate var most: Int {
        switch self {
        case .connections: 1_000
        case .body: 65_536
        case .channels: 1_000_000
        case .events: 100_000_000
        case .streams, .patterns, .filters: 60_000
        case .webhooks: 100_000
        }
    }

    /// True when the gateway must be changed to reach a size, for example by opening streams. If true, the sizes are
    /// measured in ascending order. If false, the samples alternate between the sizes.
    var isCumulative: Bool {
        switch self {
        case .connections, .body: false
        default: true
        }
    }
}
