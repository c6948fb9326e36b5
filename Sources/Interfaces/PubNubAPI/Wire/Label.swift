/// A `custom_message_type`: 3 to 50 letters, digits, `-` and `_`, beginning with a letter or a digit, but not with the
/// prefix that is kept for the service itself (`pubnub-wire.md` 2.2).
enum Label {
    static func isLabel(_ text: String) -> Bool {
        let bytes = text.utf8
        guard (3...50).contains(bytes.count), let first = bytes.first, isAlphanumeric(first),
            !text.hasPrefix("pn_"), !text.hasPrefix("pn-")
        else { return false }
        return bytes.allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
