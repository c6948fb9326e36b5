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
    private var bodyTotal = 0

    /// What follows from a header line.
    enum HeaderVerdict { case more, complete, stop }

    /// Takes one line with its end. Interim answers (1xx) are dropped but counted, so that an endless row of them ends.
    mutating func take(headerLine line: UnsafeRawBufferPointer, limit: Int) -> HeaderVerdict {
        headerTotal += line.count
        guard headerTotal <= limit else { return .stop }
        if line.starts(with: "HTTP/".utf8) {
            headerBytes.removeAll(keepingCapacity: true)
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
            guard !Self.namesForeignCoding(line) else { return .stop }
            headerBytes.append(contentsOf: line)
        }
        return .more
    }

    /// Takes a piece of the body; `false` to stop reading.
    mutating func take(body bytes: UnsafeRawBufferPointer, keeping kept: Int, limit: Int) -> Bool {
        bodyTotal += bytes.count
        let room = kept - body.count
        if room > 0 { body.append(contentsOf: bytes.prefix(room)) }
        if bodyTotal > kept { isTruncated = true }
        reachedBodyLimit = bodyTotal >= limit
        return !reachedBodyLimit
    }

    /// Whether a line announces a transfer coding other than chunks.
    ///
    /// libcurl undoes those it knows though nobody asked for them, and with zstd the receiver would choose how many
    /// megabytes that takes.
    private static func namesForeignCoding(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let first = line.first, first | 0x20 == UInt8(ascii: "t") else { return false }
        let text = String(decoding: line, as: UTF8.self).lowercased()
        guard text.hasPrefix("transfer-encoding:") else { return false }
        return text.dropFirst(18).filter { !$0.isWhitespace } != "chunked"
    }

    /// The three digits behind the version (RFC 9112, 4); libcurl has refused whatever is not a status line.
    private static func status(in line: UnsafeRawBufferPointer) -> Int? {
        guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        return Int(String(decoding: line[(space + 1)...].prefix(3), as: UTF8.self))
    }
}
