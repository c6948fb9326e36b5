public import ChatModel
public import JSON

extension Delivery {
    /// Prints the delivery as the native API lists it, as the next value of `writer`.
    /// - Parameter attempts: added as `attempt_log` when given.
    public func print(to writer: inout JSONWriter, attempts: [DeliveryAttempt]? = nil) {
        writer.beginObject()
        writer.member("id", id)
        writer.member("subscriber", subscriber.name)
        writer.member("event", event.eventID)
        writer.member("type", type)
        writer.member("channel", channel)
        writer.member("status", status.rawValue)
        writer.member("attempts", self.attempts)
        if let due { writer.member("next_attempt_at", due.timestamp) } else { writer.nullMember("next_attempt_at") }
        if let reason { writer.member("reason", reason) } else { writer.nullMember("reason") }
        if let attempts {
            writer.key("attempt_log")
            writer.beginArray()
            for attempt in attempts { attempt.print(to: &writer) }
            writer.endArray()
        }
        writer.endObject()
    }
}

extension DeliveryAttempt {
    /// Prints the attempt as it stands in `attempt_log`, as the next value of `writer`.
    ///
    /// The answer's body is shown as text; bytes that are not UTF-8 are replaced.
    public func print(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("at", at.timestamp)
        if let status { writer.member("status", status) } else { writer.nullMember("status") }
        if let error { writer.member("error", error) } else { writer.nullMember("error") }
        if let sentence { writer.member("message", sentence) } else { writer.nullMember("message") }
        writer.member("duration_ms", durationMilliseconds)
        writer.member("trigger", isManual ? "manual" : "automatic")
        writer.member("response_body", String(decoding: responseBody, as: UTF8.self))
        writer.member("truncated", isTruncated)
        if let details { writer.member("details", details) }
        writer.endObject()
    }
}
