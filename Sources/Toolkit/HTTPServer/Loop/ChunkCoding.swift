import Text

/// The chunked transfer coding (RFC 9112, 7.1) of a live stream: every block is one chunk.
///
/// Without chunks, clients that read the body in blocks of a fixed size delay the newest events until a block is full.
/// With chunks, such clients receive each event when it arrives.
enum ChunkCoding {
    /// The bytes that end the data of a chunk.
    static let end: [UInt8] = [0x0D, 0x0A]
    /// The bytes that end the body: an empty chunk, without trailer fields.
    static let last = Array("0\r\n\r\n".utf8)

    /// Calls `body` with the first line of a chunk, which states the chunk's size of `count` bytes. `count` must not be
    /// zero, because a chunk of size zero ends the body.
    static func withHead<Result>(of count: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeTemporaryAllocation(byteCount: 18, alignment: 1) { buffer in
            var start = 16
            buffer[16] = 0x0D
            buffer[17] = 0x0A
            var rest = count
            repeat {
                start -= 1
                buffer[start] = Hex.digit(UInt8(truncatingIfNeeded: rest & 15))
                rest >>= 4
            } while rest > 0
            return body(UnsafeRawBufferPointer(rebasing: buffer[start...]))
        }
    }

    /// Appends a block as one chunk. An empty block appends nothing.
    static func append(_ block: [UInt8], to bytes: inout [UInt8]) {
        guard !block.isEmpty else { return }
        withHead(of: block.count) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: block)
        bytes.append(contentsOf: end)
    }
}
