import CLinux
import Glibc

/// Takes the heads of chunks out of a body, in place, wherever the pieces were cut (RFC 9112, 7.1).
struct ChunkDecoder {
    private enum Place: UInt8 { case size, rest, data, end }

    private var place = Place.size
    private var left = 0
    private(set) var isOver = false

    /// Moves what belongs to the body together.
    /// - Returns: how much that is.
    mutating func decode(_ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
        var (read, written) = (0, 0)
        while read < count, !isOver {
            switch place {
            case .size, .rest:
                takeHead(bytes.load(fromByteOffset: read, as: UInt8.self))
                read += 1
            case .data:
                let length = min(left, count - read)
                if written != read { memmove(bytes + written, bytes + read, length) }
                read += length
                written += length
                left -= length
                if left == 0 { place = .end }
            case .end:
                if bytes.load(fromByteOffset: read, as: UInt8.self) == 0x0A { place = .size }
                read += 1
            }
        }
        return written
    }

    private mutating func takeHead(_ byte: UInt8) {
        switch byte {
        case 0x0A:
            isOver = left == 0
            place = .data
        case 0x30...0x39 where place == .size: left = left << 4 | Int(byte - 0x30)
        case 0x41...0x46 where place == .size: left = left << 4 | Int(byte - 0x41 + 10)
        case 0x61...0x66 where place == .size: left = left << 4 | Int(byte - 0x61 + 10)
        default: place = .rest  // an extension, or the carriage return
        }
    }
}
