/// Prints compact JSON, without white space between tokens, into a growing byte buffer.
///
/// The writer decides from the last byte whether a comma is needed, so trusted JSON text can be inserted at any
/// position. The writer does not check the order of calls. A wrong order prints invalid JSON.
public struct JSONWriter: ~Copyable {
    /// The bytes printed so far.
    public private(set) var bytes: [UInt8]

    /// The index of the first byte of the JSON text. The bytes before it are not JSON.
    private var start = 0

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
    public mutating func key(_ name: StaticString) { append(key: name, 0) { _ in } }

    /// Prints the name of the next member, escaped.
    public mutating func key(text name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
    }

    /// Prints a string, escaped.
    public mutating func string(_ value: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        value.withBytes { escape($0) }
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
        append(key: name, prefix.utf8CodeUnitCount + 22) { end in
            end.put(UInt8(ascii: "\""))
            end.put(prefix)
            end.put(digits: value)
            end.put(UInt8(ascii: "\""))
        }
    }

    /// Prints `true` or `false`.
    public mutating func boolean(_ value: Bool) {
        separate()
        splice(value ? Self.trueText : Self.falseText)
    }

    /// Prints `null`.
    public mutating func null() {
        separate()
        splice(Self.nullText)
    }

    /// Prints a JSON value with its exact bytes.
    public mutating func raw(_ value: JSONText) {
        separate()
        bytes.append(contentsOf: value.bytes)
    }

    /// Appends bytes unchanged and without a comma. The bytes may be part of a value.
    public mutating func splice(_ part: some Sequence<UInt8>) { bytes.append(contentsOf: part) }

    /// Appends text unchanged and without a comma. The text may be part of a value.
    public mutating func splice(_ part: StaticString) { append(part.utf8CodeUnitCount) { $0.put(part) } }

    /// Appends text unchanged and without a comma. The text may be part of a value.
    public mutating func splice(text: String) { text.withBytes { bytes.append(contentsOf: $0) } }

    /// Appends the decimal digits of a number without a comma.
    public mutating func splice(digits value: UInt64) { append(20) { $0.put(digits: value) } }

    /// Begins the JSON text. The bytes before it need not be JSON, and no comma follows them. ``text`` would also
    /// contain these bytes, so use ``bytes`` afterwards.
    public mutating func beginText() { start = bytes.count }

    /// Removes all line breaks from the JSON text. In valid JSON, they occur only between tokens.
    public mutating func removeLineBreaks() {
        guard bytes.withUnsafeBytes({ UnsafeRawBufferPointer(rebasing: $0[start...]).hasLineBreak }) else { return }
        bytes.replaceSubrange(start..., with: bytes[start...].filter { $0 != 0x0A && $0 != 0x0D })
    }

    /// Prints a member with a string value.
    public mutating func member(_ name: StaticString, _ value: String) {
        value.withBytes { text in
            guard text.endOfUnescaped(from: 0) == text.count else {
                key(name)
                bytes.append(UInt8(ascii: "\""))
                escape(text)
                bytes.append(UInt8(ascii: "\""))
                return
            }
            append(key: name, text.count + 2) { end in
                end.put(UInt8(ascii: "\""))
                end.put(text)
                end.put(UInt8(ascii: "\""))
            }
        }
    }

    /// Prints a member with an integer value.
    public mutating func member(_ name: StaticString, _ value: some BinaryInteger) {
        key(name)
        integer(value)
    }

    /// Prints a member with an integer value. Faster than the generic form, which the compiler does not specialize for
    /// callers in other modules.
    public mutating func member(_ name: StaticString, _ value: Int) {
        append(key: name, 20) { end in
            if value < 0 { end.put(UInt8(ascii: "-")) }
            end.put(digits: UInt64(value.magnitude))
        }
    }

    /// Prints a member with an integer value.
    public mutating func member(_ name: StaticString, _ value: Int64) { member(name, Int(value)) }

