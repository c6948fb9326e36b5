/// A header field.
public struct HeaderField: Sendable, Hashable {
    /// The field's name.
    public var name: String
    /// The field's value.
    public var value: String

    /// Creates a field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// The content of a post about one event: the parts that are the same in all attempts.
public struct PostContent: Sendable, Equatable {
    /// The content type of JSON bodies.
    public static let json = "application/json"
    static let cloudEvent = "application/cloudevents+json"
    static let cloudEventBatch = "application/cloudevents-batch+json"

    /// The value of `content-type`.
    public var contentType: String
    /// Header fields that contain data of the event, such as the attributes of a CloudEvent in binary mode.
    public var headers: [HeaderField]
    /// The body. It is always UTF-8, because several libraries that verify signatures fail on other bytes.
    public var body: [UInt8]
    /// The trace context of the event, in its stored form (`TraceContext.stored`); nil when there is none.
    var trace: String?

    /// Creates content.
    public init(contentType: String = Self.json, headers: [HeaderField] = [], body: [UInt8]) {
        self.contentType = contentType
        self.headers = headers
        self.body = body
    }
}

extension PostContent {
    /// The form in which the queue stores the sent content: the header fields, an empty line and the body. The planner
    /// stores plain envelopes instead. The two forms differ in their first byte: an envelope begins with a brace, and a
    /// header field does not.
    var stored: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(body.count + 64 + headers.count * 48)
        for field in [HeaderField("content-type", contentType)] + headers + traceFields {
            bytes += field.name.utf8
            bytes += ": ".utf8
            bytes += field.value.utf8
            bytes += "\r\n".utf8
        }
        bytes += "\r\n".utf8
        return bytes + body
    }

    private static let traceNames = ["traceparent", "tracestate"]

    /// The lines of `trace` as header fields.
    private var traceFields: [HeaderField] {
        let lines = trace?.split(separator: "\n").map(String.init) ?? []
        return zip(Self.traceNames, lines).map { HeaderField($0, $1) }
    }

    /// Returns true when the stored bytes are a plain envelope, false when they have the form of `stored`.
    static func isEnvelope(_ stored: [UInt8]) -> Bool { stored.first == UInt8(ascii: "{") }

    /// Parses bytes in the form of `stored`; nil for other bytes.
    init?(stored: [UInt8]) {
        var fields: [HeaderField] = []
        var start = stored.startIndex
        while let end = stored[start...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = stored[start..<end].dropLast()
            start = end + 1
            if line.isEmpty {
                guard let first = fields.first, first.name == "content-type" else { return nil }
                self.init(
                    contentType: first.value,
                    headers: fields.dropFirst().filter { !Self.traceNames.contains($0.name) },
                    body: Array(stored[start...]))
                let traced = Self.traceNames.compactMap { name in fields.first { $0.name == name }?.value }
                trace = traced.isEmpty ? nil : traced.joined(separator: "\n")
                return
            }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            fields.append(
                HeaderField(
                    String(decoding: line[..<colon], as: UTF8.self),
                    String(decoding: line[(colon + 1)...].dropFirst(), as: UTF8.self)))
        }
        return nil
    }

    /// Creates one content from several contents. The body of the new content is a JSON array of the bodies. All
    /// contents must have the same content type.
    init(batch: [PostContent]) {
        var body: [UInt8] = [UInt8(ascii: "[")]
        body.reserveCapacity(batch.reduce(2) { $0 + $1.body.count + 1 })
        for (index, content) in batch.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            body += content.body
        }
        body.append(UInt8(ascii: "]"))
        let one = batch.first?.contentType ?? Self.json
        self.init(contentType: one == Self.cloudEvent ? Self.cloudEventBatch : one, body: body)
    }
}
