/// Takes a response's header lines and body as they arrive, keeps the required part and decides when to stop.
struct ResponseReader {
    /// The status of the final response, once its header is complete.
    private(set) var status: Int?
    private(set) var headerBytes: [UInt8] = []
    private(set) var body: [UInt8] = []
    /// True when the body was longer than the part that is kept.
    private(set) var isTruncated = false
    /// True when reading stopped because the body reached its limit.
    private(set) var reachedBodyLimit = false
    private var pendingStatus: Int?
    private var headerTotal = 0
    /// The number of body bytes received, framing included.
    private var bodyTotal = 0
    /// The decoder of a chunked body.
    private var chunks: ChunkDecoder?

    /// The consequence of a header line.
    enum HeaderVerdict { case more, complete, stop }

    /// Takes one line with its line end. Interim responses (1xx) are dropped but counted, so that an endless series of
    /// them ends.
    mutating func receive(headerLine line: UnsafeRawBufferPointer, limit: Int) -> HeaderVerdict {
        headerTotal += line.count
        guard headerTotal <= limit else { return .stop }
        if line.starts(with: "HTTP/".utf8) {
            headerBytes.removeAll(keepingCapacity: true)
            chunks = nil
            pendingStatus = Self.status(in: line)
            // After a 101 the connection no longer carries HTTP, and the client never requests an upgrade.
            if pendingStatus == 101 { return .stop }
        } else if status != nil {
            // A trailer, which the client never requests.
        } else if line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n") {
            guard let code = pendingStatus, code >= 200 else { return .more }
            status = code
            return .complete
        } else {
            if let coding = Self.transferCoding(line) {
                // libcurl would decode the codings it knows although the client did not request them, and with zstd
                // the receiver would choose how many megabytes that takes.
                guard coding == "chunked" else { return .stop }
                chunks = ChunkDecoder()
            }
            headerBytes.append(contentsOf: line)
        }
        return .more
    }

    /// Takes a piece of the body as received, with the framing of chunks. Returns false to stop reading.
    mutating func receive(body bytes: UnsafeRawBufferPointer, keeping kept: Int, limit: Int) -> Bool {
        bodyTotal += bytes.count
        reachedBodyLimit = bodyTotal >= limit
        if var chunks {
            chunks.decode(bytes) { keep($0, kept) }
            self.chunks = chunks
            if reachedBodyLimit, !chunks.isOver { isTruncated = true }
        } else {
            keep(bytes, kept)
        }
        return !reachedBodyLimit
    }

    private mutating func keep(_ bytes: UnsafeRawBufferPointer, _ kept: Int) {
        let room = kept - body.count
        if room > 0 { body.append(contentsOf: bytes.prefix(room)) }
        if bytes.count > room { isTruncated = true }
    }

    /// The codings that a `Transfer-Encoding` line announces, in lower case without white space; `nil` for any other
    /// line.
    private static func transferCoding(_ line: UnsafeRawBufferPointer) -> String? {
        guard let first = line.first, first | 0x20 == UInt8(ascii: "t") else { return nil }
        let text = String(decoding: line, as: UTF8.self).lowercased()
        guard text.hasPrefix("transfer-encoding:") else { return nil }
        return text.dropFirst(18).filter { !$0.isWhitespace }
    }

    /// The three digits after the version (RFC 9112, 4). libcurl has already rejected anything that is not a status
    /// line.
    private static func status(in line: UnsafeRawBufferPointer) -> Int? {
        guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        return Int(String(decoding: line[(space + 1)...].prefix(3), as: UTF8.self))
    }
}
