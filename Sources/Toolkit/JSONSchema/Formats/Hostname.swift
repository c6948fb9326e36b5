/// Names of hosts: RFC 1123 section 2.1.
extension Format {
    private static let labelBytes = ByteSet.alphanumerics + ByteSet("-")

    static func isHostname(_ text: UnsafeBufferPointer<UInt8>, checksALabels: Bool) -> Bool {
        // RFC 1035 allows 255 octets on the wire; the first length and the root's empty label take two of them.
        guard text.count <= 253 else { return false }
        var scanner = Scanner(text)
        repeat {
            let start = scanner.offset
            scanner.skip(labelBytes)
            let label = scanner[start..<scanner.offset]
            guard isPlainLabel(label) else { return false }
            if checksALabels, IDNA.hasALabelPrefix(label) {
                guard IDNA.Label(aLabel: label) != nil else { return false }
            }
        } while scanner.take(".")
        return scanner.isAtEnd
    }

    /// Letters, digits and hyphens, with a hyphen at neither end.
    static func isPlainLabel(_ label: UnsafeBufferPointer<UInt8>) -> Bool {
        guard (1...63).contains(label.count), label.first != UInt8(ascii: "-"), label.last != UInt8(ascii: "-") else {
            return false
        }
        return label.allSatisfy { labelBytes.contains($0) }
    }
}
