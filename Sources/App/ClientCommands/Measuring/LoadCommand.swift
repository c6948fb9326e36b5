import ArgumentParser
import Bench
import JSON

/// `parley bench`: measures a server under load.
struct LoadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Load a gateway, measure its throughput and latency, and check that no event is lost.",
        discussion: """
            parley bench strict --url http://127.0.0.1:8080 --pid $(pidof parley)
            parley bench rate --rate 200 --json
            parley bench growth --pid $(pidof parley) --axes body,webhooks=10000 --svg growth.svg

            Scenarios:
              strict    one event at a time: the next event is sent when every stream has received the previous event
              burst     many events at the same time
              channels  many channels with two streams each
              rate      a fixed rate of events that does not wait for responses
              publish   events without listeners
              idle      the memory of streams without events
              storm     most streams are cut at the same time and reconnect with their cursors
              soak      'channels' for ten minutes, with memory use
              slow      one stream that reads one byte per second, among normal streams
              webhooks  deliveries to a receiver in this process
              growth    the CPU time of an emit while one quantity at a time grows: connections, the payload, channels, \
            stored events, idle streams, patterns, filters, webhooks

            Each payload has a number, with which every stream checks its events. If an event is lost, repeated or out \
            of order on a stream, the exit code is 1. Times are in milliseconds, from the moment when an event was due \
            to the moment when it was read. With --pid, the CPU time of these processes is measured from the first \
            measured event to the last delivery; their memory is the proportional share (PSS).

            The command works with any server that publishes by POST and streams server-sent events: paths and the \
            body are templates. The API key is PARLEY_KEY (default 'dev', for a loopback address only). The command \
            loads the server as heavily as it can: do not run it against a server that others use. Its events are not \
            stored unless --durable is given. A size that is not given has the default of the scenario.
            """)

    @Argument(help: "The scenario to measure.", transform: LoadCommand.scenario)
    var scenario: BenchPlan.Scenario

    @Option(help: ArgumentHelp("The server, http only; default: PARLEY_URL.", valueName: "url"))
    var url: String?

    @Option(
        help: ArgumentHelp(
            "The API key, visible in process lists; default: PARLEY_KEY, or none with --publish-path.", valueName: "key"
        ))
    var token: String?

    @Option(
        help: ArgumentHelp(
            "The id of a server process on this machine, whose CPU time and memory are measured; may be repeated.",
            valueName: "pid"))
    var pid: [Int32] = []

    @OptionGroup(title: "Size") var size: LoadSize
    @OptionGroup(title: "Requests") var requests: LoadRequests
    @OptionGroup(title: "Growth") var growth: GrowthOptions

    @Flag(name: .customLong("json"), help: "Print one JSON object.")
    var isJSON = false

    func validate() throws {
        try growth.check(scenario, requests)
    }

    func run() throws {
        let commandEnvironment = CommandEnvironment.current
        var plan = BenchPlan(scenario)
        let address = try ServerAddress(url ?? commandEnvironment.environment["PARLEY_URL"] ?? ServerAddress.standard)
        plan.url = address.url
        // With other paths, the server is not a gateway, so the gateway's key must not be sent to it.
        plan.key =
            try token
            ?? (requests.publishPath == nil ? GatewayOptions.key(for: address, commandEnvironment.environment) : nil)
        plan.processes = pid
        size.apply(to: &plan)
        requests.apply(to: &plan)
        try growth.apply(to: &plan, seconds: size.seconds)
        let drawing = try growth.svg.map { try OutputFile($0) }
        let result: BenchResult
        do {
            result = try Bench.run(plan)
        } catch {
            throw CommandFailure(error.message)
        }
        let output = commandEnvironment.console.output
        if isJSON {
            output.line(result.json.bytes)
        } else if scenario == .growth {
            for line in GrowthTable(result.curves).lines(output.style) { output.line(line) }
        } else {
            for line in Table.pairs(result.lines, output.style) { output.line(line) }
        }
        try drawing?.write(GrowthChart(result.curves).svg)
        guard result.isClean else { throw ExitCode(1) }
    }

    private static func scenario(_ name: String) throws -> BenchPlan.Scenario {
        guard let scenario = BenchPlan.Scenario(rawValue: name) else {
            let names = BenchPlan.Scenario.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("'\(name)' is not a scenario; use one of \(names).")
        }
        return scenario
    }
}

