import Glibc

/// Header fields in the order of the message. Names are compared without regard to case.
///
/// All names and values share one buffer. A request carries about ten fields and most handlers read two of them, so
/// strings are created only for the fields that are read.
public struct Headers: Sendable {
    private struct Field: Sendable {
        var start: Int
        var nameLength: Int
        var valueLength: Int
    }

    private var text: [UInt8] = []
    private var fields: [Field] = []
    /// The lengths of all names as a bit set: bit `n` is set when a name has `n` bytes (modulo 64). Most lookups are
    /// for names that no field has. This set ends many of them without a search.
    private var nameLengths: UInt64 = 0

    /// Creates an empty list of fields.
    public init() {}

    /// Creates a list of fields in this order. A name may occur more than once.
    public init(_ fields: [(name: String, value: String)]) {
        for field in fields {
            append(name: field.name, value: field.value)
        }
    }

    /// The number of fields. Repeated names are counted each time.
    var count: Int { fields.count }

    /// Appends a field.
    mutating func append(name: String, value: String) {
        var name = name
        var value = value
        name.withUTF8 { name in
            value.withUTF8 { append(name: UnsafeRawBufferPointer(name), value: UnsafeRawBufferPointer($0)) }
        }
    }

    mutating func reserve(fields count: Int, bytes: Int) {
        fields.reserveCapacity(count)
        text.reserveCapacity(bytes)
    }

    mutating func append(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        fields.append(Field(start: text.count, nameLength: name.count, valueLength: value.count))
        nameLengths |= 1 << UInt64(name.count % 64)
        text.append(contentsOf: name)
        text.append(contentsOf: value)
    }

    /// The value of the first field with this name, without surrounding white space; `nil` when there is none.
    public subscript(name: String) -> String? {
        index(of: name).map { value(of: fields[$0]) }
    }

    /// Calls `body` with the bytes of the first field with this name, without surrounding white space. Returns nil and
    /// does not call `body` when there is no such field.
    public func withValue<Result>(of name: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result? {
        guard let index = index(of: name) else { return nil }
        let range = range(of: fields[index])
        return text.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[range])) }
    }

    /// True when the first field with this name has exactly this value.
    public func has(_ name: String, _ value: StaticString) -> Bool {
        withValue(of: name) { bytes in
            bytes.count == value.utf8CodeUnitCount && memcmp(bytes.baseAddress!, value.utf8Start, bytes.count) == 0
        } ?? false
    }

    /// The values of all fields with this name, in order.
    public subscript(all name: String) -> [String] {
        var values: [String] = []
        var next = index(of: name)
        while let index = next {
            values.append(value(of: fields[index]))
            next = self.index(of: name, from: index + 1)
        }
        return values
    }

    /// True when a field with this name exists.
    public func contains(_ name: String) -> Bool {
        index(of: name) != nil
    }

    /// All fields in order, as strings.
    public var all: [(name: String, value: String)] {
        fields.map { (String(decoding: text[$0.start..<$0.start + $0.nameLength], as: UTF8.self), value(of: $0)) }
    }

    /// Returns the index of the first field with a name, not before `start`; nil when there is none.
    private func index(of name: String, from start: Int = 0) -> Int? {
        guard nameLengths & 1 << UInt64(name.utf8.count % 64) != 0 else { return nil }
        var name = name
        return name.withUTF8 { name in
            text.withUnsafeBufferPointer { text in
                fields[start...].firstIndex { field in
                    field.nameLength == name.count && Self.isEqual(text, field.start, name)
                }
            }
        }
    }

    /// True when the bytes of `text` from `start` begin with `name`, without regard to the case of ASCII letters.
    private static func isEqual(
        _ text: UnsafeBufferPointer<UInt8>, _ start: Int, _ name: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        memcmp(text.baseAddress! + start, name.baseAddress!, name.count) == 0
            || name.indices.allSatisfy { ASCII.lowercased(text[start + $0]) == ASCII.lowercased(name[$0]) }
    }

    private func value(of field: Field) -> String { String(decoding: text[range(of: field)], as: UTF8.self) }

    private func range(of field: Field) -> Range<Int> {
        let start = field.start + field.nameLength
        var range = start..<start + field.valueLength
        while let last = range.last, ASCII.isBlank(text[last]) { range = range.lowerBound..<last }
        while let first = range.first, ASCII.isBlank(text[first]) { range = first + 1..<range.upperBound }
        return range
    }
}

/// Byte classifications that the parsers of this module share.
enum ASCII {
    @inline(__always)
    static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    @inline(__always)
    static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09
    }

    /// True for C0 controls and DEL.
    @inline(__always)
    static func isControl(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x7F
    }
}
