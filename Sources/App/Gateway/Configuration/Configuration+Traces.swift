import ChatModel
import ChatCore
import HTTPClient
import Logging

extension Configuration {
    /// What sends spans to the collector; nil where none is set.
    ///
    /// The guard of webhooks' addresses does not apply: this one the operator chose, most often on a private network.
    func traceExporter() throws -> TraceExporter? {
        guard !otlpEndpoint.isEmpty else { return nil }
        let options = ClientOptions(
            maxConnections: 2, userAgent: "Parley/\(Product.version)", totalTimeout: .seconds(10),
            addressGuard: .disabled)
        return TraceExporter(
            tracer: Tracer(ratio: otlpSampleRatio), client: try Client(options: options), url: otlpURL,
            headers: try otlpFields(), logger: Logger(label: "traces"))
    }

    /// Where OTLP over HTTP takes traces, below a base address or as it is given in full.
    private var otlpURL: String {
        let base = otlpEndpoint.hasSuffix("/") ? String(otlpEndpoint.dropLast()) : otlpEndpoint
        return base.hasSuffix("/v1/traces") ? base : base + "/v1/traces"
    }

    /// - Throws: never with the value, which is a secret.
    func otlpFields() throws(SettingError) -> [OutboundRequest.Field] {
        var fields: [OutboundRequest.Field] = []
        for item in otlpHeaders {
            let parts = item.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, !parts[0].isEmpty, item.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw SettingError("otlp.headers must be name=value, several separated by commas")
            }
            fields.append((parts[0].trimmingSpaces(), parts[1].trimmingSpaces()))
        }
        return fields
    }
}
