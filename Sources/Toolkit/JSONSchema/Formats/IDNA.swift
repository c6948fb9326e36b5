/// Internationalized domain names: IDNA 2008 (RFC 5890 to RFC 5893).
enum IDNA {
    /// Decodes the Unicode tables, so that later checks allocate no memory.
    static func prepare() {
        _ = Characters.table
        _ = Compositions.table
    }

    /// Returns true for a host name of U-labels, A-labels and plain labels. The labels are separated by any of the four
    /// full stops of RFC 3490.
    static func isHostname(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var scanner = Format.Scanner(text)
        var length = 0
        var isBidirectional = false
        var obeysBidiRule = true
        while true {
            let (bytes, isLast) = parseLabel(&scanner)
            guard let label = Label(bytes) else { return false }
            length += label.encodedLength + (isLast ? 0 : 1)
            isBidirectional = isBidirectional || label.isRightToLeft
            obeysBidiRule = obeysBidiRule && label.obeysBidiRule
            guard length <= 253 else { return false }
            // If one label is a right-to-left label, every label of the name must satisfy the Bidi rule (RFC 5893
            // section 2).
            if isLast { return scanner.isAtEnd && (obeysBidiRule || !isBidirectional) }
        }
    }

    /// Returns true for a mail domain of U-labels and plain labels, separated by ASCII full stops (RFC 6531 section
    /// 3.3).
    ///
    /// Labels that are not in normal form C also pass, because the test suite requires it, although they are not
    /// U-labels according to RFC 5890.
    static func isMailDomain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var scanner = Format.Scanner(text)
        var length = 0
        while true {
            let end = scanner.distance(to: ".")
            let bytes = scanner[scanner.offset..<end]
            guard let encodedLength = mailLabelLength(bytes) else { return false }
            scanner.move(to: end)
            length += encodedLength
            guard length <= 253 else { return false }
            guard scanner.accept(".") else { return true }
            length += 1
        }
    }

    private static func mailLabelLength(_ label: UnsafeBufferPointer<UInt8>) -> Int? {
        if label.allSatisfy({ $0 < 0x80 }) { return Format.isPlainLabel(label) ? label.count : nil }
        return Label(uLabel: label, inNormalForm: false)?.encodedLength
    }

    private static func parseLabel(
        _ scanner: inout Format.Scanner
    ) -> (bytes: UnsafeBufferPointer<UInt8>, isLast: Bool) {
        let start = scanner.offset
        var end = start
        while let scalar = scanner.parseScalar() {
            switch scalar {
            case 0x2E, 0x3002, 0xFF0E, 0xFF61: return (scanner[start..<end], false)
            default: end = scanner.offset
            }
        }
        return (scanner[start..<end], true)
    }

    static func hasALabelPrefix(_ label: UnsafeBufferPointer<UInt8>) -> Bool {
        guard label.count >= 4 else { return false }
        return label[0] | 0x20 == UInt8(ascii: "x") && label[1] | 0x20 == UInt8(ascii: "n")
            && label[2] == UInt8(ascii: "-") && label[3] == UInt8(ascii: "-")
    }
}
