/// Removes the framing of a chunked body (RFC 9112, 7.1).
///
/// libcurl could do this, but would then not report extensions and trailers, so that endless ones would keep the loop
/// busy with bytes that count towards no limit. libcurl still finds the end of the body and rejects malformed framing;
/// this decoder ignores errors.
struct ChunkDecoder {
    private enum State {
        case size
        /// The rest of the line with the chunk size.
        case sizeLine
        case data(missing: Int)
        /// The line end after the data of a chunk.
        case dataLine
        case over
    }

    private var state = State.size
    private var size = 0

    /// True when the last chunk has arrived. Trailers may follow.
    var isOver: Bool { if case .over = state { true } else { false } }

    /// Decodes the next piece of the body.
    ///
    /// - Parameter body: called with the pieces that are content.
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
