extension Format {
    /// A position in bytes that belong to the caller, with functions that skip or parse parts of them.
    ///
    /// Every operation checks for the end first, so no bytes after the end are read, even if the text is not valid
    /// UTF-8.
    struct Scanner {
        let bytes: UnsafeBufferPointer<UInt8>
        private(set) var offset = 0

        init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

        var isAtEnd: Bool { offset == bytes.count }

        var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

        func isNext(_ character: Unicode.Scalar) -> Bool {
            offset < bytes.count && UInt32(bytes[offset]) == character.value
        }

        mutating func accept(_ character: Unicode.Scalar) -> Bool {
            guard isNext(character) else { return false }
            offset += 1
            return true
        }

        /// Skips a letter in upper or lower case. `capital` is the upper-case letter. Returns false and skips nothing
        /// if another character follows.
        mutating func skipLetter(_ capital: Unicode.Scalar) -> Bool {
            guard offset < bytes.count, UInt32(bytes[offset] & 0xDF) == capital.value else { return false }
            offset += 1
            return true
        }

        mutating func accept(in set: ByteSet) -> Bool {
            guard offset < bytes.count, set.contains(bytes[offset]) else { return false }
            offset += 1
            return true
        }

        /// Skips bytes of `set` and returns their number.
        @discardableResult
        mutating func skip(_ set: ByteSet) -> Int {
            let start = offset
            while offset < bytes.count, set.contains(bytes[offset]) { offset += 1 }
            return offset - start
        }

        /// Parses a number of exactly `width` digits. Returns nil when there are fewer.
        mutating func parseNumber(width: Int) -> Int? {
            guard bytes.count - offset >= width else { return nil }
            var number = 0
            for byte in bytes[offset..<offset + width] {
                guard ByteSet.digits.contains(byte) else { return nil }
                number = number * 10 + Int(byte & 0x0F)
            }
            offset += width
            return number
        }

        /// Skips a percent sign and two hexadecimal digits. Returns false and skips nothing if they do not follow.
        mutating func skipPercentTriplet() -> Bool {
            guard bytes.count - offset >= 3, bytes[offset] == UInt8(ascii: "%"),
                ByteSet.hexadecimal.contains(bytes[offset + 1]), ByteSet.hexadecimal.contains(bytes[offset + 2])
            else { return false }
            offset += 3
            return true
        }

        /// Parses one Unicode scalar. Returns nil at the end, and for bytes that are not UTF-8.
        mutating func parseScalar() -> UInt32? {
            guard offset < bytes.count else { return nil }
            let lead = bytes[offset]
            if lead < 0x80 {
                offset += 1
                return UInt32(lead)
            }
            let length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
            guard lead >= 0xC2, lead <= 0xF4, bytes.count - offset >= length else { return nil }
            var scalar = UInt32(lead) & (0x7F >> UInt32(length))
            for byte in bytes[offset + 1..<offset + length] {
                guard byte & 0xC0 == 0x80 else { return nil }
                scalar = scalar << 6 | UInt32(byte & 0x3F)
            }
            offset += length
            return scalar
        }

        /// The remaining bytes, for another scanner.
        var rest: UnsafeBufferPointer<UInt8> { self[offset..<bytes.count] }

        subscript(range: Range<Int>) -> UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: bytes[range]) }

        mutating func move(to offset: Int) { self.offset = offset }

        /// Returns the number of bytes from the position to the next `character`, or to the end if there is none.
        func distance(to character: Unicode.Scalar) -> Int {
            var end = offset
            while end < bytes.count, UInt32(bytes[end]) != character.value { end += 1 }
            return end
        }
    }

    /// A set of ASCII characters, with one bit for each. Bytes outside ASCII are never members.
    struct ByteSet {
        private var low: UInt64 = 0
        private var high: UInt64 = 0

        init(_ characters: StaticString) {
            for index in 0..<characters.utf8CodeUnitCount {
                let byte = characters.utf8Start[index]
                if byte < 64 { low |= 1 &<< UInt64(byte) } else { high |= 1 &<< UInt64(byte & 63) }
            }
        }

        private init(low: UInt64, high: UInt64) {
            self.low = low
            self.high = high
        }

        func contains(_ byte: UInt8) -> Bool {
            guard byte < 128 else { return false }
            return (byte < 64 ? low : high) &>> UInt64(byte & 63) & 1 == 1
        }

        static func + (left: ByteSet, right: ByteSet) -> ByteSet {
            var sum = left
            sum.low |= right.low
            sum.high |= right.high
            return sum
        }

        // The sets are defined by masks, so that the compiler treats them as constants. This is faster, because sets
        // are tested for every byte.
        static var digits: ByteSet { ByteSet(low: 0x3FF << 48, high: 0) }
        static var letters: ByteSet { ByteSet(low: 0, high: 0x7FF_FFFE << 32 | 0x7FF_FFFE) }
        static var hexadecimal: ByteSet { digits + ByteSet(low: 0, high: 0x7E << 32 | 0x7E) }
        static var alphanumerics: ByteSet { letters + digits }
        /// All printable characters, including the space.
        static var printable: ByteSet { ByteSet(low: 0xFFFF_FFFF << 32, high: .max >> 1) }

        func subtracting(_ other: ByteSet) -> ByteSet {
            var rest = self
            rest.low &= ~other.low
            rest.high &= ~other.high
            return rest
        }
    }
}

/// Checks of JSON Pointers (RFC 6901) and relative JSON Pointers (draft-handrews-relative-json-pointer-01).
extension Format {
    static func isJSONPointer(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = text.first else { return true }
        guard first == UInt8(ascii: "/") else { return false }
        var scanner = Scanner(text)
        while !scanner.isAtEnd {
            scanner.move(to: scanner.distance(to: "~"))
            if scanner.accept("~") { guard scanner.accept("0") || scanner.accept("1") else { return false } }
        }
        return true
    }

    static func isRelativeJSONPointer(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var scanner = Scanner(text)
        if !scanner.accept("0") { guard scanner.skip(.digits) > 0 else { return false } }
        return scanner.accept("#") ? scanner.isAtEnd : isJSONPointer(scanner.rest)
    }
}
