/// The first and the last eight bytes of a text as words, for fast comparison. The words of a text shorter than 16
/// bytes overlap. A text shorter than 8 bytes is in the high bytes of both words. Two texts of at most 16 bytes are
/// equal if their lengths and both words are equal.
struct NameWords: BitwiseCopyable, Equatable {
    var first: UInt64 = 0
    var last: UInt64 = 0

    @inline(__always) init() {}

    @inline(__always) init(first: UInt64, last: UInt64) {
        self.first = first
        self.last = last
    }

    /// Creates the words of a text. Reads no bytes outside the text.
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

/// The access method of a plan's evaluator.
protocol PlanAccess: NodeAccess {
    static func words(ofName name: UnsafePointer<UInt8>, length: Int) -> NameWords
}

extension PublicAccess: PlanAccess {
    @inline(__always) static func words(ofName name: UnsafePointer<UInt8>, length: Int) -> NameWords {
        NameWords(name, length)
    }
}

extension LayoutAccess: PlanAccess {
    /// Returns the words of a member's name without a branch on the length. In memory, the name directly follows its
    /// length, which is a little-endian word whose upper bytes are zero. Therefore the eight bytes before the end of a
    /// short name are zeros followed by the name.
    @inline(__always) static func words(ofName name: UnsafePointer<UInt8>, length: Int) -> NameWords {
        let raw = UnsafeRawPointer(name) + (length &- 8)
        let last = raw.loadUnaligned(as: UInt64.self)
        let first = UnsafeRawPointer(name).loadUnaligned(fromByteOffset: min(0, length &- 8), as: UInt64.self)
        return NameWords(first: first, last: last)
    }
}
