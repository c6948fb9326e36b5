/// The numbers in a text of `UnicodeTables`: groups of five bits, low group first, a sixth bit says that more follow. The
/// digits are the characters from `#` on without the backslash.
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

/// A list of names in `UnicodeTables`: entries end with a comma, aliases are parted by a space.
enum UnicodeNames {
    /// The place of the entry that holds this name. Names are compared exactly, as ECMA-262 demands.
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
