/// Prints compact JSON, without white space between tokens, into a growing byte buffer.
///
/// The writer decides from the last byte whether a comma is needed, so trusted JSON text can be inserted at any
/// position. The writer does not check the order of calls. A wrong order prints invalid JSON.
public struct JSONWriter: ~Copyable {
    /// The bytes printed so far.
    public private(set) var bytes: [UInt8]

    /// Creates an empty writer that reserves `capacity` bytes.
    public init(capacity: Int = 256) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// The bytes printed so far, as a ``JSONText``. They must be one complete JSON value.
    public var text: JSONText { JSONText(trusted: bytes) }

    /// Prints the `{` that begins an object.
    public mutating func beginObject() {
        separate()
        bytes.append(UInt8(ascii: "{"))
    }

    /// Prints the `}` that ends an object.
    public mutating func endObject() { bytes.append(UInt8(ascii: "}")) }

    /// Prints the `[` that begins an array.
    public mutating func beginArray() {
        separate()
        bytes.append(UInt8(ascii: "["))
    }

    /// Prints the `]` that ends an array.
    public mutating func endArray() { bytes.append(UInt8(ascii: "]")) }

    /// Prints the name of the next member. The name must not need escapes.
    public mutating func key(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    /// Prints the name of the next member, escaped.
    public mutating func key(text name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
    }

    /// Prints a string, escaped.
    public mutating func string(_ value: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        var value = value
        value.withUTF8 { escape($0) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Prints bytes as a string, escaped. Invalid UTF-8 is replaced by U+FFFD.
    public mutating func string(bytes text: UnsafeBufferPointer<UInt8>) {
        guard text.allSatisfy({ $0 < 0x80 }) else { return string(String(decoding: text, as: UTF8.self)) }
        separate()
        bytes.append(UInt8(ascii: "\""))
        escape(text)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Prints an integer.
    public mutating func integer(_ value: some BinaryInteger) {
        separate()
        bytes.append(contentsOf: String(value).utf8)
    }

    /// Prints a member with a string that consists of `prefix` and the decimal digits of a number. The prefix must not
    /// need escapes.
    public mutating func member(_ name: StaticString, prefix: StaticString = "", digits value: UInt64) {
        key(name)
        bytes.append(UInt8(ascii: "\""))
        if prefix.utf8CodeUnitCount > 0 { prefix.withUTF8Buffer { bytes.append(contentsOf: $0) } }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var rest = value
            var first = digits.count
            repeat {
                first -= 1
                digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[first...]))
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Prints `true` or `false`.
    public mutating func boolean(_ value: Bool) {
        separate()
        bytes.append(contentsOf: value ? Self.trueBytes : Self.falseBytes)
    }

    /// Prints `null`.
    public mutating func null() {
        separate()
        bytes.append(contentsOf: Self.nullBytes)
    }

    /// Prints a JSON value with its exact bytes.
    public mutating func raw(_ value: JSONText) {
        separate()
        bytes.append(contentsOf: value.bytes)
    }

    /// Appends bytes unchanged and without a comma. The bytes may be part of a value.
    public mutating func splice(_ part: some Sequence<UInt8>) { bytes.append(contentsOf: part) }

    /// Prints a member with a string value.
    public mutating func member(_ name: StaticString, _ value: String) {
        key(name)
        string(value)
    }

    /// Prints a member with an integer value.
    public mutating func member(_ name: StaticString, _ value: some BinaryInteger) {
        key(name)
        integer(value)
    }

    /// Prints a member with an integer value. Faster than the generic form, which the compiler does not specialize for
    /// callers in other modules.
    public mutating func member(_ name: StaticString, _ value: Int) {
        key(name)
        separate()
        bytes.append(contentsOf: String(value).utf8)
    }

    /// Prints a member with an integer value.
    public mutating func member(_ name: StaticString, _ value: Int64) { member(name, Int(value)) }

    /// Prints a member with a Boolean value.
    public mutating func member(_ name: StaticString, _ value: Bool) {
        key(name)
        boolean(value)
    }

    /// Prints a member with the exact bytes of its value.
    public mutating func member(_ name: StaticString, _ value: JSONText) {
        key(name)
        raw(value)
    }

    /// Prints a member with an array of strings.
    public mutating func member(_ name: StaticString, _ values: some Sequence<String>) {
        key(name)
        beginArray()
        for value in values { string(value) }
        endArray()
    }

    /// Prints a member with the value `null`.
    public mutating func nullMember(_ name: StaticString) {
        key(name)
        null()
    }

    private mutating func separate() {
        switch bytes.last {
        case nil, UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"): return
        default: bytes.append(UInt8(ascii: ","))
        }
    }

    /// Appends text with only the escapes that RFC 8259, section 7, requires: for the quote, the backslash and the C0
    /// control characters.
    private mutating func escape(_ text: UnsafeBufferPointer<UInt8>) {
        var start = 0
        while case let index = text.endOfUnescaped(from: start), index < text.count {
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<index]))
            start = index + 1
            let byte = text[index]
            bytes.append(0x5C)
            switch byte {
            case 0x22, 0x5C: bytes.append(byte)
            case 0x08: bytes.append(UInt8(ascii: "b"))
            case 0x09: bytes.append(UInt8(ascii: "t"))
            case 0x0A: bytes.append(UInt8(ascii: "n"))
            case 0x0C: bytes.append(UInt8(ascii: "f"))
            case 0x0D: bytes.append(UInt8(ascii: "r"))
            default:
                bytes.append(contentsOf: [UInt8(ascii: "u"), 0x30, 0x30, 0x30 + (byte >> 4)])
                bytes.append(Self.hexDigits[Int(byte & 0xF)])
            }
        }
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start...]))
    }

    private static let hexDigits = Array("0123456789abcdef".utf8)
    private static let trueBytes = Array("true".utf8)
    private static let falseBytes = Array("false".utf8)
    private static let nullBytes = Array("null".utf8)
}

extension JSONText {
    /// Creates a value by calling `print` with a writer. `print` must print one complete JSON value.
    public init(capacity: Int = 256, _ print: (inout JSONWriter) -> Void) {
        var writer = JSONWriter(capacity: capacity)
        print(&writer)
        self.init(trusted: writer.bytes)
    }
}
