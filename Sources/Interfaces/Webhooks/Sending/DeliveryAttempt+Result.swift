import ChatModel
import HTTPClient
import JSON

extension DeliveryState.AttemptEvent {
    /// Creates the input of ``DeliveryState`` from the result of a request. A response counts as received when its
    /// header is complete, even if its body then fails.
    init(_ result: OutboundResult, now: Timetoken) {
        if let status = result.status {
            let seconds = Int64(now.rawValue / Timetoken.ticksPerSecond)
            let retryAfter = (200..<300).contains(status) ? nil : result.headers.retryAfter(unixSeconds: seconds)
            self = .answered(status: status, retryAfter: retryAfter)
        } else {
            self = .failed(result.failure?.reason ?? .reset)
        }
    }
}

extension DeliveryAttempt {
    /// Creates the entry of the attempt log from the result of a request.
    ///
    /// - Parameter error: the error class; nil on success.
    init(_ result: OutboundResult, at start: Timetoken, error: String?, isManual: Bool, details: JSONText?) {
        self.init(
            at: start, status: result.status, error: error,
            durationMilliseconds: Int(result.timings.total.timetokenTicks / 10_000), isManual: isManual,
            responseBody: result.body, isTruncated: result.truncated, details: details)
    }

    /// The details of an attempt: its durations, the address of the receiver, and the headers of request and response.
    /// The details contain the names and values of the request fields that the gateway adds. For the fields that the
    /// webhook's owner sets, they contain only the names, because the values are secret.
    static func details(_ answered: CompletedAttempt, _ error: String?) -> JSONText {
        let result = answered.result
        return JSONText(capacity: 1024) { writer in
            writer.beginObject()
            if let address = result.connectedAddress { writer.member("address", address) }
            writer.key("timings_us")
            writer.beginObject()
            let timings = result.timings
            writer.member("queued", timings.queued.timetokenTicks / 10)
            writer.member("dns", timings.dns.timetokenTicks / 10)
            writer.member("connect", timings.connect.timetokenTicks / 10)
            writer.member("tls", timings.tls.timetokenTicks / 10)
            writer.member("first_byte", timings.firstByte.timetokenTicks / 10)
            writer.member("total", timings.total.timetokenTicks / 10)
            writer.endObject()
            if let sentence = result.failure?.sentence { writer.member("cause", sentence) }
            print(answered.requestHeaders, to: &writer)
            print(result.headers, to: &writer)
            if answered.deliveries.count > 1 { writer.member("batch", answered.deliveries.count) }
            writer.endObject()
        }
    }

    /// The text that replaces a secret value.
    static let masked = "(masked)"
    /// The maximum size of each stored header, in bytes.
    private static let headerLimitBytes = 4096

    /// Returns true for the fields that the gateway itself adds to a request.
    static func isShown(_ name: String) -> Bool {
        // The names of the gateway's fields are in lower case.
        let hasCapitals = name.utf8.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        let name = hasCapitals ? name.lowercased() : name
        return name.hasPrefix("webhook-") || name.hasPrefix("ce-") || shown.contains(name)
    }

    /// The names of the fields that the gateway adds, except names that begin with `webhook-` or `ce-`. An array,
    /// because hashing a name costs more than searching the array.
    private static let shown = [
        "content-type", "user-agent", "traceparent", "x-hub-signature-256", "stripe-signature", "signature",
        "signature-input", "content-digest",
    ]

    private static func print(_ fields: [OutboundRequest.Field], to writer: inout JSONWriter) {
        writer.key("request_headers")
        writer.beginArray()
        var bytes = 0
        for (name, value) in fields {
            let value = isShown(name) ? value : masked
            bytes += name.utf8.count + value.utf8.count
            if bytes > headerLimitBytes { break }
            writer.beginArray()
            writer.string(name)
            writer.string(value)
            writer.endArray()
        }
        writer.endArray()
    }

    /// Prints the received bytes directly, because converting all fields to strings costs more than all other details.
    private static func print(_ fields: HeaderFields, to writer: inout JSONWriter) {
        writer.key("response_headers")
        writer.beginArray()
        var bytes = 0
        fields.visit { name, value in
            bytes += name.count + value.count
            if bytes > headerLimitBytes { return false }
            writer.beginArray()
            writer.string(bytes: name)
            writer.string(bytes: value)
            writer.endArray()
            return true
        }
        writer.endArray()
    }
}
