/// Takes a body out of its chunks (RFC 9112, 7.1), from bytes in pieces of any size.
struct ChunkDecoder {
    private enum Place { case size, data(left: Int), dataEnd(left: Int), trailer, end }

    private var place = Place.size
    private var line: [UInt8] = []
    /// Whether something was no chunk; what follows is dropped.
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
