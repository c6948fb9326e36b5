/// The plan of a measurement: the server, the scenario and its sizes.
///
/// The plan does not depend on Parley. Paths and bodies are templates, so that the driver can also measure other
/// servers for comparison.
public struct BenchPlan: Sendable {
    /// The kind of load on the server.
    public enum Scenario: String, CaseIterable, Sendable {
        /// Publishes the next event once every stream has received the previous event. Measures the cost of one
        /// delivery.
        case strict
        /// Publishes up to `inFlight` events before they are delivered. Measures the cost of a delivery when several
        /// events can be sent together.
        case burst
        /// Publishes on many channels with few streams each. Measures the cost of an event.
        case channels
        /// Publishes at a fixed rate without waiting for responses. Measures the latency of deliveries.
        case rate
        /// Publishes events without any listeners.
        case publish
        /// Keeps streams open without publishing events. Measures the memory per stream.
        case idle
        /// Disconnects most streams at the same time while events continue. The streams reconnect with their cursors;
        /// the remaining streams show the effect.
        case storm
        /// Runs the scenario `channels` for a long time.
        case soak
        /// Adds one reader that reads one byte per second, next to the other streams.
        case slow
        /// Delivers events to webhooks at a receiver in this program.
        case webhooks
        /// Measures the CPU time of an emit while one quantity at a time grows.
        case growth
    }

    /// The kind of load.
    public var scenario: Scenario
    /// The server's address, `http://host:port`.
    public var url = "http://127.0.0.1:8080"
    /// The bearer token; nil for a server without authentication.
    public var key: String?
    /// The ids of the server's processes, for measuring CPU time and memory.
    public var processes: [Int32] = []

    /// The path of a stream. `{channel}` stands for the channel's name.
    public var streamPath = "/v1/stream?channel={channel}"
    /// The path of a publish request. `{channel}` stands for the channel's name.
    public var publishPath = "/v1/channels/{channel}/events"
    /// The body of a publish request. `{payload}` stands for the payload, which needs no escapes in JSON. `{channel}`
    /// stands for the channel's name.
    public var body = Self.passingBody
    /// The `Content-Type` of a publish request.
    public var contentType = "application/json"
    /// The header in which a reconnecting stream sends its position.
    public var resumeHeader = "Last-Event-ID"

    /// The total number of streams, spread evenly over the channels.
    public var streams = 2_000
    /// The number of channels, 1 to 1,000,000.
    public var channels = 1
    /// The number of publishing connections. Each connection sends one request at a time.
    public var publishers = 16
    /// The maximum number of events that were published and are not delivered to every stream yet. With 0, the number
    /// is not limited, but each publisher still waits for the response to its previous request. For webhooks, 0 selects
    /// the number of events that results in about a thousand deliveries.
    public var inFlight = 0
    /// The total number of events per second, sent without waiting for responses. 0 publishes as fast as responses
    /// arrive.
    public var rate = 0
    /// The duration of the measurement in seconds.
    public var seconds = 5
    /// The duration in seconds of the warm-up before the measurement.
    public var warmUpSeconds = 1
    /// The size of a payload in bytes, including its mark; see `PayloadMark`.
    public var payloadBytes = 150
    /// The number of webhooks that receive each event.
    public var webhooks = 1
    /// The number of streams that stay connected while all other streams are disconnected.
    public var watchers = 200
    /// The quantities that grow in the scenario `growth`, in the order of the measurement.
    public var axes = GrowthAxis.usual
    /// The duration of one sample of the scenario `growth`, in seconds.
    public var sampleSeconds = 0.5
    /// The number of seconds without any arriving event after which the missing events count as lost.
    var timeoutSeconds = 15

    /// The body of an event that the server does not store; see ``body``.
    static let passingBody = #"{"type":"bench","store":false,"data":"{payload}"}"#
    /// The body of an event that the server stores; see ``body``.
    public static let durableBody = #"{"type":"bench","data":"{payload}"}"#

    /// Creates the plan of a scenario with its default sizes.
    public init(_ scenario: Scenario) {
        self.scenario = scenario
        switch scenario {
        case .strict: (publishers, inFlight) = (1, 1)
        case .burst: inFlight = 32
        case .channels: (streams, channels) = (4_000, 2_000)
        case .rate: (channels, rate, seconds) = (20, 100, 10)
        case .publish: streams = 0
        case .idle: (streams, seconds) = (8_000, 2)
        case .storm: (streams, channels, rate, seconds) = (8_000, 20, 100, 3)
        case .soak: (streams, channels, seconds) = (8_000, 2_000, 600)
        case .slow: (streams, rate, seconds) = (1_000, 2_000, 10)
        case .webhooks: (streams, body) = (0, Self.durableBody)
        case .growth: streams = 0
        }
    }

    /// Checks that every size is within the limits of one process and of the format of marks.
    func check() throws(BenchFailure) {
        let bounds = [
            ("streams", streams, 0...60_000), ("channels", channels, 1...1_000_000),
            ("publishers", publishers, 1...1_000),
            ("in-flight", inFlight, 0...100_000), ("rate", rate, 0...1_000_000), ("seconds", seconds, 1...3_600),
            ("warm-up", warmUpSeconds, 0...60), ("payload", payloadBytes, PayloadMark.length...65_534),
            ("webhooks", webhooks, 1...1_000), ("watchers", watchers, 1...10_000),
        ]
        for (name, value, bound) in bounds where !bound.contains(value) {
            throw BenchFailure("--\(name) must be from \(bound.lowerBound) to \(bound.upperBound)")
        }
    }
}

/// The reason why a measurement is not possible.
public struct BenchFailure: Error, Equatable {
    /// The reason as one sentence, with the remedy if it is known.
    public let message: String

    init(_ message: String) { self.message = message }
}
