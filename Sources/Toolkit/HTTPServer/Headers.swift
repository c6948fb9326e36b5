import Glibc

/// Header fields in the order of the message. Names are compared without regard to case.
///
/// All fields share one buffer. A request carries about ten fields and most handlers read two of them, so strings are
/// created only for the fields that are read.
public struct Headers: Sendable {
    /// The fields. Each consists of the length of its name and the length of its value, as two 32-bit integers, and of
    /// its name and its value.
    private var text: [UInt8] = []
    /// The marks of all names (``mark(_:)``). Most lookups are for names that no field has. This set answers most of
    /// them without a search.
    private var marks: UInt64 = 0

    /// Creates an empty list of fields.
    public init() {}

    /// Creates a list of fields in this order. A name may occur more than once.
    public init(_ fields: [(name: String, value: String)]) {
        for field in fields {
            append(name: field.name, value: field.value)
        }
    }

    /// Creates the list of the fields that `write` writes.
    ///
    /// - Parameter capacity: the number of bytes that all fields need, each with ``Writer/overhead``.
    init(capacity: Int, _ write: (inout Writer) -> Void) {
        // Much cheaper than `Array(unsafeUninitializedCapacity:)`, which the compiler does not specialize.
        (text, marks) = withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 4) { memory in
            var writer = Writer(memory)
            write(&writer)
            return (Array(UnsafeRawBufferPointer(rebasing: memory[..<writer.count])), writer.marks)
        }
    }

    /// Writes the fields of a new list.
    struct Writer {
        /// The number of bytes that a field needs besides its name and its value.
        static let overhead = 8

        private let buffer: UnsafeMutableRawBufferPointer
        fileprivate private(set) var count = 0
        fileprivate private(set) var marks: UInt64 = 0

        fileprivate init(_ buffer: UnsafeMutableRawBufferPointer) { self.buffer = buffer }

        /// Writes a field after the previous ones. Returns false, and writes nothing, if the capacity is too small.
        mutating func append(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> Bool {
            let size = Self.overhead + name.count + value.count
            guard size <= buffer.count - count, let start = buffer.baseAddress.map({ $0 + count }) else { return false }
            start.storeBytes(of: UInt32(truncatingIfNeeded: name.count), as: UInt32.self)
            start.storeBytes(of: UInt32(truncatingIfNeeded: value.count), toByteOffset: 4, as: UInt32.self)
            let text = start + Self.overhead
            if let bytes = name.baseAddress { text.copyMemory(from: bytes, byteCount: name.count) }
            if let bytes = value.baseAddress { (text + name.count).copyMemory(from: bytes, byteCount: value.count) }
            count += size
            marks |= Headers.mark(name)
            return true
        }
    }

    /// Appends a field.
    mutating func append(name: String, value: String) {
        let (name, value) = (Array(name.utf8), Array(value.utf8))
        for length in [name.count, value.count] {
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: length)) { text.append(contentsOf: $0) }
        }
        text += name + value
        marks |= name.withUnsafeBytes(Self.mark)
    }

    /// The value of the first field with this name, without surrounding white space; `nil` when there is none.
    public subscript(name: StaticString) -> String? {
        withValue(of: name) { String(decoding: $0, as: UTF8.self) }
    }

    /// Calls `body` with the bytes of the first field with this name, without surrounding white space. Returns nil and
    /// does not call `body` when there is no such field.
    ///
    /// - Throws: the error that `body` throws.
    public func withValue<Result, Failure: Error>(
        of name: StaticString, _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard let value = range(of: name) else { return nil }
        return try text.withUnsafeBufferPointer { text throws(Failure) in try body(Self.trimmed(text[value])) }
    }

    /// True when the first field with this name has exactly this value.
    public func has(_ name: StaticString, _ value: StaticString) -> Bool {
        withValue(of: name) { bytes in
            bytes.count == value.utf8CodeUnitCount && memcmp(bytes.baseAddress!, value.utf8Start, bytes.count) == 0
        } ?? false
    }

    /// The values of all fields with this name, in order.
    public subscript(all name: StaticString) -> [String] {
        var values: [String] = []
        var start = 0
        while let value = range(of: name, from: start) {
            values.append(text.withUnsafeBufferPointer { String(decoding: Self.trimmed($0[value]), as: UTF8.self) })
            start = value.upperBound
        }
        return values
    }

    /// True when a field with this name exists.
    public func contains(_ name: StaticString) -> Bool {
        range(of: name) != nil
    }

    /// True when a field with this name exists. For names that are known only at run time.
    public func contains(named name: String) -> Bool {
        var name = name
        return name.withUTF8 { range(of: UnsafeRawBufferPointer($0), from: 0) } != nil
    }

    /// All fields in order, as strings.
    public var all: [(name: String, value: String)] {
        var all: [(name: String, value: String)] = []
        text.withUnsafeBufferPointer { text in
            var fields = FieldIterator(UnsafeRawBufferPointer(text))
            while let field = fields.next() {
                let value = String(decoding: Self.trimmed(text[field.value]), as: UTF8.self)
                all.append((String(decoding: field.name, as: UTF8.self), value))
            }
        }
        return all
    }

    /// Returns the range in ``text`` of the value of the first field with this name that begins at `start` or later;
    /// nil when there is none. White space may surround the value.
    @inline(__always)
    private func range(of name: StaticString, from start: Int = 0) -> Range<Int>? {
        range(of: UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), from: start)
    }

    @inline(__always)
    private func range(of name: UnsafeRawBufferPointer, from start: Int) -> Range<Int>? {
        marks & Self.mark(name) == 0 ? nil : search(for: name, from: start)
    }

    private func search(for name: UnsafeRawBufferPointer, from start: Int) -> Range<Int>? {
        text.withUnsafeBytes { text in
            var fields = FieldIterator(text, from: start)
            while let field = fields.next() {
                if field.name.count == name.count, Self.isEqual(field.name, name) { return field.value }
            }
            return nil
        }
    }

    /// One bit that depends on the length of a name and on its last letter, regardless of case. The factor gives most
    /// of the names that browsers and this program use different bits.
    @inline(__always)
    private static func mark(_ name: UnsafeRawBufferPointer) -> UInt64 {
        guard let last = name.last else { return 1 }
        return 1 << ((UInt64(name.count) &* 25 &+ UInt64(last | 0x20)) & 63)
    }

    private struct FieldIterator {
        private let text: UnsafeRawBufferPointer
        private var position: Int

        init(_ text: UnsafeRawBufferPointer, from start: Int = 0) {
            self.text = text
            position = start
        }

        mutating func next() -> (name: UnsafeRawBufferPointer, value: Range<Int>)? {
            guard position < text.count else { return nil }
            let nameStart = position + Writer.overhead
            let valueStart = nameStart + Int(text.loadUnaligned(fromByteOffset: position, as: UInt32.self))
            position = valueStart + Int(text.loadUnaligned(fromByteOffset: nameStart - 4, as: UInt32.self))
            return (UnsafeRawBufferPointer(rebasing: text[nameStart..<valueStart]), valueStart..<position)
        }
    }

    /// True when two texts of the same length are equal without regard to the case of ASCII letters.
    private static func isEqual(_ text: UnsafeRawBufferPointer, _ name: UnsafeRawBufferPointer) -> Bool {
        guard let first = text.first, ASCII.lowercased(first) == ASCII.lowercased(name[0]) else { return text.isEmpty }
        return memcmp(text.baseAddress!, name.baseAddress!, name.count) == 0
            || name.indices.allSatisfy { ASCII.lowercased(text[$0]) == ASCII.lowercased(name[$0]) }
    }

    private static func trimmed(_ value: Slice<UnsafeBufferPointer<UInt8>>) -> UnsafeBufferPointer<UInt8> {
        var value = value
        while let last = value.last, ASCII.isBlank(last) { value.removeLast() }
        while let first = value.first, ASCII.isBlank(first) { value.removeFirst() }
        return UnsafeBufferPointer(rebasing: value)
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
