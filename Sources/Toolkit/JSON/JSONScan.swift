import Glibc

/// Checks a JSON text in one pass, without building a tree, and finds the members of the outer object.
///
/// The scan accepts most texts that clients send. It leaves the other texts to jansson: it never rejects a text. If it
/// accepts a text, jansson accepts the text too, without repeated names and with exact integers. These valid texts are
/// left to jansson: names with escapes, the escape `\u0000`, integers of more than 18 digits, exponents of more than two
/// digits, numbers of more than 100 characters, nesting deeper than ``mostDepth``, and more than ``mostNames`` names in
/// objects that contain each other.
///
/// The grammar is that of RFC 8259; the rules for UTF-8 are those of RFC 3629, section 4.
struct JSONScan {
    /// A member of the outer object: the range of its name without the quotation marks, and the range of its value.
    struct Member {
        var name: Range<Int>
        var value: Range<Int>
        /// True when the name contains escapes.
        var isEscaped = false
    }

    /// The maximum nesting depth of a text that the scan accepts. It bounds the recursion.
    static let mostDepth = 128
    /// The maximum number of names that the scan remembers to find repeated names.
    static let mostNames = 64

    private let text: UnsafeBufferPointer<UInt8>
    private let deepest: Int
    private var at = 0
    /// The number of arrays and objects that contain the current position.
    private var depth = 0
    /// The names of the objects that contain the current position. The last ones belong to the innermost object.
    private let names: UnsafeMutableBufferPointer<Range<Int>>
    private var nameCount = 0
    private var members: [Member] = []

    /// Returns the members of the outer object, in order, if the scan accepts the text; nil if jansson must check the
    /// text. The result is empty for a text that is not an object.
    ///
    /// - Parameters:
    ///   - bytes: the text, without surrounding white space.
    ///   - depth: the maximum nesting depth. A deeper text is not accepted.
    static func members(of bytes: [UInt8], depth: Int) -> [Member]? {
        bytes.withUnsafeBufferPointer { text in
            // The standard library reserves up to 1,024 bytes on the stack, which is enough for all names.
            withUnsafeTemporaryAllocation(of: Range<Int>.self, capacity: mostNames) { names in
                var scan = JSONScan(text: text, deepest: min(depth, mostDepth), names: names)
                return scan.value() && scan.at == text.count ? scan.members : nil
            }
        }
    }

    private init(text: UnsafeBufferPointer<UInt8>, deepest: Int, names: UnsafeMutableBufferPointer<Range<Int>>) {
        self.text = text
        self.deepest = deepest
        self.names = names
    }
}

// MARK: - Values. Each function starts at the first byte of its value and returns false if the scan does not accept it.

