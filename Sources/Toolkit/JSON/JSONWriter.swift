/// Prints JSON into a growing byte buffer. Compact: no white space, one line.
///
/// Commas are placed by looking at the last byte, so pieces of trusted text can be spliced in anywhere. The writer
/// checks nothing: calls in a wrong order print wrong JSON.
public struct JSONWriter: ~Copyable {
    public private(set) var bytes: [UInt8]

    public init(capacity: Int = 256) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    public var text: JSONText { JSONText(trusted: bytes) }

    public mutating func beginObject() {
        separate()
        bytes.append(UInt8(ascii: "{"))
    }

    public mutating func endObject() { bytes.append(UInt8(ascii: "}")) }

    public mutating func beginArray() {
        separate()
        bytes.append(UInt8(ascii: "["))
    }

    public mutating func endArray() { bytes.append(UInt8(ascii: "]")) }

    /// The name of the next member, known not to need escapes.
    public mutating func key(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    /// The name of the next member, escaped.
    public mutating func key(text name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
    }

    public mutating func string(_ value: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        var value = value
        value.withUTF8 { escape($0) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Text as bytes; what is no UTF-8 in it is replaced.
    public mutating func string(bytes text: UnsafeBufferPointer<UInt8>) {
        guard text.allSatisfy({ $0 < 0x80 }) else { return string(String(decoding: text, as: UTF8.self)) }
        separate()
        bytes.append(UInt8(ascii: "\""))
        escape(text)
        bytes.append(UInt8(ascii: "\""))
    }

    public mutating func integer(_ value: some BinaryInteger) {
        separate()
        bytes.append(contentsOf: String(value).utf8)
    }

    public mutating func boolean(_ value: Bool) {
        separate()
        bytes.append(contentsOf: value ? Self.trueBytes : Self.falseBytes)
    }

    public mutating func null() {
        separate()
        bytes.append(contentsOf: Self.nullBytes)
    }

    /// Splices a value in as it stands.
    public mutating func raw(_ value: JSONText) {
        separate()
        bytes.append(contentsOf: value.bytes)
    }

    /// Splices bytes in as they stand, without a separator: parts of a value printed elsewhere.
    public mutating func splice(_ part: some Sequence<UInt8>) { bytes.append(contentsOf: part) }

    public mutating func member(_ name: StaticString, _ value: String) {
        key(name)
        string(value)
    }

    public mutating func member(_ name: StaticString, _ value: some BinaryInteger) {
        key(name)
        integer(value)
    }

    /// As of any integer; generic code is not specialised for other modules.
    public mutating func member(_ name: StaticString, _ value: Int) {
        key(name)
        separate()
        bytes.append(contentsOf: String(value).utf8)
    }

    /// As of any integer.
    public mutating func member(_ name: StaticString, _ value: Int64) { member(name, Int(value)) }

    public mutating func member(_ name: StaticString, _ value: Bool) {
        key(name)
        boolean(value)
    }

    public mutating func member(_ name: StaticString, _ value: JSONText) {
        key(name)
        raw(value)
    }

    public mutating func member(_ name: StaticString, _ values: some Sequence<String>) {
        key(name)
        beginArray()
        for value in values { string(value) }
        endArray()
    }

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

    /// Escapes what RFC 8259 section 7 demands, and nothing else: quote, backslash and the C0 controls.
    private mutating func escape(_ text: UnsafeBufferPointer<UInt8>) {
        var start = 0
        for (index, byte) in text.enumerated() where byte < 0x20 || byte == 0x22 || byte == 0x5C {
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<index]))
            start = index + 1
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
    /// Prints a value with a writer.
    public init(capacity: Int = 256, _ print: (inout JSONWriter) -> Void) {
        var writer = JSONWriter(capacity: capacity)
        print(&writer)
        self.init(trusted: writer.bytes)
    }
}
