/// Checks of host names (RFC 1123 section 2.1).
extension Format {
    private static let labelBytes = ByteSet.alphanumerics + ByteSet("-")

    static func isHostname(_ text: UnsafeBufferPointer<UInt8>, checksALabels: Bool) -> Bool {
        // RFC 1035 allows 255 octets in messages. Two of them are the first length and the empty root label, which are
        // not part of the text.
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
        } while scanner.accept(".")
        return scanner.isAtEnd
    }

    /// Returns true for a label of letters, digits and hyphens, without a hyphen at either end.
    static func isPlainLabel(_ label: UnsafeBufferPointer<UInt8>) -> Bool {
        guard (1...63).contains(label.count), label.first != UInt8(ascii: "-"), label.last != UInt8(ascii: "-") else {
            return false
        }
        return label.allSatisfy { labelBytes.contains($0) }
    }
}

extension IDNA {
    /// The properties of a valid label that are needed to check the whole name.
    struct Label {
        /// The length of the encoded label in octets.
        let encodedLength: Int
        let isRightToLeft: Bool
        let obeysBidiRule: Bool

        /// Parses a plain label, an A-label or a U-label. Returns nil for any other text.
        init?(_ bytes: UnsafeBufferPointer<UInt8>) {
            if !bytes.allSatisfy({ $0 < 0x80 }) {
                self.init(uLabel: bytes, inNormalForm: true)
            } else if hasALabelPrefix(bytes) {
                self.init(aLabel: bytes)
            } else {
                self.init(plainLabel: bytes)
            }
        }

        private init?(plainLabel bytes: UnsafeBufferPointer<UInt8>) {
            // RFC 5890 section 2.3.1 reserves hyphens in the third and fourth position.
            let isReserved = bytes.count >= 4 && bytes[2] == UInt8(ascii: "-") && bytes[3] == UInt8(ascii: "-")
            guard Format.isPlainLabel(bytes), !isReserved else { return nil }
            encodedLength = bytes.count
            isRightToLeft = false
            obeysBidiRule = Format.ByteSet.letters.contains(bytes[0])
        }

        /// Parses an A-label. Returns nil for any other text, also if the Punycode after `xn--` is not the canonical
        /// encoding of the decoded text (RFC 5891 section 5.4).
        init?(aLabel bytes: UnsafeBufferPointer<UInt8>) {
            guard Format.isPlainLabel(bytes), hasALabelPrefix(bytes) else { return nil }
            let code = UnsafeBufferPointer(rebasing: bytes[4...])
            let label: Label? = withUnsafeTemporaryAllocation(of: UInt32.self, capacity: Label.capacity) { scalars in
                guard let count = Punycode.decode(code, into: scalars) else { return nil }
                return Label(Characters.Text(rebasing: scalars[..<count]), spelled: code, inNormalForm: true)
            }
            guard let label else { return nil }
            self = label
        }

        /// Parses a U-label, which contains unencoded characters. Returns nil for any other text.
        init?(uLabel bytes: UnsafeBufferPointer<UInt8>, inNormalForm: Bool) {
            let label: Label? = withUnsafeTemporaryAllocation(of: UInt32.self, capacity: Label.capacity) { scalars in
                var scanner = Format.Scanner(bytes)
                var count = 0
                while let scalar = scanner.parseScalar() {
                    guard count < scalars.count else { return nil }
                    scalars[count] = scalar
                    count += 1
                }
                guard scanner.isAtEnd else { return nil }
                return Label(Characters.Text(rebasing: scalars[..<count]), spelled: nil, inNormalForm: inNormalForm)
            }
            guard let label else { return nil }
            self = label
        }

        /// The maximum number of characters in a label. An encoded label has at most 63 octets: the prefix has four
        /// octets, and each character needs at least one octet.
        static let capacity = 59

        private init?(_ text: Characters.Text, spelled code: UnsafeBufferPointer<UInt8>?, inNormalForm: Bool) {
            guard text.contains(where: { $0 >= 0x80 }), text.isWellFormed, text.obeysContextRules,
                !inNormalForm || Compositions.isInNormalForm(text),
                let length = Punycode.length(of: text, spelled: code)
            else { return nil }
            encodedLength = 4 + length
            isRightToLeft = text.isRightToLeft
            obeysBidiRule = text.obeysBidiRule
            if isRightToLeft { guard obeysBidiRule else { return nil } }
        }
    }
}

extension IDNA.Characters.Text {
    /// True when the positions of hyphens are valid and the first character is not a combining mark (RFC 5891 section
    /// 4.2.3).
    fileprivate var isWellFormed: Bool {
        let hyphen = UInt32(UInt8(ascii: "-"))
        guard let first, let last, first != hyphen, last != hyphen else { return false }
        if count >= 4 { guard self[2] != hyphen || self[3] != hyphen else { return false } }
        return IDNA.Characters.traits(of: first)?.isMark == false
    }

    /// True for a right-to-left label, which contains R, AL or AN (RFC 5893 section 1.4).
    fileprivate var isRightToLeft: Bool {
        contains { scalar in
            switch IDNA.Characters.traits(of: scalar)?.direction {
            case .right, .arabicNumber: true
            default: false
            }
        }
    }

    /// True when the label satisfies the Bidi rule (RFC 5893 section 2).
    fileprivate var obeysBidiRule: Bool {
        guard let first, let start = IDNA.Characters.traits(of: first)?.direction else { return false }
        var end = start
        var hasEuropean = false
        var hasArabic = false
        for scalar in self {
            guard let direction = IDNA.Characters.traits(of: scalar)?.direction else { return false }
            switch direction {
            case .left: guard start == .left else { return false }
            case .right: guard start == .right else { return false }
            case .arabicNumber:
                guard start == .right else { return false }
                hasArabic = true
            case .europeanNumber: hasEuropean = true
            case .mark, .neutral: break
            }
            if direction != .mark { end = direction }
        }
        switch start {
        case .left: return end == .left || end == .europeanNumber
        case .right: return end != .neutral && !(hasEuropean && hasArabic)
        default: return false
        }
    }
}
