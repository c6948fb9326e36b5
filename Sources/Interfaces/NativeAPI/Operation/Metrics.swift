import ChatCore
import ChatModel
public import HTTPServer
import InboundHooks
import Locking
import Synchronization
import Webhooks

/// The statistics that `/metrics` prints. They are collected at each request.
final class Metrics: Sendable {
    let requests = RequestCounts()
    private let emitted = Atomic<UInt64>(0)
    /// The HTTP server; nil until it listens, which is after the routes were added.
    private let server = Lock<Server?>(nil)

    func watch(_ server: Server) { self.server.withLock { $0 = server } }

    /// The running version, as `parley --version` prints it.
    private let build = Lock("")

    var version: String {
        get { build.withLock { $0 } }
        set { build.withLock { $0 = newValue } }
    }

    /// Counts the events that a call has appended to the log, both stored and ephemeral events. Duplicates and the
    /// events of a repeated append are not counted.
    func countEmitted(_ outcome: AppendOutcome) {
        guard outcome.repeatedNote == nil else { return }
        emitted.add(UInt64(outcome.events.newCount), ordering: .relaxed)
    }

    var emittedCount: UInt64 { emitted.load(ordering: .relaxed) }

    var serverMetrics: ServerMetrics? {
        get async { await server.withLock { $0 }?.metrics }
    }
}

extension NativeAPI {
    /// Adds the server's connections, bytes and streams, and the running version, to `/metrics`.
    public func watch(_ server: Server, version: String = "") {
        metrics.watch(server)
        metrics.version = version
    }

    /// True when the public address of the gateway is not a loopback address.
    private var isPublic: Bool {
        guard let start = publicURL.firstRange(of: "://") else { return false }
        return !HostPolicy.isLoopback(String(publicURL[start.upperBound...].prefix { $0 != "/" }))
    }

