import ChatModel
import ChatCore
import HTTPClient
import JSON
import Logging

/// Sends finished trace spans to a collector, in OTLP over HTTP with JSON.
///
/// Requests do not wait for the exporter. Spans that the collector does not accept are dropped and counted.
struct TraceExporter: Sendable {
    private static let spansPerPost = 512
    /// The time for which finished spans are collected into one request.
    private static let linger: Duration = .seconds(1)
    private static let attempts = 3

    let tracer: Tracer
    let client: Client
    /// The full URL, for example `http://collector:4318/v1/traces`.
    let url: String
    let headers: [OutboundRequest.Field]
    let logger: Logger

    /// Sends spans until the task is cancelled.
    func run() async {
        while await tracer.hasSpans() {
            // The loop's condition checks for cancellation.
            try? await Task.sleep(for: Self.linger)
            await flush()
        }
    }

    /// Sends the spans that are waiting.
    func flush() async {
        while true {
            let spans = tracer.drain(Self.spansPerPost)
            guard !spans.isEmpty else { return }
            await send(spans)
        }
    }

    private func send(_ spans: [Span]) async {
        let request = OutboundRequest(
            method: "POST", url: url, headers: [("content-type", "application/json")] + headers,
            body: OTLPText.request(spans, version: Product.version).bytes)
        var cause = ""
        for attempt in 1...Self.attempts {
            let result = await client.send(request)
            if let status = result.status, (200..<300).contains(status) { return }
            cause = result.status.map { "status \($0)" } ?? result.failure.map { "\($0.reason)" } ?? "no response"
            guard isPassing(result), attempt < Self.attempts, !Task.isCancelled else { break }
            try? await Task.sleep(for: .seconds(attempt))
        }
        tracer.countDropped(spans.count)
        logger.warning(
            "cannot export spans; the spans are lost", metadata: ["spans": "\(spans.count)", "cause": "\(cause)"])
    }

    /// Returns true when OTLP permits a retry of the request.
    private func isPassing(_ result: OutboundResult) -> Bool {
        result.status.map { [429, 502, 503, 504].contains($0) } ?? true
    }
}
