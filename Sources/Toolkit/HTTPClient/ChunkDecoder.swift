/// Decodes the chunked transfer coding of a body (RFC 9112, 7.1).
///
/// libcurl could decode the chunks, but it would not report the bytes of chunk extensions and trailers. A server could
/// then send endless extensions that count towards no limit. libcurl still detects the end of the body and rejects
/// malformed chunks, so this decoder ignores errors.
struct ChunkDecoder {
    private enum State {
        case size
        /// The rest of the line with the chunk size.
        case sizeLine
        case data(missing: Int)
        /// The line break after the data of a chunk.
        case dataLine
        case over
    }

    private var state = State.size
    private var size = 0

    /// True when the last chunk has been decoded. Trailers may follow.
    var isOver: Bool { if case .over = state { true } else { false } }

    /// Decodes the next received piece of the body.
    ///
    /// - Parameter body: called with each part of the piece that is content.
    mutating func decode(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
        var rest = bytes[...]
        while let byte = rest.first {
            switch state {
            case .over: return
            case .data(let missing):
                let piece = rest.prefix(missing)
                body(UnsafeRawBufferPointer(rebasing: piece))
                rest = rest[piece.endIndex...]
                state = piece.count == missing ? .dataLine : .data(missing: missing - piece.count)
                continue
            case .size:
                if let digit = Character(Unicode.Scalar(byte)).hexDigitValue {
                    size = size > Int.max >> 4 ? Int.max : size << 4 | digit
                } else {
                    state = .sizeLine
                    continue
                }
            case .sizeLine where byte == UInt8(ascii: "\n"):
                state = size == 0 ? .over : .data(missing: size)
                size = 0
            case .dataLine where byte == UInt8(ascii: "\n"):
                state = .size
            case .sizeLine, .dataLine: break
            }
            rest = rest.dropFirst()
        }
    }
}