    /// `GET /metrics`: returns the metrics in the Prometheus text format. The route needs an operator's key, except for
    /// a scraper on this machine.
    ///
    /// A request is regarded as a scraper's if it comes from this machine, `Host` is absent or a loopback name, no
    /// header field of a proxy is present, and the gateway's public address is not configured or is a loopback address.
    /// The last two conditions exclude the requests that a proxy on this machine forwards. The condition for `Host`
    /// excludes the requests of a web page whose name was rebound to this machine.
    func getMetrics(_ request: Request) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let isForThisMachine = request.headers["Host"].map(HostPolicy.isLoopback) ?? true
        let isForwarded = ["Forwarded", "X-Forwarded-For", "Via"].contains { request.headers.contains($0) }
        if !request.isLoopback || !isForThisMachine || isForwarded || isPublic {
            try requireOperator(try caller(of: request))
        }
        var text = MetricsText()
        text.family("parley_build_info", .gauge, "Always 1; the label version is the version of the gateway.")
        text.sample("parley_build_info", [("version", metrics.version)], 1)
        printRequests(to: &text)
        if let statistics = await metrics.serverMetrics { Self.print(statistics, to: &text) }
        Self.print(await streamMetrics, to: &text)
        Self.print(await streams.worst(), to: &text)
        await printChat(to: &text)
        Self.print(webhooks.metrics, to: &text)
        Self.printInbound(inbound.receiver.metrics, to: &text)
        if let node = await service.engine.nodeStatistics() { Self.print(node, to: &text) }
        if let statistics = await storeStatistics.latest() { Self.print(statistics, at: service.clock.now, to: &text) }
        printOperation(to: &text)
        // Runs off the loop, because a process with 100,000 streams has as many descriptors to list.
        let process = await onThreadPool { ProcessStatistics.read() }
        Self.print(process, to: &text)
        return Response(
            status: 200,
            headers: [("Content-Type", "text/plain; version=0.0.4; charset=utf-8"), Self.noStore],
            body: .bytes(text.bytes))
    }

    private func printRequests(to text: inout MetricsText) {
        let all = metrics.requests.all
        text.family(
            "parley_http_requests_total", .counter, "HTTP requests by method, route and class of status, such as 2xx.")
        for series in all {
            for (index, count) in series.statuses.enumerated() where count > 0 {
                text.sample(
                    "parley_http_requests_total", series.key.labels + [("status", "\(index + 1)xx")], count)
            }
        }
        text.family(
            "parley_http_request_duration_seconds", .histogram,
            "Seconds from the end of a request's header until the gateway decided on the response.")
        for series in all { Self.printDurations(series, to: &text) }
    }

    private static func printDurations(_ series: RequestCounts.Series, to text: inout MetricsText) {
        let key = series.key
        let name = "parley_http_request_duration_seconds"
        var sum: UInt64 = 0
        for (bound, count) in zip(RequestCounts.bounds, series.buckets) {
            sum += count
            text.sample(name + "_bucket", key.labels + [("le", "\(bound)")], sum)
        }
        sum += series.buckets.last ?? 0
        text.sample(name + "_bucket", key.labels + [("le", "+Inf")], sum)
        text.sample(name + "_sum", key.labels, Double(series.nanoseconds) / 1e9)
        text.sample(name + "_count", key.labels, sum)
    }

    private static func print(_ server: ServerMetrics, to text: inout MetricsText) {
        text.single(
            "parley_http_connections", .gauge, "Open HTTP connections, not counting streams.", server.connections)
        text.single("parley_http_connections_accepted_total", .counter, "HTTP connections accepted.", server.accepted)
        text.single(
            "parley_http_connections_refused_total", .counter,
            "Connections rejected or closed because a limit of connections was reached.",
            server.refused)
        text.single(
            "parley_http_connections_timed_out_total", .counter, "Connections closed because a time limit passed.",
            server.timedOut)
        text.single("parley_http_requests_in_flight", .gauge, "HTTP requests in progress.", server.requestsInFlight)
        text.single(
            "parley_http_received_bytes_total", .counter, "Bytes of request bodies received.", server.bodyBytesReceived)
        text.single(
            "parley_http_sent_bytes_total", .counter, "Bytes of response bodies sent, not counting streams.",
            server.bodyBytesSent)
        text.single(
            "parley_http_body_memory_bytes", .gauge, "Bytes of memory that request bodies use now.",
            server.bodyBytesInFlight)
        text.single(
            "parley_stream_sent_bytes_total", .counter, "Bytes sent to the clients of streams.",
            server.streamTraffic.bytesSent)
    }

    private static func print(_ streams: StreamMetrics, to text: inout MetricsText) {
        text.single("parley_streams", .gauge, "Open streams.", streams.open)
        text.single("parley_streams_opened_total", .counter, "Streams opened.", streams.opened)
        text.single(
            "parley_streams_catching_up", .gauge,
            "Streams that still read stored events, before they follow new events.",
            streams.catchUpsNow)
        text.single(
            "parley_stream_log_bytes", .gauge, "Bytes of memory that hold recent events for streams.", streams.logBytes)
        text.single(
            "parley_streams_lagged_total", .counter, "Streams closed because their client read too slowly.",
            streams.slowCloses)
        text.single(
            "parley_stream_gaps_total", .counter,
            "Streams and polls that received a report that events may be missing.",
            streams.gaps)
        text.single(
            "parley_stream_frames_total", .counter,
            "Events encoded for streams; streams of the same format share one encoding of an event.",
            streams.framed)
        text.single("parley_polls_waiting", .gauge, "Long polls that wait for an event.", streams.pollsWaiting)
    }

    private func printChat(to text: inout MetricsText) async {
        text.single(
            "parley_events_emitted_total", .counter, "Events emitted through the native API.", metrics.emittedCount)
        text.single(
            "parley_feeds", .gauge, "Distinct selections of events that open streams and waiting polls follow.",
            await service.hub.feedCount)
        text.single(
            "parley_filters_exhausted_total", .counter,
            "Events that a filter did not match because the check would have exceeded limits.filter_steps.",
            FilterStatistics.exhaustedCount)
    }

    private static func print(_ webhooks: WebhookMetrics, to text: inout MetricsText) {
        text.family(
            "parley_webhook_attempts_total", .counter,
            "Attempts to deliver to webhooks, by outcome: delivered or a class of error.")
        for (outcome, count) in webhooks.attempts.sorted(by: { $0.key < $1.key }) {
            text.sample("parley_webhook_attempts_total", [("outcome", outcome)], count)
        }
        text.single(
            "parley_webhook_attempts_in_flight", .gauge, "Attempts in progress to deliver to webhooks.",
            webhooks.inFlight)
        text.single(
            "parley_webhook_deliveries_planned_total", .counter, "Deliveries queued for webhooks and subscriptions.",
            webhooks.planned)
        text.single(
            "parley_webhook_deliveries_dead_total", .counter,
            "Deliveries that became dead, because every attempt failed or too many deliveries were waiting.",
            webhooks.dead)
        text.single(
            "parley_webhook_planner_lag_seconds", .gauge,
            "Seconds between the newest stored event and the newest event whose deliveries are queued.",
            Double(webhooks.plannerLagTicks) / Double(Timetoken.ticksPerSecond))
        text.single("parley_webhooks", .gauge, "Registered webhooks.", webhooks.webhooks)
        text.single("parley_webhooks_disabled", .gauge, "Disabled webhooks.", webhooks.disabledWebhooks)
        text.single(
            "parley_webhooks_circuit_open", .gauge, "Webhooks whose attempts are paused or limited after failures.",
            webhooks.openCircuits)
        text.single(
            "parley_webhooks_unreadable", .gauge, "Webhooks that send nothing because their record cannot be read.",
            webhooks.unreadableWebhooks)
    }

    private static func printInbound(_ counts: [String: UInt64], to text: inout MetricsText) {
        text.family(
            "parley_inbound_posts_total", .counter, "Posts to sources, by outcome, such as accepted or rejected.")
        for (outcome, count) in counts.sorted(by: { $0.key < $1.key }) {
            text.sample("parley_inbound_posts_total", [("outcome", outcome)], count)
        }
    }

    private static func print(_ process: ProcessStatistics, to text: inout MetricsText) {
        text.single("process_resident_memory_bytes", .gauge, "Bytes of resident memory.", process.residentBytes)
        text.single("process_cpu_seconds_total", .counter, "Seconds of CPU time, user and system.", process.cpuSeconds)
        text.single("process_open_fds", .gauge, "Open file descriptors.", process.openFiles)
        text.single(
            "process_max_fds", .gauge, "Maximum number of file descriptors that the process may open.",
            process.openFilesMost)
        text.single(
            "process_start_time_seconds", .gauge, "Time when the process started, in Unix seconds.", process.startedAt)
    }
}

