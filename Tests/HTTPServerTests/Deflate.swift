/// A zlib stream (RFC 1950) of `repeats` times 258 zeros plus one: thirteen bits for each 258, a classic decompression
/// bomb.
func deflatedZeros(repeats: Int) -> [UInt8] {
    var bits = BitWriter()
    bits.append(1, count: 1)  // last block
    bits.append(1, count: 2)  // fixed Huffman codes
    bits.appendCode(0x30, count: 8)  // literal 0
    for _ in 0..<repeats {
        bits.appendCode(0b1100_0101, count: 8)  // length 258
        bits.appendCode(0, count: 5)  // distance 1
    }
    bits.appendCode(0, count: 7)  // end of block
    let length = 258 * repeats + 1
    let adler = UInt32(length % 65_521) << 16 | 1
    return [0x78, 0x9C] + bits.bytes + (0..<4).map { UInt8(truncatingIfNeeded: adler >> UInt32(24 - 8 * $0)) }
}

private struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var used = 8

    /// Appends the least significant bit first.
    mutating func append(_ value: Int, count: Int) {
        for index in 0..<count {
            if used == 8 {
                bytes.append(0)
                used = 0
            }
            bytes[bytes.count - 1] |= UInt8(value >> index & 1) << UInt8(used)
            used += 1
        }
    }

    /// Appends the most significant bit first, as Huffman codes require.
    mutating func appendCode(_ code: Int, count: Int) {
        for index in (0..<count).reversed() { append(code >> index & 1, count: 1) }
    }
}

/// `hello gzip, hello gzip, hello gzip`
let gzipped: [UInt8] = [
    0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0x48, 0xAF, 0xCA,
    0x2C,
    0xD0, 0x51, 0xC8, 0xC0, 0xCA, 0x06, 0x00, 0xBA, 0x31, 0x8E, 0x26, 0x22, 0x00, 0x00, 0x00,
]

/// `hello deflate`
let deflated: [UInt8] = [
    0x78, 0xDA, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0x48, 0x49, 0x4D, 0xCB, 0x49, 0x2C, 0x49, 0x05, 0x00, 0x23, 0x0C,
    0x05,
    0x0A,
]
