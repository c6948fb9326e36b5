/// A property of code points in `\p{…}` (ECMA-262, tables 65 to 67).
enum UnicodeProperty: Hashable, Sendable {
    case any, ascii, assigned
    /// One of several general categories. Bit n represents the n-th entry of `UnicodeTables.categories`.
    case categories(UInt32)
    /// A binary property: the n-th entry of `UnicodeTables.binaries`.
    case binary(Int)
    /// A script: the n-th entry of `UnicodeTables.scripts`.
    case script(Int)
    case scriptExtensions(Int)

    /// Creates the property of `\p{value}`: a category or a binary property. Returns nil for an unknown name.
    init?(lone name: UnsafeBufferPointer<UInt8>) {
        if let categories = Self.categories(named: name) {
            self = .categories(categories)
        } else if let index = UnicodeNames.index(of: name, in: UnicodeTables.binaries) {
            self = .binary(index)
        } else if let index = UnicodeNames.index(of: name, in: "Any,ASCII,Assigned,") {
            self = [.any, .ascii, .assigned][index]
        } else {
            return nil
        }
    }

    /// Creates the property of `\p{name=value}`. Returns nil for an unknown name or value.
    init?(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        let family = UnicodeNames.index(
            of: name, in: "General_Category gc,Script sc,Script_Extensions scx,")
        switch family {
        case 0:
            guard let categories = Self.categories(named: value) else { return nil }
            self = .categories(categories)
        case 1, 2:
            guard let script = UnicodeNames.index(of: value, in: UnicodeTables.scripts) else { return nil }
            self = family == 1 ? .script(script) : .scriptExtensions(script)
        default: return nil
        }
    }

    var members: Pattern.ScalarSet {
        switch self {
        case .any: return .everything
        case .ascii: return Pattern.ScalarSet([0...0x7F])
        case .assigned: return Self.unassigned.members.complement
        case .categories(let mask):
            return UnicodeData.members(of: UnicodeData.recordRuns) {
                mask & 1 << UInt32(UnicodeData.records[$0].category) != 0
            }
        case .binary(let bit):
            return UnicodeData.members(of: UnicodeData.recordRuns) {
                UnicodeData.records[$0].binaries & 1 << UInt64(bit) != 0
            }
        case .script(let script):
            return UnicodeData.members(of: UnicodeData.scriptRuns) { $0 == script }
        case .scriptExtensions(let script):
            let own = UnicodeData.members(of: UnicodeData.extensionRuns) { $0 == 0 }
            let extended = UnicodeData.members(of: UnicodeData.extensionRuns) {
                UnicodeData.extensions[$0].contains(UInt16(script))
            }
            return UnicodeProperty.script(script).members.intersection(own).union(extended)
        }
    }

    private static let unassigned = UnicodeProperty.categories(mask(["Cn"]))

    /// The categories that consist of several other categories, each as a mask, in the order of `unionNames`.
    private static let unions: [UInt32] = [
        mask(["Lu", "Ll", "Lt"]), mask(["Lu", "Ll", "Lt", "Lm", "Lo"]), mask(["Mn", "Mc", "Me"]),
        mask(["Nd", "Nl", "No"]), mask(["Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"]), mask(["Sm", "Sc", "Sk", "So"]),
        mask(["Zs", "Zl", "Zp"]), mask(["Cc", "Cf", "Cs", "Co", "Cn"]),
    ]
    private static let unionNames: StaticString = """
        LC Cased_Letter,L Letter,M Mark Combining_Mark,N Number,P Punctuation punct,S Symbol,Z Separator,C Other,
        """

    private static func categories(named name: UnsafeBufferPointer<UInt8>) -> UInt32? {
        if let index = UnicodeNames.index(of: name, in: UnicodeTables.categories) { return 1 << UInt32(index) }
        return UnicodeNames.index(of: name, in: unionNames).map { unions[$0] }
    }

    private static func mask(_ names: [StaticString]) -> UInt32 {
        names.reduce(0) { mask, name in
            let bytes = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
            let index = UnicodeNames.index(of: bytes, in: UnicodeTables.categories)
            return mask | (index.map { 1 << UInt32($0) } ?? 0)
        }
    }
}

extension UnicodeProperty {
    /// Returns true for a code point that can be the first of a group name (ID_Start).
    static func isIdentifierStart(_ scalar: UInt32) -> Bool { has(scalar, identifierStart) }
    /// Returns true for a code point that can follow the first in a group name (ID_Continue).
    static func isIdentifierPart(_ scalar: UInt32) -> Bool { has(scalar, identifierPart) }

    private static let identifierStart = bit("IDS")
    private static let identifierPart = bit("IDC")

    private static func has(_ scalar: UInt32, _ bit: UInt64) -> Bool {
        UnicodeData.record(of: scalar).binaries & bit != 0
    }

    private static func bit(_ name: StaticString) -> UInt64 {
        let bytes = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        return UnicodeNames.index(of: bytes, in: UnicodeTables.binaries).map { 1 << UInt64($0) } ?? 0
    }
}

/// Decodes the numbers in a text of `UnicodeTables`. Each character contains five bits of a number, lowest bits first.
/// A sixth bit means that the number continues. The text uses the ASCII characters from `#` on, except the backslash.
struct UnicodeNumbers: Sequence, IteratorProtocol {
    private var place: UnsafePointer<UInt8>
    private let end: UnsafePointer<UInt8>

    init(_ text: StaticString) {
        place = text.utf8Start
        end = place + text.utf8CodeUnitCount
    }

    mutating func next() -> UInt64? {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while place < end {
            let byte = place.pointee
            place += 1
            if byte == UInt8(ascii: "\n") { continue }
            let digit = UInt64(byte - (byte < UInt8(ascii: "\\") ? 0x23 : 0x24))
            number |= (digit & 31) << shift
            if digit & 32 == 0 { return number }
            shift += 5
        }
        return nil
    }
}

/// Searches a list of names of `UnicodeTables`. Each entry of the list consists of a name and aliases, separated by
/// spaces. A comma ends each entry.
enum UnicodeNames {
    /// Returns the index of the entry with this name; nil when there is none. Names are compared exactly, as ECMA-262
    /// requires.
    static func index(of name: UnsafeBufferPointer<UInt8>, in list: StaticString) -> Int? {
        let text = UnsafeBufferPointer(start: list.utf8Start, count: list.utf8CodeUnitCount)
        var entry = 0
        var start = 0
        for (place, byte) in text.enumerated() {
            switch byte {
            case UInt8(ascii: ","), UInt8(ascii: " "):
                if place - start == name.count, text[start..<place].elementsEqual(name) { return entry }
                if byte == UInt8(ascii: ",") { entry += 1 }
                start = place + 1
            case UInt8(ascii: "\n"): start = place + 1
            default: break
            }
        }
        return nil
    }
}