extension JSONScan {
    private mutating func value() -> Bool {
        guard at < text.count else { return false }
        switch text[at] {
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: "{"): return object()
        case UInt8(ascii: "["): return array()
        case UInt8(ascii: "t"): return word("true")
        case UInt8(ascii: "f"): return word("false")
        case UInt8(ascii: "n"): return word("null")
        default: return number()
        }
    }

    private mutating func object() -> Bool {
        guard depth < deepest else { return false }
        depth += 1
        at += 1
        let outerNames = nameCount
        skipSpace()
        if !take(UInt8(ascii: "}")) {
            repeat {
                skipSpace()
                let nameStart = at + 1
                guard name(), isNew(nameStart..<at - 1, after: outerNames) else { return false }
                let nameEnd = at - 1
                skipSpace()
                guard take(UInt8(ascii: ":")) else { return false }
                skipSpace()
                let start = at
                guard value() else { return false }
                if depth == 1 {
                    if members.isEmpty { members.reserveCapacity(8) }
                    members.append(Member(name: nameStart..<nameEnd, value: start..<at))
                }
                skipSpace()
            } while take(UInt8(ascii: ","))
            guard take(UInt8(ascii: "}")) else { return false }
        }
        nameCount = outerNames
        depth -= 1
        return true
    }

    private mutating func array() -> Bool {
        guard depth < deepest else { return false }
        depth += 1
        at += 1
        skipSpace()
        if !take(UInt8(ascii: "]")) {
            repeat {
                skipSpace()
                guard value() else { return false }
                skipSpace()
            } while take(UInt8(ascii: ","))
            guard take(UInt8(ascii: "]")) else { return false }
        }
        depth -= 1
        return true
    }

    /// Scans a name, which must not contain escapes. Names without escapes are equal if their bytes are equal.
    private mutating func name() -> Bool {
        guard take(UInt8(ascii: "\"")) else { return false }
        while true {
            at = text.endOfPlainText(from: at)
            if take(UInt8(ascii: "\"")) { return true }
            guard character() else { return false }
        }
    }

    /// Remembers a name of the innermost object. Returns false if the object already has this name, or if there are
    /// too many names to remember.
    private mutating func isNew(_ name: Range<Int>, after outerNames: Int) -> Bool {
        guard nameCount < Self.mostNames, let start = text.baseAddress else { return false }
        for index in outerNames..<nameCount {
            let other = names[index]
            guard
                other.count != name.count || memcmp(start + other.lowerBound, start + name.lowerBound, name.count) != 0
            else { return false }
        }
        names[nameCount] = name
        nameCount += 1
        return true
    }

    private mutating func string() -> Bool {
        at += 1
        while true {
            at = text.endOfPlainText(from: at)
            if take(UInt8(ascii: "\"")) { return true }
            guard at < text.count else { return false }
            guard text[at] == UInt8(ascii: "\\") ? escape() : character() else { return false }
        }
    }

    /// Scans an escape other than `\u0000`. The escape of a surrogate must be followed by that of its other half.
    private mutating func escape() -> Bool {
        guard at + 1 < text.count else { return false }
        at += 2
        switch text[at - 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return true
        case UInt8(ascii: "u"):
            guard let unit = codeUnit(), unit != 0, !(0xDC00...0xDFFF).contains(unit) else { return false }
            guard (0xD800...0xDBFF).contains(unit) else { return true }
            guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")), let low = codeUnit() else { return false }
            return (0xDC00...0xDFFF).contains(low)
        default: return false
        }
    }

    /// Scans the four hexadecimal digits of an escape.
    private mutating func codeUnit() -> UInt32? {
        guard at + 4 <= text.count else { return nil }
        var unit: UInt32 = 0
        for _ in 0..<4 {
            let byte = text[at]
            at += 1
            switch byte {
            case 0x30...0x39: unit = unit << 4 | UInt32(byte - 0x30)
            case 0x41...0x46, 0x61...0x66: unit = unit << 4 | UInt32(byte & 0x5F - 0x41 + 10)
            default: return nil
            }
        }
        return unit
    }

    /// Scans a character outside ASCII (RFC 3629, section 4).
    private mutating func character() -> Bool {
        guard at < text.count else { return false }
        let second: ClosedRange<UInt8>
        let count: Int
        switch text[at] {
        case 0xC2...0xDF: (second, count) = (0x80...0xBF, 2)
        case 0xE0: (second, count) = (0xA0...0xBF, 3)
        case 0xE1...0xEC, 0xEE, 0xEF: (second, count) = (0x80...0xBF, 3)
        case 0xED: (second, count) = (0x80...0x9F, 3)
        case 0xF0: (second, count) = (0x90...0xBF, 4)
        case 0xF1...0xF3: (second, count) = (0x80...0xBF, 4)
        case 0xF4: (second, count) = (0x80...0x8F, 4)
        default: return false
        }
        guard at + count <= text.count, second.contains(text[at + 1]) else { return false }
        for index in at + 2..<max(at + 2, at + count) where text[index] & 0xC0 != 0x80 { return false }
        at += count
        return true
    }

    private mutating func number() -> Bool {
        let start = at
        _ = take(UInt8(ascii: "-"))
        let digits = digits()
        guard digits == 1 || digits > 1 && text[at - digits] != UInt8(ascii: "0") else { return false }
        var isInteger = true
        if take(UInt8(ascii: ".")) {
            isInteger = false
            guard self.digits() > 0 else { return false }
        }
        if at < text.count, text[at] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            at += 1
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard (1...2).contains(self.digits()) else { return false }
        }
        return isInteger ? digits <= 18 : at - start <= 100
    }

    /// Scans a run of digits, which may be empty, and returns its length.
    private mutating func digits() -> Int {
        let start = at
        while at < text.count, (0x30...0x39).contains(text[at]) { at += 1 }
        return at - start
    }

    private mutating func word(_ word: StaticString) -> Bool {
        guard let start = text.baseAddress, text.count - at >= word.utf8CodeUnitCount,
            memcmp(start + at, word.utf8Start, word.utf8CodeUnitCount) == 0
        else { return false }
        at += word.utf8CodeUnitCount
        return true
    }

    @inline(__always)
    private mutating func take(_ byte: UInt8) -> Bool {
        guard at < text.count, text[at] == byte else { return false }
        at += 1
        return true
    }

    @inline(__always)
    private mutating func skipSpace() {
        while at < text.count, text[at].isJSONSpace { at += 1 }
    }
}

extension UInt8 {
    /// True for the characters that may surround the tokens of a JSON text (RFC 8259, section 2).
    @inline(__always)
    var isJSONSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
