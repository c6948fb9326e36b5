extension Pattern {
    /// The text to match, as pointers to its start and end.
    struct Text {
        let start: UnsafePointer<UInt8>
        let end: UnsafePointer<UInt8>

        @inline(__always)
        init(_ bytes: UnsafeBufferPointer<UInt8>) {
            // An empty buffer may have no address. The replacement is never read, because the text is empty.
            start = bytes.baseAddress ?? ("" as StaticString).utf8Start
            end = start + bytes.count
        }
    }
}

/// UTF-8 decoding for patterns. The text must be valid UTF-8. For other bytes, the results are undefined, but no bytes
/// outside the text are read and every call moves forward.
enum UTF8Reading {
    /// Returns the length of the UTF-8 sequence that starts with this byte.
    @inline(__always)
    static func length(_ lead: UInt8) -> Int {
        lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
    }

    /// Returns the code point at `place`, and moves `place` after it.
    @inline(__always)
    static func next(_ place: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> UInt32 {
        let lead = place.pointee
        let length = length(lead)
        guard end - place >= length else {
            place += 1
            return 0xFFFD
        }
        defer { place += length }
        func tail(_ index: Int) -> UInt32 { UInt32(place[index] & 0x3F) }
        switch length {
        case 1: return UInt32(lead)
        case 2: return UInt32(lead & 0x1F) << 6 | tail(1)
        case 3: return UInt32(lead & 0x0F) << 12 | tail(1) << 6 | tail(2)
        default: return min(0x10FFFF, UInt32(lead & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3))
        }
    }

    /// Returns the start of the UTF-8 sequence that ends at `place`. `place` must be after `start`.
    @inline(__always)
    static func before(_ place: UnsafePointer<UInt8>, _ start: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        var place = place - 1
        while place > start, place.pointee & 0xC0 == 0x80 { place -= 1 }
        return place
    }

    static func append(_ scalar: UInt32, to bytes: inout [UInt8]) {
        switch scalar {
        case ..<0x80: bytes.append(UInt8(scalar))
        case ..<0x800: bytes += [0xC0 | UInt8(scalar >> 6), tail(scalar)]
        case ..<0x10000: bytes += [0xE0 | UInt8(scalar >> 12), tail(scalar >> 6), tail(scalar)]
        default: bytes += [0xF0 | UInt8(scalar >> 18), tail(scalar >> 12), tail(scalar >> 6), tail(scalar)]
        }
    }

    private static func tail(_ scalar: UInt32) -> UInt8 { 0x80 | UInt8(scalar & 0x3F) }
}
