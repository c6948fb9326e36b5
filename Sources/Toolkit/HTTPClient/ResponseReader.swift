/// Receives the header lines and the body of a response. Stores the status, the header fields and the first bytes of
/// the body, and decides when to stop reading.
struct ResponseReader {
    /// The status of the final response; `nil` until its header is complete.
    private(set) var status: Int?
    private(set) var headerBytes: [UInt8] = []
    private(set) var body: [UInt8] = []
    /// True when the body is longer than the part that is stored.
    private(set) var isTruncated = false
    /// True when reading stopped because the body reached its limit.
    private(set) var reachedBodyLimit = false
    private var pendingStatus: Int?
    private var headerTotal = 0
    /// The number of body bytes received, including the framing of chunks.
    private var bodyTotal = 0
    /// The decoder of a chunked body; `nil` for any other body.
    private var chunks: ChunkDecoder?

    /// The result of receiving a header line: more lines follow, the header is complete, or reading must stop.
    enum HeaderVerdict { case more, complete, stop }

    /// Receives one header line, including its line break. Interim responses (1xx) are discarded, but their bytes count
    /// towards the limit, so that a server cannot send an endless series of them.
    mutating func receive(headerLine line: UnsafeRawBufferPointer, limit: Int) -> HeaderVerdict {
        headerTotal += line.count
        guard headerTotal <= limit else { return .stop }
        if line.starts(with: "HTTP/".utf8) {
            headerBytes.removeAll(keepingCapacity: true)
            chunks = nil
            pendingStatus = Self.status(in: line)
            // A 101 response ends HTTP on the connection. It is an error, because the client never requests an upgrade.
            if pendingStatus == 101 { return .stop }
        } else if status != nil {
            // The line is a trailer, which is ignored.
        } else if line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n") {
            guard let code = pendingStatus, code >= 200 else { return .more }
            status = code
            return .complete
        } else {
            if let coding = Self.transferCoding(line) {
                // Other codings are rejected. libcurl would decode them although the client has not requested them, and
                // with zstd the sender of the response could make the decoder use many megabytes of memory.
                guard coding == "chunked" else { return .stop }
                chunks = ChunkDecoder()
            }
            headerBytes.append(contentsOf: line)
        }
        return .more
    }

    /// Receives a piece of the body, including the framing of chunks. Returns false when reading must stop, because
    /// `limit` bytes of the body have been received. Stores at most the first `kept` bytes of the decoded body.
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

    /// Returns the value of a `Transfer-Encoding` line, in lower case and without white space; `nil` for any other
    /// line.
    private static func transferCoding(_ line: UnsafeRawBufferPointer) -> String? {
        guard let first = line.first, first | 0x20 == UInt8(ascii: "t") else { return nil }
        let text = String(decoding: line, as: UTF8.self).lowercased()
        guard text.hasPrefix("transfer-encoding:") else { return nil }
        return text.dropFirst(18).filter { !$0.isWhitespace }
    }

    /// Returns the status code of a status line (RFC 9112, 4); `nil` for an invalid line, which libcurl has already
    /// rejected.
    private static func status(in line: UnsafeRawBufferPointer) -> Int? {
        guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        return Int(String(decoding: line[(space + 1)...].prefix(3), as: UTF8.self))
    }
}
