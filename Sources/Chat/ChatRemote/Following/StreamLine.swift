import ChatModel
import JSON

/// A line of an NDJSON stream.
enum StreamLine: Sendable {
    case heartbeat
    case event(Event)
    /// A control line, `{"event":"stream.ready","data":{…}}`: about the stream, not an event of the log.
    case control(String, JSONValue)
    /// An unknown line, from a newer gateway or from another server.
    case unknown

    init(_ bytes: [UInt8]) {
        if bytes.isEmpty {
            self = .heartbeat
            return
        }
        guard let document = try? JSONDocument(bytes, limits: JSONLimits(depth: 2048), numbers: .any) else {
            self = .unknown
            return
        }
        if let event = Event(envelope: document.text) {
            self = .event(event)
        } else if let name = document.root["event"]?.string, let data = document.root["data"] {
            self = .control(name, data)
        } else {
            self = .unknown
        }
    }
}

/// Splits a byte stream into lines.
struct LineSplitter: Sendable {
    /// The maximum line length: the largest event, with room. A gateway sends no longer line.
    private static let limit = 32 * 1024 * 1024
    private var rest: [UInt8] = []

    /// Returns the lines that are now complete, without their line ends.
    mutating func lines(in bytes: [UInt8]) throws(ChatError) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var start = bytes.startIndex
        while let end = bytes[start...].firstIndex(of: 0x0A) {
            lines.append(rest + bytes[start..<end])
            rest = []
            start = end + 1
        }
        rest += bytes[start...]
        guard rest.count <= Self.limit else { throw .foreignAnswer }
        return lines
    }
}
