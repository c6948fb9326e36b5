/// The first and the last eight bytes of a text, overlapping when it is shorter than sixteen; a text of less than eight
/// bytes stands twice, at the upper end of the word. With the length, texts of up to sixteen bytes are told apart exactly.
struct NameWords: BitwiseCopyable, Equatable {
    var first: UInt64 = 0
    var last: UInt64 = 0

    @inline(__always) init() {}

    @inline(__always) init(first: UInt64, last: UInt64) {
        self.first = first
        self.last = last
    }

    /// Reads no byte outside the text.
    @inline(__always) init(_ bytes: UnsafePointer<UInt8>, _ length: Int) {
        let raw = UnsafeRawPointer(bytes)
        if length >= 8 {
            first = UInt64(littleEndian: raw.loadUnaligned(as: UInt64.self))
            last = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: length &- 8, as: UInt64.self))
        } else {
            first = Self.short(raw, length)
            last = first
        }
    }

    @inline(__always) private static func short(_ raw: UnsafeRawPointer, _ length: Int) -> UInt64 {
        if length >= 4 {
            let low = UInt64(UInt32(littleEndian: raw.loadUnaligned(as: UInt32.self)))
            let high = UInt64(UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: length &- 4, as: UInt32.self)))
            return high &<< 32 | low &<< UInt64(truncatingIfNeeded: 64 &- 8 &* length)
        }
        guard length > 0 else { return 0 }
        let low = UInt64(raw.load(as: UInt8.self)) &<< UInt64(truncatingIfNeeded: 64 &- 8 &* length)
        let middle = UInt64(raw.load(fromByteOffset: length >> 1, as: UInt8.self))
        let high = UInt64(raw.load(fromByteOffset: length - 1, as: UInt8.self))
        return low | middle &<< UInt64(truncatingIfNeeded: 64 &- 8 &* length &+ 8 &* (length >> 1)) | high &<< 56
    }

    @inline(__always) func mixed(_ length: Int) -> UInt64 {
        (first ^ (last &<< 23 | last &>> 41)) &+ UInt64(truncatingIfNeeded: length)
    }
}

/// How a plan's evaluator reads nodes.
protocol PlanAccess: NodeAccess {
    static func words(ofName name: UnsafePointer<UInt8>, length: Int) -> NameWords
}

extension PublicAccess: PlanAccess {
    @inline(__always) static func words(ofName name: UnsafePointer<UInt8>, length: Int) -> NameWords {
        NameWords(name, length)
    }
}

extension LayoutAccess: PlanAccess {
    /// Without a branch on the length: a member's name stands right behind its length, a little-endian word whose upper
    /// bytes are zero, so that eight bytes up to the end of a short name are the name behind zeros.
    @inline(__always) static func words(ofName name: UnsafePointer<UInt8>, length: Int) -> NameWords {
        let raw = UnsafeRawPointer(name) + (length &- 8)
        let last = raw.loadUnaligned(as: UInt64.self)
        let first = UnsafeRawPointer(name).loadUnaligned(fromByteOffset: min(0, length &- 8), as: UInt64.self)
        return NameWords(first: first, last: last)
    }
}
