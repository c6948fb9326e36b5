import Locking

/// A live stream as a client sees it: the response header, then events or lines as they arrive.
///
/// Supports one reading task at a time.
public final class EventStreamReader: Sendable {
    private struct State {
        var chunks = ChunkDecoder()
        var parser = EventStreamParser()
        var items: [EventStreamParser.Item] = []
        var line: [UInt8] = []
        var lines: [String] = []
        var raw: [UInt8] = []
        var received = 0
    }

    public let status: Int
    public let headers: [(name: String, value: String)]
    private let connection: ByteConnection
    private let isLines: Bool
    private let isChunked: Bool
    private let state = Lock(State())

    /// Sends a `GET` and returns when the response header has arrived.
    ///
    /// - Parameter receiveBuffer: see `ByteConnection`.
    public init(
        port: UInt16, target: String, headers: [(String, String)] = [], receiveBuffer: Int32? = nil
    ) async throws {
        connection = try ByteConnection(port: port, receiveBuffer: receiveBuffer)
        try connection.send(HTTPExchange.request("GET", target, headers: headers, body: ""))
        var bytes: [UInt8] = []
        while HTTPExchange.headEnd(bytes) == nil, let more = await connection.next() { bytes += more }
        let (status, fields, end) = try HTTPExchange.parseHead(bytes)
        self.status = status
        self.headers = fields
        isLines = fields.contains { $0.name.lowercased() == "content-type" && $0.value.contains("ndjson") }
        isChunked = fields.contains { $0.name.lowercased() == "transfer-encoding" && $0.value == "chunked" }
        digest(Array(bytes[end...]))
    }

    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    private func digest(_ received: [UInt8]) {
        state.withLock { state in
            state.received += received.count
            let bytes = isChunked ? state.chunks.decode(received) : received
            state.raw += bytes
            guard isLines else {
                state.items += state.parser.parse(bytes)
                return
            }
            for byte in bytes {
                guard byte == 0x0A else {
                    state.line.append(byte)
                    continue
                }
                state.lines.append(String(decoding: state.line, as: UTF8.self))
                state.line = []
            }
        }
    }

    /// Returns the next event or comment, or nil at the end of the stream.
    public func nextItem() async -> EventStreamParser.Item? {
        while true {
            let item = state.withLock { $0.items.isEmpty ? nil : $0.items.removeFirst() }
            if let item { return item }
            guard let bytes = await connection.next() else { return nil }
            digest(bytes)
        }
    }

    /// Returns the next event, without comments, or nil at the end of the stream.
    public func next() async -> EventStreamParser.Event? {
        while let item = await nextItem() {
            if case .event(let event) = item { return event }
        }
        return nil
    }

    /// Returns the next line of an NDJSON stream, or nil at its end.
    public func nextLine() async -> String? {
        while true {
            let line = state.withLock { $0.lines.isEmpty ? nil : $0.lines.removeFirst() }
            if let line { return line }
            guard let bytes = await connection.next() else { return nil }
            digest(bytes)
        }
    }

    /// True when the body ended with its last chunk and all bytes were in chunks.
    public var isWhole: Bool { state.withLock { isChunked && $0.chunks.isAtEnd && !$0.chunks.isBroken } }
    /// All bytes after the header, without the chunk headers.
    public var rawBytes: [UInt8] { state.withLock { $0.raw } }
    /// The number of bytes with the chunk headers, as the sender counts them.
    public var receivedBytes: Int { state.withLock { $0.received } }
    /// The id that an EventSource would send if it reconnected now.
    public var lastEventID: String { state.withLock { $0.parser.lastEventID } }
    /// The number of faults of the stream: invalid UTF-8, and blocks without data.
    public var faults: Int { state.withLock { $0.parser.brokenLines + $0.parser.emptyBlocks } }

    public func pause() { connection.pause() }
    public func resume() { connection.resume() }
    /// Disconnects like a client whose page was closed.
    public func close() { connection.close() }
}

/// Decodes a chunked body (RFC 9112, section 7.1) from bytes in pieces of any size.
struct ChunkDecoder {
    private enum Place { case size, data(left: Int), dataEnd(left: Int), trailer, end }

    private var place = Place.size
    private var line: [UInt8] = []
    /// True after invalid chunk framing. Everything after it is dropped.
    private(set) var isBroken = false

    var isAtEnd: Bool { if case .end = place { true } else { false } }

    mutating func decode(_ bytes: [UInt8]) -> [UInt8] {
        var body: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.first, !isBroken {
            switch place {
            case .data(let left):
                let part = rest.prefix(left)
                body += part
                rest = rest.dropFirst(part.count)
                place = part.count == left ? .dataEnd(left: 2) : .data(left: left - part.count)
                continue
            case .dataEnd(let left):
                isBroken = byte != (left == 2 ? 0x0D : 0x0A)
                place = left == 2 ? .dataEnd(left: 1) : .size
            case .size, .trailer: takeLineByte(byte)
            case .end: isBroken = true
            }
            rest = rest.dropFirst()
        }
        return body
    }

    private mutating func takeLineByte(_ byte: UInt8) {
        line.append(byte)
        guard line.suffix(2) == [0x0D, 0x0A] else { return }
        let text = String(decoding: line.dropLast(2), as: UTF8.self)
        line = []
        if case .trailer = place {
            if text.isEmpty { place = .end }
        } else if let size = Int(text, radix: 16), size >= 0 {
            place = size == 0 ? .trailer : .data(left: size)
        } else {
            isBroken = true
        }
    }
}
