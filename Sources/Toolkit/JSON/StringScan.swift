/// Scanning of JSON strings, eight bytes at a time. The text may be invalid; no function reads beyond its end.
extension UnsafeBufferPointer<UInt8> {
    /// The index of the quotation mark that ends the string whose content starts at `start`; `count` if there is none.
    func endOfString(from start: Int) -> Int {
        var at = start
        while at < count {
            at = first(from: at) { $0.contains(UInt8(ascii: "\"")) | $0.contains(UInt8(ascii: "\\")) }
            guard at < count, self[at] == UInt8(ascii: "\\") else { return at }
            at += 2
        }
        return count
    }

    /// The index of the first byte from `start` that is not a plain character of a string: a quotation mark, a
    /// backslash, a control character, or a byte of a character outside ASCII. `count` if all bytes are plain.
    func endOfPlainText(from start: Int) -> Int {
        first(from: start) {
            $0.contains(UInt8(ascii: "\"")) | $0.contains(UInt8(ascii: "\\")) | $0.isControl | $0.isOutsideASCII
        }
    }

    /// The index of the first byte from `start` that a JSON string must contain as an escape: a quotation mark, a
    /// backslash or a control character. `count` if there is none.
    func endOfUnescaped(from start: Int) -> Int {
        first(from: start) { $0.contains(UInt8(ascii: "\"")) | $0.contains(UInt8(ascii: "\\")) | $0.isControl }
    }

    /// The index of the first byte, not before `start`, that passes a test; `count` if there is none. `marks` applies
    /// the test to eight bytes and returns the mask of the result; see ``ByteWord``.
    @inline(__always)
    private func first(from start: Int, _ marks: (ByteWord) -> UInt64) -> Int {
        var at = start
        let bytes = UnsafeRawBufferPointer(self)
        while at + 8 <= count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
            let found = marks(ByteWord(bytes: word))
            guard found == 0 else { return at + found.trailingZeroBitCount / 8 }
            at += 8
        }
        if at < count, count >= 8 {
            // Tests the bytes from `at`, followed by spaces. They are read together with the bytes before them.
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
            let shift = UInt64(8 * (at + 8 - count))
            let found = marks(ByteWord(bytes: word >> shift | ByteWord.spaces << (64 - shift)))
            return found == 0 ? count : at + found.trailingZeroBitCount / 8
        }
        while at < count {
            guard marks(ByteWord(bytes: ByteWord.blanks | UInt64(self[at]))) == 0 else { return at }
            at += 1
        }
        return count
    }
}

/// Eight bytes in one integer, with the first byte in the lowest bits. Each test returns a mask in which the highest
/// bit of a byte is set if this byte passes the test. After the first byte that passes, the mask may also mark bytes
/// that do not pass, so use only the lowest bit that is set.
private struct ByteWord {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highest: UInt64 = 0x8080_8080_8080_8080
    /// Seven spaces, which pass no test, after a zero as the first byte. Used to test a single byte, which replaces the
    /// zero.
    static let blanks: UInt64 = 0x2020_2020_2020_2000
    /// Eight spaces, which pass no test.
    static let spaces: UInt64 = 0x2020_2020_2020_2020

    let bytes: UInt64

    @inline(__always)
    func contains(_ byte: UInt8) -> UInt64 {
        let difference = bytes ^ (Self.ones &* UInt64(byte))
        return (difference &- Self.ones) & ~difference & Self.highest
    }

    @inline(__always)
    var isControl: UInt64 { (bytes &- Self.ones &* 0x20) & ~bytes & Self.highest }

    @inline(__always)
    var isOutsideASCII: UInt64 { bytes & Self.highest }
}
