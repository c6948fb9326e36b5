extension IDNA {
    /// The table of characters that a label may contain. RFC 5892 disallows all other characters.
    struct Characters: Sendable {
        typealias Text = UnsafeBufferPointer<UInt32>

        private struct Run: Sendable {
            let first: UInt32
            let last: UInt32
            let traits: Traits
        }

        private let runs: [Run]

        static let table = Characters()

        private init() {
            var digits = Digits(Tables.kinds)
            var kinds: [Traits] = []
            while let bits = digits.next() { kinds.append(Traits(bits: bits)) }
            digits = Digits(Tables.runs)
            var runs: [Run] = []
            var end: UInt32 = 0
            while let gap = digits.next(), let further = digits.next(), let kind = digits.next() {
                runs.append(Run(first: end + gap, last: end + gap + further, traits: kinds[Int(kind)]))
                end += gap + further + 1
            }
            self.runs = runs
        }

        static func traits(of scalar: UInt32) -> Traits? {
            let runs = table.runs
            var low = 0
            var high = runs.count
            while low < high {
                let middle = (low + high) / 2
                if runs[middle].last < scalar { low = middle + 1 } else { high = middle }
            }
            guard low < runs.count, runs[low].first <= scalar else { return nil }
            return runs[low].traits
        }
    }

    /// The properties of a character that the rules use. They are packed in the same way as in the generated data.
    struct Traits: Sendable {
        private let bits: UInt32

        init(bits: UInt32) { self.bits = bits }

        /// The bidirectional classes that RFC 5893 distinguishes.
        enum Direction: UInt32 { case left, right, arabicNumber, europeanNumber, mark, neutral }

        enum ConstraintJoin: UInt32 { case none, left, dual, right, transparent }

        /// The scripts that the contextual rules use. `eastAsian` stands for Hiragana, Katakana and Han, which the
        /// rules treat in the same way.
        enum Script: UInt32 { case other, greek, hebrew, eastAsian }

        var direction: Direction { Direction(rawValue: bits & 7) ?? .neutral }
        var joining: ConstraintJoin { ConstraintJoin(rawValue: bits >> 3 & 7) ?? .none }
        var script: Script { Script(rawValue: bits >> 6 & 3) ?? .other }
        /// True for a combining mark (general category M).
        var isMark: Bool { bits >> 8 & 1 == 1 }
        /// True when the character may combine with the preceding character in normal form C.
        var mayCombine: Bool { bits >> 9 & 1 == 1 }
        var combiningClass: UInt32 { bits >> 10 }
        var isVirama: Bool { combiningClass == 9 }
    }

    /// Decodes numbers from a text. Each character (A to Z, a to z, 0 to 9, - and _) contains five bits of a number,
    /// lowest bits first. A character of the second half of this list means that the number continues.
    struct Digits {
        private let text: StaticString
        private var offset = 0

        init(_ text: StaticString) { self.text = text }

        mutating func next() -> UInt32? {
            var number: UInt32 = 0
            var shift: UInt32 = 0
            while offset < text.utf8CodeUnitCount {
                let digit = Self.value(text.utf8Start[offset])
                offset += 1
                number |= (digit & 31) << shift
                if digit < 32 { return number }
                shift += 5
            }
            return nil
        }

        private static func value(_ byte: UInt8) -> UInt32 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
            case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
            case UInt8(ascii: "-"): 62
            default: 63
            }
        }
    }
}

/// Checks of the characters of a label, including those that are allowed only in certain contexts (RFC 5892 and its
/// appendix A).
extension IDNA.Characters.Text {
    var obeysContextRules: Bool { indices.allSatisfy { isAllowed(at: $0) } }

    private func isAllowed(at index: Int) -> Bool {
        switch self[index] {
        case 0x200C: followsVirama(index) || joinsLetters(around: index)
        case 0x200D: followsVirama(index)
        case 0xB7: neighbour(of: index, by: -1) == 0x6C && neighbour(of: index, by: 1) == 0x6C
        case 0x375: script(neighbour(of: index, by: 1)) == .greek
        case 0x5F3, 0x5F4: script(neighbour(of: index, by: -1)) == .hebrew
        case 0x30FB: contains { script($0) == .eastAsian }
        case 0x660...0x669: !contains { (0x6F0...0x6F9).contains($0) }
        case 0x6F0...0x6F9: !contains { (0x660...0x669).contains($0) }
        case let scalar: IDNA.Characters.traits(of: scalar) != nil
        }
    }

    private func neighbour(of index: Int, by distance: Int) -> UInt32? {
        indices.contains(index + distance) ? self[index + distance] : nil
    }

    private func script(_ scalar: UInt32?) -> IDNA.Traits.Script? {
        scalar.flatMap { IDNA.Characters.traits(of: $0)?.script }
    }

    private func followsVirama(_ index: Int) -> Bool {
        neighbour(of: index, by: -1).flatMap { IDNA.Characters.traits(of: $0)?.isVirama } == true
    }

    /// Returns true when the nearest non-transparent characters before and after `index` are letters that join towards
    /// `index` (appendix A.1).
    private func joinsLetters(around index: Int) -> Bool {
        let before = joining(from: index, by: -1)
        let after = joining(from: index, by: 1)
        return (before == .left || before == .dual) && (after == .right || after == .dual)
    }

    private func joining(from index: Int, by step: Int) -> IDNA.Traits.ConstraintJoin? {
        var index = index + step
        while indices.contains(index) {
            guard let joining = IDNA.Characters.traits(of: self[index])?.joining else { return nil }
            if joining != .transparent { return joining }
            index += step
        }
        return nil
    }
}
