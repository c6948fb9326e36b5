package import JSON

/// A line of an NDJSON stream (docs/streams.md).
package enum StreamLine: Sendable {
    case heartbeat
    /// An event: a JSON object with a timetoken and a type.
    case event(JSONDocument)
    /// A control line, such as `{"event":"stream.ready","data":{…}}`. It is about the stream and not an event of the
    /// log.
    case control(String, JSONValue)
    /// An unknown line, from a newer gateway or from another server.
    case unknown
    /// A line longer than any event.
    case tooLong

    init(_ line: LineSplitter.Line) {
        guard case .complete(let bytes) = line else {
            self = .tooLong
            return
        }
        if bytes.allSatisfy({ $0 == 0x20 }) {
            self = .heartbeat
            return
        }
        guard let document = try? JSONDocument(bytes, limits: JSONLimits(depth: 2048), numbers: .any) else {
            self = .unknown
            return
        }
        if document.root["timetoken"]?.string != nil, document.root["type"]?.string != nil {
            self = .event(document)
        } else if let name = document.root["event"]?.string, let data = document.root["data"] {
            self = .control(name, data)
        } else {
            self = .unknown
        }
    }
}
