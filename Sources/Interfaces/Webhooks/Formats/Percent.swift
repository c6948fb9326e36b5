import Signing

/// Percent-encoding of names, which are any UTF-8.
enum Percent {
    /// A field value: what is not visible ASCII, `"` and `%` itself are encoded (CloudEvents HTTP binding 3.1.3.2).
    static func headerValue(_ text: String) -> String {
        encode(text) { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "%") && $0 != UInt8(ascii: "\"") }
    }

    /// A path segment: unreserved characters stay (RFC 3986, 2.3).
    static func segment(_ text: String) -> String { encode(text, isUnreserved) }

    /// A value in a form body; the same, as a space may be written `%20` there too.
    static func form(_ text: String) -> String { encode(text, isUnreserved) }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: [UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~")].contains(byte)
        }
    }

    private static func encode(_ text: String, _ isPlain: (UInt8) -> Bool) -> String {
        guard !text.utf8.allSatisfy(isPlain) else { return text }
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isPlain(byte) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes += Hex.encode([byte]).utf8.map { $0 >= 0x61 ? $0 - 0x20 : $0 }
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
