/// Checks of URIs (RFC 3986) and IRIs (RFC 3987). IRIs have the same grammar with more characters.
extension Format {
    static func isURI(_ text: UnsafeBufferPointer<UInt8>, relative: Bool, international: Bool) -> Bool {
        var reader = URIReader(text, international: international)
        let hasScheme = reader.skipScheme()
        guard hasScheme || relative else { return false }
        return reader.skipHierarchy(afterScheme: hasScheme) && reader.skipQueryAndFragment()
    }

    private struct URIReader {
        private var scanner: Scanner
        private let international: Bool

        private static let schemeTail = ByteSet.alphanumerics + ByteSet("+-.")
        private static let unreserved = ByteSet.alphanumerics + ByteSet("-._~")
        private static let name = unreserved + ByteSet("!$&'()*+,;=")
        private static let nameAndColon = name + ByteSet(":")
        private static let segment = nameAndColon + ByteSet("@")
        private static let firstSegment = name + ByteSet("@")
        private static let path = segment + ByteSet("/")
        private static let query = path + ByteSet("?")

        init(_ text: UnsafeBufferPointer<UInt8>, international: Bool) {
            scanner = Scanner(text)
            self.international = international
        }

        /// Skips a scheme and its colon. If there is no scheme, returns false and does not move the position.
        mutating func skipScheme() -> Bool {
            if scanner.accept(in: .letters) {
                scanner.skip(Self.schemeTail)
                if scanner.accept(":") { return true }
            }
            scanner.move(to: 0)
            return false
        }

        mutating func skipHierarchy(afterScheme: Bool) -> Bool {
            if scanner.accept("/") {
                guard scanner.accept("/") else { return skip(Self.path) }
                // After an authority, the path must be empty or start with a slash.
                return skipAuthority() && skip(Self.path)
            }
            // The first segment of a path without a scheme must not contain a colon.
            if !afterScheme { guard skip(Self.firstSegment), !scanner.isNext(":") else { return false } }
            return skip(Self.path)
        }

        private mutating func skipAuthority() -> Bool {
            let start = scanner.offset
            guard skip(Self.nameAndColon) else { return false }
            if !scanner.accept("@") { scanner.move(to: start) }
            guard scanner.isNext("[") ? skipLiteral() : skip(Self.name) else { return false }
            if scanner.accept(":") { scanner.skip(.digits) }
            guard let next = scanner.next else { return true }
            return ByteSet("/?#").contains(next)
        }

        /// Skips an IP literal in brackets: an IPv6 address or an address of a future version (RFC 3986). Returns false
        /// for any other text.
        private mutating func skipLiteral() -> Bool {
            guard scanner.accept("[") else { return false }
            let end = scanner.distance(to: "]")
            let address = scanner[scanner.offset..<end]
            guard Format.isIPv6(address) || Self.isFutureAddress(address) else { return false }
            scanner.move(to: end)
            return scanner.accept("]")
        }

        private static func isFutureAddress(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
            var scanner = Scanner(text)
            return scanner.skipLetter("V") && scanner.skip(.hexadecimal) > 0 && scanner.accept(".")
                && scanner.skip(nameAndColon) > 0 && scanner.isAtEnd
        }

        mutating func skipQueryAndFragment() -> Bool {
            if scanner.accept("?") { guard skip(Self.query, privateUse: true) else { return false } }
            if scanner.accept("#") { guard skip(Self.query) else { return false } }
            return scanner.isAtEnd
        }

        /// Skips characters of `set`, percent triplets and, in an IRI, characters outside ASCII. Returns false for an
        /// invalid triplet or character.
        private mutating func skip(_ set: ByteSet, privateUse: Bool = false) -> Bool {
            while true {
                scanner.skip(set)
                guard let next = scanner.next else { return true }
                if next == UInt8(ascii: "%") {
                    guard scanner.skipPercentTriplet() else { return false }
                } else if next >= 0x80 {
                    guard international, let scalar = scanner.parseScalar(),
                        isIRICharacter(scalar) || (privateUse && isPrivateUse(scalar))
                    else { return false }
                } else {
                    return true
                }
            }
        }
    }

    /// Returns true for a character of `ucschar` (RFC 3987), which excludes control characters, surrogates, private use
    /// characters and noncharacters. RFC 6570 uses the same set.
    static func isIRICharacter(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0xA0...0xD7FF, 0xF900...0xFDCF, 0xFDF0...0xFFEF, 0xE1000...0xEFFFD: true
        case 0x10000...0xDFFFD: scalar & 0xFFFF <= 0xFFFD
        default: false
        }
    }

    /// Returns true for a character of `iprivate` (RFC 3987).
    static func isPrivateUse(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0xE000...0xF8FF, 0xF0000...0xFFFFD, 0x100000...0x10FFFD: true
        default: false
        }
    }
}
