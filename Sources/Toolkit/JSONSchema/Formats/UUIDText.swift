extension Format {
    /// RFC 4122 in text, of any version and variant.
    static func isUUID(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count == 36 else { return false }
        return text.indices.allSatisfy { index in
            switch index {
            case 8, 13, 18, 23: text[index] == UInt8(ascii: "-")
            default: ByteSet.hexadecimal.contains(text[index])
            }
        }
    }
}
