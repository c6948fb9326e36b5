import ChatModel
import HTTPClient
import JSON

extension DeliveryState.Happening {
    /// What an outbound call came to. An answer counts as soon as its header is complete, whatever became of the body.
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
    /// - Parameter error: a class of `conventions.md` 10; nil on success.
    init(_ result: OutboundResult, at start: Timetoken, error: String?, isManual: Bool) {
        self.init(
            at: start, status: result.status, error: error,
            durationMilliseconds: Int(result.timings.total.timetokenTicks / 10_000), isManual: isManual,
            responseBody: result.body, isTruncated: result.truncated, details: Self.details(result, error))
    }

    /// Where the time went and which address answered; the answer's header only when it failed, since it is then that
    /// somebody reads it.
    private static func details(_ result: OutboundResult, _ error: String?) -> JSONText {
        JSONText { writer in
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
            if error != nil { print(result.headers, to: &writer) }
            writer.endObject()
        }
    }

    /// Kept of an answer's header, in bytes.
    private static let headerLimitBytes = 4096

    private static func print(_ headers: HeaderFields, to writer: inout JSONWriter) {
        writer.key("response_headers")
        writer.beginArray()
        var bytes = 0
        for field in headers {
            bytes += field.name.utf8.count + field.value.utf8.count
            if bytes > headerLimitBytes { break }
            writer.beginArray()
            writer.string(field.name)
            writer.string(field.value)
            writer.endArray()
        }
        writer.endArray()
    }
}
