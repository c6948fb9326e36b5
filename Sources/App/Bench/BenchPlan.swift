/// What is measured, against which server, and how hard.
///
/// Nothing in it is particular to one server: paths and bodies are templates, so that the same driver measures others
/// for comparison.
public struct BenchPlan: Sendable {
    /// A way of loading the server, each for one question.
    public enum Scenario: String, CaseIterable, Sendable {
        /// The next event when every stream has the last: what a delivery costs.
        case strict
        /// Many events under way: what a delivery costs when several can go in one piece.
        case burst
        /// Many channels with few streams each: what an event costs.
        case channels
        /// Events at a fixed pace, come what may: how long deliveries take.
        case rate
        /// Events nobody listens to.
        case publish
        /// Streams on which nothing happens: what they keep of memory.
        case idle
        /// All streams cut at once that come back with their cursors while others watch.
        case storm
        /// `channels`, for long.
        case soak
        /// One reader that takes a byte a second, among others.
        case slow
        /// Deliveries to webhooks of a receiver of our own.
        case webhooks
    }

    public var scenario: Scenario
    /// `http://host:port`.
    public var url = "http://127.0.0.1:8080"
    /// The bearer token; nil for a server that knows none.
    public var key: String?
    /// The server's processes, whose CPU time and memory are read.
    public var processes: [Int32] = []

    /// `{channel}` stands for the channel's name.
    public var streamPath = "/v1/stream?channel={channel}"
    /// `{channel}` stands for the channel's name.
    public var publishPath = "/v1/channels/{channel}/events"
    /// `{payload}` stands for the payload, which needs no escapes in JSON; `{channel}` as in paths.
    public var body = Self.passingBody
    public var contentType = "application/json"
    /// The header by which a stream says where to continue.
    public var resumeHeader = "Last-Event-ID"

    /// Streams in all, spread over the channels in turn.
    public var streams = 2_000
    public var channels = 1
    /// Connections that publish, each one request at a time.
    public var publishers = 16
    /// Events published and not yet with every stream; 0: as many as there are publishers, and for webhooks as many as
    /// make a thousand deliveries.
    public var inFlight = 0
    /// Events per second in all, at a pace that waits for nothing; 0: as fast as answers come.
    public var rate = 0
    /// How long is measured.
    public var seconds = 5
    /// How long is published before that, unmeasured.
    public var warmUpSeconds = 1
    public var payloadBytes = 150
    /// How many webhooks take each event.
    public var webhooks = 1
    /// Streams that stay while others are cut.
    public var watchers = 200
    /// When nothing has come for so long, what is missing will not come.
    var patienceSeconds = 15

    /// Bodies of events that are not kept, and of those that are.
    static let passingBody = #"{"type":"bench","store":false,"data":"{payload}"}"#
    public static let durableBody = #"{"type":"bench","data":"{payload}"}"#

    /// The plan of a scenario with its usual sizes.
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
        }
    }

    /// Everything is bounded: what one process can hold and a mark can say.
    func check() throws(BenchFailure) {
        let bounds = [
            ("streams", streams, 0...60_000), ("channels", channels, 1...100_000),
            ("publishers", publishers, 1...1_000),
            ("in-flight", inFlight, 0...100_000), ("rate", rate, 0...1_000_000), ("seconds", seconds, 1...3_600),
            ("warm-up", warmUpSeconds, 0...60), ("payload", payloadBytes, PayloadMark.length...60_000),
            ("webhooks", webhooks, 1...1_000), ("watchers", watchers, 1...10_000),
        ]
        for (name, value, bound) in bounds where !bound.contains(value) {
            throw BenchFailure("--\(name) must be from \(bound.lowerBound) to \(bound.upperBound)")
        }
    }
}

/// Why a measurement could not be made.
public struct BenchFailure: Error, Equatable {
    /// One sentence, with what to change where that is known.
    public let message: String

    init(_ message: String) { self.message = message }
}