extension RequestCounts.Key {
    fileprivate var labels: [(name: String, value: String)] { [("method", method), ("route", route)] }
}

/// Prints metrics in the Prometheus text format 0.0.4. A metric is printed as its description, its type and its
/// samples.
struct MetricsText {
    private(set) var bytes: [UInt8] = []

    enum Kind: String { case counter, gauge, histogram, summary }

    /// Prints the description and the type of a metric. The samples of the metric must be printed next.
    mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        line("# HELP \(name) \(help)")
        line("# TYPE \(name) \(kind.rawValue)")
    }

    /// Prints a metric with one sample and without labels.
    mutating func single(_ name: String, _ kind: Kind, _ help: String, _ value: some Numeric) {
        family(name, kind, help)
        sample(name, [], value)
    }

    /// Prints the number of calls and the sum of their seconds.
    mutating func summary(_ name: String, _ help: String, _ timing: NodeStatistics.Timing) {
        family(name, .summary, help)
        sample(name + "_sum", [], timing.duration / .seconds(1))
        sample(name + "_count", [], timing.count)
    }

    /// Prints one sample.
    ///
    /// - Parameter labels: the labels of the sample. The values of the labels must come from constant tables and never
    ///   from clients, so that the number of samples is bounded.
    mutating func sample(_ name: String, _ labels: [(name: String, value: String)], _ value: some Numeric) {
        guard !labels.isEmpty else { return line("\(name) \(value)") }
        let printed = labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
        line("\(name){\(printed)} \(value)")
    }

    private mutating func line(_ text: String) {
        bytes.append(contentsOf: text.utf8)
        bytes.append(0x0A)
    }

    private static func escaped(_ value: String) -> String {
        var text = ""
        for character in value {
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.append(character)
            }
        }
        return text
    }
}
