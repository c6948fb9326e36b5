/// Checks of mail addresses: the `Mailbox` of RFC 5321 section 4.1.2, and its internationalized form of RFC 6531
/// section 3.3.
extension Format {
    private static let atom = ByteSet.alphanumerics + ByteSet("!#$%&'*+-/=?^_`{|}~")
    private static let quotable = ByteSet.printable.subtracting(ByteSet("\"\\"))
    /// The maximum number of bytes of the local part (RFC 5321 section 4.5.3.1.1).
    private static let localPartLimit = 64

    static func isMailbox(_ text: UnsafeBufferPointer<UInt8>, international: Bool) -> Bool {
        var scanner = Scanner(text)
        let hasLocalPart =
            scanner.isNext("\"")
            ? skipQuotedString(&scanner, international: international)
            : skipDotString(&scanner, international: international)
        guard hasLocalPart, scanner.offset <= localPartLimit, scanner.accept("@") else { return false }
        if scanner.isNext("[") { return isAddressLiteral(scanner.rest) }
        return international ? IDNA.isMailDomain(scanner.rest) : isHostname(scanner.rest, checksALabels: false)
    }

    private static func skipDotString(_ scanner: inout Scanner, international: Bool) -> Bool {
        repeat {
            guard skip(atom, in: &scanner, international: international) > 0 else { return false }
        } while scanner.accept(".")
        return true
    }

    private static func skipQuotedString(_ scanner: inout Scanner, international: Bool) -> Bool {
        guard scanner.accept("\"") else { return false }
        while !scanner.accept("\"") {
            let plain = skip(quotable, in: &scanner, international: international)
            guard plain > 0 || (scanner.accept("\\") && scanner.accept(in: .printable)) else { return false }
        }
        return true
    }

    /// Skips bytes of `set`, and in internationalized addresses also all characters outside ASCII. Returns the number
    /// of bytes skipped.
    private static func skip(_ set: ByteSet, in scanner: inout Scanner, international: Bool) -> Int {
        let start = scanner.offset
        scanner.skip(set)
        while international, let byte = scanner.next, byte >= 0x80 {
            scanner.move(to: scanner.offset + 1)
            scanner.skip(set)
        }
        return scanner.offset - start
    }

    /// Returns true for an address literal such as `[127.0.0.1]` or `[IPv6:::1]`. No other kinds of literals are
    /// registered.
    private static func isAddressLiteral(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var scanner = Scanner(text)
        guard scanner.accept("["), text.last == UInt8(ascii: "]") else { return false }
        let isIPv6Literal =
            scanner.skipLetter("I") && scanner.skipLetter("P") && scanner.skipLetter("V") && scanner.accept("6")
            && scanner.accept(":")
        let start = isIPv6Literal ? scanner.offset : 1
        guard start < text.count else { return false }
        let address = scanner[start..<text.count - 1]
        return isIPv6Literal ? isIPv6(address) : isIPv4(address)
    }
}