/// The sizes of a load. An omitted size has the default of the scenario.
struct LoadSize: ParsableArguments {
    @Option(help: "The total number of streams, distributed over the channels.")
    var streams: Int?

    @Option(help: "The number of channels.")
    var channels: Int?

    @Option(help: "The number of publishing connections, each with one request at a time.")
    var publishers: Int?

    @Option(
        name: .customLong("in-flight"),
        help: ArgumentHelp(
            "The maximum number of published events that not all streams have received; 0: no maximum.",
            valueName: "n"))
    var inFlight: Int?

    @Option(
        help: ArgumentHelp(
            "Events per second in total; 0: each publisher sends the next event when it has the response.",
            valueName: "n"))
    var rate: Int?

    @Option(help: ArgumentHelp("The duration of the measurement in seconds.", valueName: "n"))
    var seconds: Int?

    @Option(
        name: .customLong("warm-up"),
        help: ArgumentHelp("Seconds of load before the measurement starts; default: 1.", valueName: "n"))
    var warmUp: Int?

    @Option(help: ArgumentHelp("The size of each payload in bytes; default: 150.", valueName: "bytes"))
    var payload: Int?

    @Option(help: ArgumentHelp("The number of webhooks that receive each event; default: 1.", valueName: "n"))
    var webhooks: Int?

    @Option(
        help: ArgumentHelp(
            "The number of streams that stay open while 'storm' cuts the others; default: 200.", valueName: "n"))
    var watchers: Int?

    func apply(to plan: inout BenchPlan) {
        plan.streams = streams ?? plan.streams
        plan.channels = channels ?? plan.channels
        plan.publishers = publishers ?? plan.publishers
        plan.inFlight = inFlight ?? plan.inFlight
        plan.rate = rate ?? plan.rate
        plan.seconds = seconds ?? plan.seconds
        plan.warmUpSeconds = warmUp ?? plan.warmUpSeconds
        plan.payloadBytes = payload ?? plan.payloadBytes
        plan.webhooks = webhooks ?? plan.webhooks
        plan.watchers = watchers ?? plan.watchers
    }
}

/// The options for the paths, the body and the headers of a load's requests. The defaults are for a gateway.
struct LoadRequests: ParsableArguments {
    @Option(
        name: .customLong("stream-path"),
        help: ArgumentHelp(
            "The path at which streams are opened, with the placeholder {channel}; default: /v1/stream?channel={channel}.",
            valueName: "path")
    )
    var streamPath: String?

    @Option(
        name: .customLong("publish-path"),
        help: ArgumentHelp(
            "The path to which events are published, with the placeholder {channel}; default: /v1/channels/{channel}/events.",
            valueName: "path"))
    var publishPath: String?

    @Option(
        help: ArgumentHelp(
            "The request body, with the placeholder {payload} and optionally {channel}.", valueName: "template"))
    var body: String?

    @Option(
        name: .customLong("content-type"),
        help: ArgumentHelp("The media type of the body; default: application/json.", valueName: "type"))
    var contentType: String?

    @Option(
        name: .customLong("resume-header"),
        help: ArgumentHelp(
            "The header in which a reconnecting stream sends its cursor; default: Last-Event-ID.", valueName: "name"))
    var resumeHeader: String?

    @Flag(help: "Store the events in history.")
    var durable = false

    /// True when at least one of these options is given.
    var isChanged: Bool {
        durable || [streamPath, publishPath, body, contentType, resumeHeader].contains { $0 != nil }
    }

    func validate() throws {
        if durable, body != nil { throw ValidationError("--durable and --body cannot be used together.") }
    }

    func apply(to plan: inout BenchPlan) {
        plan.streamPath = streamPath ?? plan.streamPath
        plan.publishPath = publishPath ?? plan.publishPath
        plan.contentType = contentType ?? plan.contentType
        plan.resumeHeader = resumeHeader ?? plan.resumeHeader
        if durable { plan.body = BenchPlan.durableBody }
        plan.body = body ?? plan.body
    }
}
