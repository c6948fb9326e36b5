import JSON

/// A line of an NDJSON stream (`product.md` 7).
enum StreamLine: Sendable {
    case heartbeat
    case event(JSONText, JSONDocument)
    /// `{"event":"stream.ready","data":{…}}`: about the stream, not of the log.
    case control(String, JSONDocument)
    /// Nothing we know: from a newer gateway, or from something else.
    case unknown

    init(_ bytes: [UInt8]) {
        guard !bytes.allSatisfy({ $0 == 0x20 }) else {
            self = .heartbeat
            return
        }
        guard let document = try? JSONDocument(bytes, limits: JSONLimits(depth: 2048), numbers: .lenient) else {
            self = .unknown
            return
        }
        if document.root["timetoken"]?.string != nil, document.root["type"]?.string != nil {
            self = .event(document.text, document)
        } else if let name = document.root["event"]?.string {
            self = .control(name, document)
        } else {
            self = .unknown
        }
    }
}
