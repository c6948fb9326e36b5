public import JSON

extension Event {
    /// The JSON form of the event in the native API: in webhooks, in SSE and NDJSON streams, and in history.
    ///
    /// The order of the members is fixed and the payload is printed as it was sent, so an event always prints the same
    /// bytes.
    public var envelope: JSONText {
        var writer = JSONWriter(capacity: draft.weight + 160)
        printEnvelope(to: &writer)
        return writer.text
    }

    /// Prints the envelope as the next value of `writer`.
    ///
    /// - Parameter included: a JSON object with the related objects that the reader requested, printed as the member
    ///   `included`; nil prints no such member.
    public func printEnvelope(to writer: inout JSONWriter, included: JSONText? = nil) {
        writer.beginObject()
        writer.member("id", eventAt: timetoken)
        writer.member("type", type)
        writer.member("kind", kind.name)
        writer.member("timestamp", timetoken.timestamp)
        writer.member("timetoken", timetoken)
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
    /// This printed envelope with the additional member `included`, as ``Event/printEnvelope(to:included:)`` prints it.
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
