import ArgumentParser
import Bench
import JSON

/// `parley bench`: measures a server under load.
struct LoadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Put load on a gateway, measure it, and check that no event is lost.",
        discussion: """
            parley bench strict --url http://127.0.0.1:8080 --pid $(pidof parley)
            parley bench rate --rate 200 --json

            Scenarios:
              strict    one event at a time: the next follows when every stream has the last
              burst     many events at a time
              channels  many channels with two streams each
              rate      a fixed rate that does not wait for responses
              publish   events without listeners
              idle      the memory of streams without events
              storm     streams that are cut all at once and reconnect with their cursors while others stay open
              soak      'channels' for ten minutes, with memory use
              slow      one reader of one byte per second among normal ones
              webhooks  deliveries to a receiver in this process

            Payloads carry numbers with which every reader checks the events it receives. An event that is lost, \
            repeated or out of order on a stream makes the exit code 1. Times are measured from the moment when an \
            event was due to the moment when it was read, in milliseconds. With --pid, CPU time is that of these \
            processes, from the first measured event to the last delivery; memory is their proportional share (PSS).

            The command works with any server that publishes by POST and streams server-sent events: paths and the \
            body are templates. The API key is PARLEY_KEY (default 'dev', for a loopback address only). The command \
            loads the server as heavily as it can: do not run it against a server that others use. Its events are not \
            stored unless --durable is given.
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
        help: ArgumentHelp("The id of a server process on this machine; may be given several times.", valueName: "pid"))
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
        // With other paths, the server is not a gateway, so the gateway's key must not be sent to it.
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
            throw ValidationError("'\(name)' is not a scenario; use one of \(names).")
        }
        return scenario
    }
}

/// The sizes of a load. An omitted size has the default of the scenario.
struct LoadSize: ParsableArguments {
    @Option(help: "The total number of streams, spread over the channels.")
    var streams: Int?

    @Option(help: "Channels.")
    var channels: Int?

    @Option(help: "The number of publishing connections, each with one request at a time.")
    var publishers: Int?

    @Option(
        name: .customLong("in-flight"),
        help: ArgumentHelp(
            "The maximum number of events published but not yet received by every stream; 0: wait for responses only.",
            valueName: "n"))
    var inFlight: Int?

    @Option(help: ArgumentHelp("Events per second in total; 0: as fast as responses arrive.", valueName: "n"))
    var rate: Int?

    @Option(help: ArgumentHelp("The duration of the measurement.", valueName: "n"))
    var seconds: Int?

    @Option(
        name: .customLong("warm-up"),
        help: ArgumentHelp("Seconds of load before the measurement; default: 1.", valueName: "n"))
    var warmUp: Int?

    @Option(help: ArgumentHelp("The size of a payload in bytes; default: 150.", valueName: "bytes"))
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

/// The requests of a load. By default, they are requests to a gateway.
struct LoadRequests: ParsableArguments {
    @Option(
        name: .customLong("stream-path"),
        help: ArgumentHelp(
            "The path to stream from, with {channel}; default: /v1/stream?channel={channel}.", valueName: "path")
    )
    var streamPath: String?

    @Option(
        name: .customLong("publish-path"),
        help: ArgumentHelp(
            "The path to publish to, with {channel}; default: /v1/channels/{channel}/events.", valueName: "path"))
    var publishPath: String?

    @Option(help: ArgumentHelp("The body to publish, with {payload} and optionally {channel}.", valueName: "template"))
    var body: String?

    @Option(
        name: .customLong("content-type"),
        help: ArgumentHelp("The media type of the body; default: application/json.", valueName: "type"))
    var contentType: String?

    @Option(
        name: .customLong("resume-header"),
        help: ArgumentHelp("The header that carries a cursor; default: Last-Event-ID.", valueName: "name"))
    var resumeHeader: String?

    @Flag(help: "Store the events in history.")
    var durable = false

    func validate() throws {
        if durable, body != nil { throw ValidationError("--durable and --body exclude each other.") }
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
