/// Which header fields a webhook may have of its own.
enum FieldRules {
    static let count = 20
    static let nameLimitBytes = 128
    static let valueLimitBytes = 4096

    /// What the client or the protocol decides, and what a receiver must be able to take for the gateway's word.
    private static let taken: Set<String> = [
        "host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection", "keep-alive",
        "upgrade", "te", "trailer", "expect", "user-agent", "content-digest", "signature", "signature-input",
        "x-hub-signature-256", "stripe-signature", "traceparent", "tracestate",
    ]
    private static let takenPrefixes = ["webhook-", "proxy-", "ce-"]

    /// Why a name cannot be used; nil when it can.
    static func obstacle(name: String) -> String? {
        guard (1...nameLimitBytes).contains(name.utf8.count), name.utf8.allSatisfy(isToken) else {
            return "a header's name is 1 to \(nameLimitBytes) letters, digits or !#$%&'*+-.^_`|~"
        }
        let lower = name.lowercased()
        guard !taken.contains(lower), !takenPrefixes.contains(where: lower.hasPrefix) else {
            return "the gateway itself decides the header \(lower)"
        }
        return nil
    }

    /// Why a value cannot be used. CR, LF and NUL would end the field and begin another one.
    static func obstacle(value: String) -> String? {
        guard value.utf8.count <= valueLimitBytes, value.utf8.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x09 })
        else { return "a header's value is at most \(valueLimitBytes) printable ASCII characters" }
        guard value.utf8.first != 0x20, value.utf8.first != 0x09, value.utf8.last != 0x20, value.utf8.last != 0x09
        else { return "a header's value neither begins nor ends with a space" }
        return nil
    }

    /// RFC 9110, 5.6.2.
    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
