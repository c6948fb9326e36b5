/// Takes an answer's header lines and body as they come, keeps what is to be kept and says when to stop.
struct ResponseReader {
    /// The status of the final answer, once its header is complete.
    private(set) var status: Int?
    private(set) var headerBytes: [UInt8] = []
    private(set) var body: [UInt8] = []
    /// Whether the body was longer than what is kept.
    private(set) var isTruncated = false
    /// Whether reading stopped because the body reached its limit.
    private(set) var reachedBodyLimit = false
    private var pendingStatus: Int?
    private var headerTotal = 0
    /// Of the body with its framing.
    private var bodyTotal = 0
    /// For a body in chunks.
    private var chunks: ChunkDecoder?

    /// What follows from a header line.
    enum HeaderVerdict { case more, complete, stop }

    /// Takes one line with its end. Interim answers (1xx) are dropped but counted, so that an endless row of them ends.
    mutating func take(headerLine line: UnsafeRawBufferPointer, limit: Int) -> HeaderVerdict {
        headerTotal += line.count
        guard headerTotal <= limit else { return .stop }
        if line.starts(with: "HTTP/".utf8) {
            headerBytes.removeAll(keepingCapacity: true)
            chunks = nil
            pendingStatus = Self.status(in: line)
            // What follows would not be HTTP any more, and nobody asked for something else.
            if pendingStatus == 101 { return .stop }
        } else if status != nil {
            // A trailer. Nobody asked for one.
        } else if line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n") {
            guard let code = pendingStatus, code >= 200 else { return .more }
            status = code
            return .complete
        } else {
            if let coding = Self.transferCoding(line) {
                // libcurl undoes those it knows though nobody asked for them, and with zstd the receiver would choose how
                // many megabytes that takes.
                guard coding == "chunked" else { return .stop }
                chunks = ChunkDecoder()
            }
            headerBytes.append(contentsOf: line)
        }
        return .more
    }

    /// Takes a piece of the body as it came, chunks with their framing; `false` to stop reading.
    mutating func take(body bytes: UnsafeRawBufferPointer, keeping kept: Int, limit: Int) -> Bool {
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

    /// The codings a line announces, in lower case without white space, if that is what the line is for.
    private static func transferCoding(_ line: UnsafeRawBufferPointer) -> String? {
        guard let first = line.first, first | 0x20 == UInt8(ascii: "t") else { return nil }
        let text = String(decoding: line, as: UTF8.self).lowercased()
        guard text.hasPrefix("transfer-encoding:") else { return nil }
        return text.dropFirst(18).filter { !$0.isWhitespace }
    }

    /// The three digits behind the version (RFC 9112, 4); libcurl has refused whatever is not a status line.
    private static func status(in line: UnsafeRawBufferPointer) -> Int? {
        guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        return Int(String(decoding: line[(space + 1)...].prefix(3), as: UTF8.self))
    }
}
