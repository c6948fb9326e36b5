import ArgumentParser
import Bench
import JSON

/// `parley bench`: measures a server under load.
struct LoadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Load a gateway, measure it, and check that it loses nothing.",
        discussion: """
            parley bench strict --url http://127.0.0.1:8080 --pid $(pidof parley)
            parley bench rate --rate 200 --json

            Scenarios:
              strict    the next event when every stream has the last
              burst     many events under way
              channels  many channels with two streams each
              rate      a fixed pace that waits for nothing
              publish   events nobody listens to
              idle      streams on which nothing happens: their memory
              storm     all streams cut at once, coming back with their cursors while others watch
              soak      'channels' for ten minutes, with memory
              slow      one reader of a byte a second among others
              webhooks  deliveries to a receiver in this process

            Payloads carry numbers by which every reader checks what it gets: an event lost, repeated or out of order on a \
            stream makes the exit code 1. Times are from when an event was due to when it was read, in milliseconds. With \
            --pid, CPU time is that of these processes, from the first measured event to the last delivery; memory is their \
            proportional share (PSS).

            It works on any server that publishes by POST and streams server-sent events: paths and the body are templates. \
            The API key is PARLEY_KEY (default 'dev', for a loopback address only). It loads the server as heavily as it can: \
            do not aim it at one that others use. Its events are not kept unless --durable.
            """)

    @Argument(help: "What to measure.", transform: LoadCommand.scenario)
    var scenario: BenchPlan.Scenario

    @Option(help: ArgumentHelp("The server, http only; default: PARLEY_URL.", valueName: "url"))
    var url: String?

    @Option(
        help: ArgumentHelp(
            "The API key, visible in process lists; default: PARLEY_KEY, or none with --publish-path.", valueName: "key"
        ))
    var token: String?

    @Option(
        help: ArgumentHelp("A process of the server, on this machine; may be given several times.", valueName: "pid"))
    var pid: [Int32] = []

    @OptionGroup(title: "Size") var size: LoadSize
    @OptionGroup(title: "Requests") var requests: LoadRequests

    @Flag(name: .customLong("json"), help: "Print one JSON object.")
    var isJSON = false

    func run() throws {
        let commandEnvironment = CommandEnvironment.current
        var plan = BenchPlan(scenario)
        let address = try ServerAddress(url ?? commandEnvironment.environment["PARLEY_URL"] ?? ServerAddress.standard)
        plan.url = address.url
        // The paths belong to another server, which must not receive the gateway's key.
        plan.key =
            try token
            ?? (requests.publishPath == nil ? GatewayOptions.key(for: address, commandEnvironment.environment) : nil)
        plan.processes = pid
        size.apply(to: &plan)
        requests.apply(to: &plan)
        let result: BenchResult
        do {
            result = try Bench.run(plan)
        } catch {
            throw CommandFailure(error.message)
        }
        let output = commandEnvironment.console.output
        if isJSON {
            output.line(result.json.bytes)
        } else {
            for line in Table.pairs(result.lines, output.style) { output.line(line) }
        }
        guard result.isClean else { throw ExitCode(1) }
    }

    private static func scenario(_ name: String) throws -> BenchPlan.Scenario {
        guard let scenario = BenchPlan.Scenario(rawValue: name) else {
            let names = BenchPlan.Scenario.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("'\(name)' is none of \(names).")
        }
        return scenario
    }
}

/// The sizes of a load. Omitted ones take the scenario's defaults.
struct LoadSize: ParsableArguments {
    @Option(help: "Streams in all, spread over the channels.")
    var streams: Int?

    @Option(help: "Channels.")
    var channels: Int?

    @Option(help: "Connections that publish, one request at a time each.")
    var publishers: Int?

    @Option(
        name: .customLong("in-flight"),
        help: ArgumentHelp(
            "Events published and not yet with every stream; 0: only answers are waited for.", valueName: "n"))
    var inFlight: Int?

    @Option(help: ArgumentHelp("Events per second in all; 0: as fast as answers come.", valueName: "n"))
    var rate: Int?

    @Option(help: ArgumentHelp("How long to measure.", valueName: "n"))
    var seconds: Int?

    @Option(
        name: .customLong("warm-up"), help: ArgumentHelp("Seconds of load before that; default: 1.", valueName: "n"))
    var warmUp: Int?

    @Option(help: ArgumentHelp("Bytes of a payload; default: 150.", valueName: "bytes"))
    var payload: Int?

    @Option(help: ArgumentHelp("Webhooks that take each event; default: 1.", valueName: "n"))
    var webhooks: Int?

    @Option(help: ArgumentHelp("Streams that stay while the others of a storm are cut; default: 200.", valueName: "n"))
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

/// The requests of a load; the gateway's own by default.
struct LoadRequests: ParsableArguments {
    @Option(
        name: .customLong("stream-path"),
        help: ArgumentHelp("Where to stream, with {channel}; default: /v1/stream?channel={channel}.", valueName: "path")
    )
    var streamPath: String?

    @Option(
        name: .customLong("publish-path"),
        help: ArgumentHelp(
            "Where to publish, with {channel}; default: /v1/channels/{channel}/events.", valueName: "path"))
    var publishPath: String?

    @Option(help: ArgumentHelp("The body to publish, with {payload} and, at will, {channel}.", valueName: "template"))
    var body: String?

    @Option(
        name: .customLong("content-type"),
        help: ArgumentHelp("Of the body; default: application/json.", valueName: "type"))
    var contentType: String?

    @Option(
        name: .customLong("resume-header"),
        help: ArgumentHelp("What carries a cursor; default: Last-Event-ID.", valueName: "name"))
    var resumeHeader: String?

    @Flag(help: "Have events kept in history.")
    var durable = false

    func validate() throws {
        if durable, body != nil { throw ValidationError("--durable is for the usual body; --body says all itself.") }
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
