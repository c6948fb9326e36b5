import ChatModel
import ClientCommands
import Gateway
import HTTPClient
import JSON

/// Checks whether the gateway with these settings responds, and checks its metrics.
struct RunningGateway {
    let configuration: Configuration
    /// True when a gateway is using the data directory; nil when there is no database.
    let isServed: Bool?

    /// The number of seconds above which the check warns that the planner lags. The planner queues the webhook
    /// deliveries of new events. The lag of a working planner is far lower.
    private static let lateSeconds = 60.0

    func results() async -> [CheckResult] {
        guard let url = configuration.localURL else {
            return [CheckResult("gateway", .ok, "not checked: the port is unknown, because 'listen' has port 0")]
        }
        let client: Client
        do {
            client = try Client(
                options: ClientOptions(
                    userAgent: "parley-doctor/\(Product.version)", responseLimitBytes: 16 * 1024 * 1024,
                    keptResponseBytes: 16 * 1024 * 1024, totalTimeout: .seconds(10), addressGuard: .disabled,
                    caFile: configuration.tlsCertificate.isEmpty ? nil : configuration.tlsCertificate))
        } catch { return [CheckResult("gateway", .failure, "the HTTP client cannot start: \(error.message)")] }
        let ready = await client.send(OutboundRequest(method: "GET", url: url + "/readyz"))
        var findings = [answer(ready, at: url)]
        if ready.status != nil {
            let metrics = await client.send(OutboundRequest(method: "GET", url: url + "/metrics"))
            if metrics.status == 200 { findings += work(MetricsText(String(decoding: metrics.body, as: UTF8.self))) }
        }
        await client.shutdown()
        return findings
    }

    private func answer(_ result: OutboundResult, at url: String) -> CheckResult {
        guard let status = result.status else { return silence(result, at: url) }
        if status == 200 {
            guard isServed == false else { return CheckResult("gateway", .ok, "the gateway is ready at \(url)") }
            return CheckResult(
                "gateway", .failure, "the gateway at \(url) does not use '\(configuration.dataDirectory)'",
                advice: "use the settings and the data directory of that gateway, or stop it first")
        }
        let reason = (try? JSONDocument(result.body).root)?["detail"]?.string
        return CheckResult(
            "gateway", .failure, "\(url)/readyz responds with \(status): \(reason ?? "no reason given")",
            advice: reason == nil
                ? "another program seems to listen at this address: change 'listen'" : "see the gateway's log")
    }

    private func silence(_ result: OutboundResult, at url: String) -> CheckResult {
        let isRefused = result.failure?.reason == .connectRefused
        if result.failure?.reason == .tls, isServed == true {
            return CheckResult("gateway", .ok, "the gateway responds at \(url), with a certificate for another host")
        }
        if isServed == true {
            return CheckResult(
                "gateway", .failure,
                "a running gateway uses '\(configuration.dataDirectory)', but no gateway responds at \(url)",
                advice:
                    "compare these settings with those of the running gateway; its log shows the address ('listening on')"
            )
        }
        guard !isRefused else { return CheckResult("gateway", .ok, "no gateway is running; \(url) is free") }
        return CheckResult(
            "gateway", .failure, "\(url) cannot be reached: \(result.failure.map { "\($0.reason)" } ?? "no response")",
            advice: "another program may listen at this address without responding: change 'listen'")
    }

    private func work(_ metrics: MetricsText) -> [CheckResult] {
        let lag = metrics.value("parley_webhook_planner_lag_seconds") ?? 0
        let open = Int(metrics.value("parley_webhooks_circuit_open") ?? 0)
        return [
            lag < Self.lateSeconds
                ? CheckResult("planner", .ok, "the deliveries of every event are queued")
                : CheckResult(
                    "planner", .warning, "webhook deliveries are queued \(Int(lag)) s late",
                    advice:
                        "look for 'cannot queue the deliveries' in the log; if the log does not contain this line, the machine is overloaded"
                ),
            open == 0
                ? CheckResult("circuits", .ok, "no webhook's deliveries are paused")
                : CheckResult(
                    "circuits", .warning, "\(open) webhooks fail so often that their deliveries are paused",
                    advice: "'parley webhooks list' shows them; the deliveries resume automatically"),
        ]
    }
}

/// The metrics of a gateway, parsed from the Prometheus text format. If a metric has several samples with different
/// labels, only the largest value is stored.
struct MetricsText {
    private var values: [String: Double] = [:]

    init(_ text: String) {
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
                continue
            }
            let name = String(line[..<space].prefix { $0 != "{" })
            values[name] = max(values[name] ?? value, value)
        }
    }

    func value(_ name: String) -> Double? { values[name] }
}
