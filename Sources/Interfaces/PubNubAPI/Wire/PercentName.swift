/// Percent-encodes a name for a key in a history response or a URL. Unreserved characters stay as they are (RFC 3986,
/// 2.3).
enum PercentName {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// - Parameter sparesTilde: false for a signature, which encodes the tilde as well.
    static func encode(_ name: String, sparesTilde: Bool = true) -> String {
        var output: [UInt8] = []
        for byte in name.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: output.append(byte)
            case 0x7E where sparesTilde: output.append(byte)
            default: output += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}