    /// Prints a member with a Boolean value.
    public mutating func member(_ name: StaticString, _ value: Bool) {
        append(key: name, 5) { $0.put(value ? Self.trueText : Self.falseText) }
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
    public mutating func nullMember(_ name: StaticString) { append(key: name, 4) { $0.put(Self.nullText) } }

    /// True when a comma must precede the next value or the name of the next member.
    private var needsComma: Bool {
        guard bytes.count > start else { return false }
        return switch bytes[bytes.count - 1] {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"): false
        default: true
        }
    }

    private mutating func separate() { if needsComma { bytes.append(UInt8(ascii: ",")) } }

    /// Appends the name of a member, and the bytes that `write` puts.
    ///
    /// - Parameter most: the maximum number of bytes that `write` may put.
    @inline(__always)
    private mutating func append(key name: StaticString, _ most: Int, _ write: (inout ByteEnd) -> Void) {
        let needsComma = needsComma
        append(name.utf8CodeUnitCount + most + 4) { end in
            if needsComma { end.put(UInt8(ascii: ",")) }
            end.put(UInt8(ascii: "\""))
            end.put(name)
            end.put(UInt8(ascii: "\""))
            end.put(UInt8(ascii: ":"))
            write(&end)
        }
    }

    /// Appends the bytes that `write` puts, with one check of the capacity for all of them.
    ///
    /// - Parameter most: the maximum number of bytes that `write` may put.
    @inline(__always)
    private mutating func append(_ most: Int, _ write: (inout ByteEnd) -> Void) {
        bytes.append(addingCapacity: most) { span in
            span.withUnsafeMutableBufferPointer { buffer, count in
                guard let start = buffer.baseAddress else { return }
                var end = ByteEnd(address: start)
                write(&end)
                count = end.address - start
                assert(count <= most)
            }
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
    private static var trueText: StaticString { "true" }
    private static var falseText: StaticString { "false" }
    private static var nullText: StaticString { "null" }
}

/// The end of a buffer to which bytes are written. Each function writes bytes at the end and moves it. The caller must
/// have reserved the memory; no function checks it.
private struct ByteEnd {
    var address: UnsafeMutablePointer<UInt8>

    @inline(__always)
    mutating func put(_ byte: UInt8) {
        address.pointee = byte
        address += 1
    }

    @inline(__always)
    mutating func put(_ text: StaticString) {
        address.update(from: text.utf8Start, count: text.utf8CodeUnitCount)
        address += text.utf8CodeUnitCount
    }

    @inline(__always)
    mutating func put(_ text: UnsafeBufferPointer<UInt8>) {
        guard let start = text.baseAddress else { return }
        address.update(from: start, count: text.count)
        address += text.count
    }

    /// Writes the decimal digits of a number, at most 20.
    mutating func put(digits value: UInt64) {
        if value >= 100_000_000 {
            put(digits: value / 100_000_000)
            let digits = Self.eightDigits(of: value % 100_000_000)
            UnsafeMutableRawPointer(address).storeBytes(of: digits.littleEndian, as: UInt64.self)
            address += 8
        } else {
            let digits = Self.eightDigits(of: value)
            let zeros = min(7, (digits ^ Self.eightDigits(of: 0)).trailingZeroBitCount / 8)
            for index in zeros..<8 { put(UInt8(truncatingIfNeeded: digits >> (8 * UInt64(index)))) }
        }
    }

    /// The eight decimal digits of a number below 10^8, with leading zeros. The first digit is in the lowest bits.
    ///
    /// Splits the number into two parts, then four, then eight. The parts are in one word, so that one operation splits
    /// all of them. A multiplication and a shift divide by 100 and by 10. The quotients are exact for parts of this
    /// size.
    @inline(__always)
    private static func eightDigits(of value: UInt64) -> UInt64 {
        var parts = value / 10_000 | (value % 10_000) << 32
        let hundreds = (parts &* 10_486) >> 20 & 0x0000_007F_0000_007F
        parts = hundreds | (parts &- hundreds &* 100) << 16
        let tens = (parts &* 103) >> 10 & 0x000F_000F_000F_000F
        parts = tens | (parts &- tens &* 10) << 8
        return parts | 0x3030_3030_3030_3030
    }
}

extension String {
    /// Calls `body` with the text in UTF-8, without a copy.
    @inline(__always)
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        // On Linux, all strings are stored as UTF-8.
        utf8.withContiguousStorageIfAvailable(body)!
    }
}

extension JSONText {
    /// Creates a value by calling `print` with a writer. `print` must print one complete JSON value.
    public init(capacity: Int = 256, _ print: (inout JSONWriter) -> Void) {
        var writer = JSONWriter(capacity: capacity)
        print(&writer)
        self.init(trusted: writer.bytes)
    }
}
