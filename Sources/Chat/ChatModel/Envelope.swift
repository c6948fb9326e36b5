public import JSON

extension Event {
    /// The native JSON form of the event: the body of webhooks, of SSE and NDJSON messages, and of history.
    ///
    /// The order of the fields is fixed and the payload's bytes are the sender's, so an event always prints the same
    /// bytes.
    public var envelope: JSONText {
        var writer = JSONWriter(capacity: draft.weight + 160)
        printEnvelope(to: &writer)
        return writer.text
    }

    /// Prints the envelope as the next value of `writer`.
    ///
    /// - Parameter included: the objects that the reader requested, printed as the member `included`; nil prints none.
    public func printEnvelope(to writer: inout JSONWriter, included: JSONText? = nil) {
        writer.beginObject()
        writer.member("id", timetoken.eventID)
        writer.member("type", type)
        writer.member("kind", kind.name)
        writer.member("timestamp", timetoken.timestamp)
        writer.member("timetoken", timetoken.description)
        writer.member("channel", channel.name)
        if let user { writer.member("user", user) }
        writer.member("data", data)
        if let meta { writer.member("meta", meta) }
        if let customType { writer.member("custom_type", customType) }
        if let schema = draft.schema {
            writer.key("schema")
            writer.beginObject()
            writer.member("type", schema.type)
            writer.member("version", schema.version)
            writer.endObject()
        }
        if let cause = draft.cause { writer.member("cause", cause) }
        if retention == .passing { writer.member("ephemeral", true) }
        if let included { writer.member("included", included) }
        writer.endObject()
    }
}

extension JSONText {
    /// The printed envelope with the member `included`, as ``Event/printEnvelope(to:included:)`` prints it.
    public func envelope(including included: JSONText) -> JSONText {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + included.count + 13)
        bytes += self.bytes.dropLast()
        bytes += Array(",\"included\":".utf8)
        bytes += included.bytes
        bytes.append(UInt8(ascii: "}"))
        return JSONText(trusted: bytes)
    }
}
