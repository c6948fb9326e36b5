package import HTTPClient
import JSON

extension OutboundRequest {
    /// Creates the HTTP request of a call.
    ///
    /// - Parameters:
    ///   - url: the gateway's address without a trailing slash.
    ///   - token: the API key or token of the caller.
    ///   - id: the id of the request in the gateway's log; nil lets the gateway choose one.
    package init(_ call: Call, url: String, token: String, id: String? = nil) {
        var headers = Self.headers(token: token, accept: "application/json", id: id)
        if call.body != nil { headers.append(("Content-Type", "application/json")) }
        if let idempotencyKey = call.idempotencyKey { headers.append(("Idempotency-Key", idempotencyKey)) }
        if call.mustBeNew { headers.append(("If-None-Match", "*")) }
        if let version = call.version { headers.append(("If-Match", "\"\(version)\"")) }
        if let device = call.device { headers.append(("X-Device-Id", device)) }
        var body = call.body?.bytes ?? []
        if call.isCompressed, let compressed = Gzip.compressed(body) {
            headers.append(("Content-Encoding", "gzip"))
            body = compressed
        }
        self.init(
            method: call.method, url: url + call.path.text, headers: headers, body: body,
            totalTimeout: call.timeout)
    }

    /// Creates the HTTP request of an event stream (NDJSON).
    package init(streaming path: RequestPath, url: String, token: String, id: String? = nil) {
        self.init(
            url: url + path.text, headers: Self.headers(token: token, accept: "application/x-ndjson", id: id))
    }

    private static func headers(token: String, accept: String, id: String?) -> [(String, String)] {
        [("Authorization", "Bearer \(token)"), ("Accept", accept)] + (id.map { [("X-Request-Id", $0)] } ?? [])
    }
}
