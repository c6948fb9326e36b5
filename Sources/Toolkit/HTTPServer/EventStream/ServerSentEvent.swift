import Glibc

/// One block of an event stream (WHATWG HTML, 9.2: server-sent events).
///
/// The fields are printed in the order `retry`, `id`, `event`, `data`. Lines end in LF, and each line of the data gets
/// its own `data:` line. Clients differ in how they handle blocks without data, so a block always has at least one
/// `data:` line.
public struct ServerSentEvent: Sendable {
    /// The last event ID that the client stores when it receives this event and sends when it reconnects; `nil` leaves
    /// the client's stored ID unchanged.
    public var id: String?
    /// The event type; `nil` omits the type, and clients then assume `message`.
    public var event: String?
    /// The payload. CRLF, CR and LF each end a line.
    public var data: [UInt8]
    /// The time that the client should wait before it reconnects, in milliseconds; `nil` leaves the client's time
    /// unchanged.
    public var retryMilliseconds: Int?

    /// Creates an event. Returns `nil` when `id` or `event` contains CR, LF or NUL, because a line break would insert
    /// other fields, or when `retryMilliseconds` is negative.
    public init?(id: String? = nil, event: String? = nil, data: [UInt8], retryMilliseconds: Int? = nil) {
        guard Self.isSafe(id), Self.isSafe(event), retryMilliseconds.map({ $0 >= 0 }) ?? true else { return nil }
        self.id = id
        self.event = event
        self.data = data
        self.retryMilliseconds = retryMilliseconds
    }

    /// The bytes of a heartbeat: a comment line. No blank line follows, because some clients would dispatch an empty
    /// event.
    public static let heartbeat: [UInt8] = [0x3A, 0x0A]

    /// The printed block, with its closing blank line.
    public var bytes: [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(data.count + 96)
        append(to: &output)
        return output
    }

    /// Appends the printed block to `output`.
    public func append(to output: inout [UInt8]) {
        if let retryMilliseconds { Self.appendField("retry: ", String(retryMilliseconds), to: &output) }
        if let id { Self.appendField("id: ", id, to: &output) }
        if let event { Self.appendField("event: ", event, to: &output) }
        appendData(to: &output)
        output.append(0x0A)
    }

    private func appendData(to output: inout [UInt8]) {
        var rest = data[...]
        while true {
            output.append(contentsOf: "data: ".utf8)
            guard let end = Self.lineEnd(in: rest) else {
                output.append(contentsOf: rest)
                output.append(0x0A)
                return
            }
            output.append(contentsOf: rest[..<end])
            output.append(0x0A)
            let isPair = rest[end] == 0x0D && end + 1 < rest.endIndex && rest[end + 1] == 0x0A
            rest = rest[(end + (isPair ? 2 : 1))...]
        }
    }

    private static func lineEnd(in text: ArraySlice<UInt8>) -> Int? {
        text.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return nil }
            let feed = memchr(start, 0x0A, bytes.count)
            let length = feed.map { start.distance(to: UnsafeRawPointer($0)) } ?? bytes.count
            let first = memchr(start, 0x0D, length) ?? feed
            return first.map { text.startIndex + start.distance(to: UnsafeRawPointer($0)) }
        }
    }

    private static func appendField(_ name: StaticString, _ value: String, to output: inout [UInt8]) {
        name.withUTF8Buffer { output.append(contentsOf: $0) }
        output.append(contentsOf: value.utf8)
        output.append(0x0A)
    }

    private static func isSafe(_ text: String?) -> Bool {
        guard let text else { return true }
        return !text.utf8.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0 }
    }
}
