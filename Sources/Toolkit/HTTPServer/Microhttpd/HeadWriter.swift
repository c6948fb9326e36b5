internal import CMicrohttpd
import Glibc

/// Writes the parts of a response into memory, in the order `begin`, `write`, `end`, `write(body)`.
struct HeadWriter {
    private let memory: UnsafeMutableRawBufferPointer
    /// The number of bytes that were written.
    private(set) var count = 0
    /// True when a field was left out because a line break or a NUL in it would have ended it.
    private(set) var hasDroppedFields = false

    fileprivate init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    /// The capacity that the status line and these fields need.
    static func capacity(for fields: [(name: String, value: String)]) -> Int {
        fields.reduce(256) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
    }

    /// The capacity that the end of the header needs.
    static func capacity(forEndWith requestID: String) -> Int { requestID.utf8.count + 64 }

    /// Writes the status line and the fields that every response has, except those of the end.
    ///
    /// - Parameter closing: true when the connection is closed after the response.
    mutating func begin(status: Int, date: String, closing: Bool) {
        write(literal: "HTTP/1.1 ")
        write(decimal: status)
        write(literal: " ")
        if let reason = MHD_get_reason_phrase_for(UInt32(status)) {
            write(UnsafeRawBufferPointer(start: reason, count: strlen(reason)))
        }
        write(literal: "\r\nX-Content-Type-Options: nosniff\r\nDate: ")
        write(date)
        if closing { write(literal: "\r\nConnection: close") }
    }

    /// Writes fields. Leaves out those without a value, and those with CR, LF or NUL: a line break would begin another
    /// field.
    mutating func write(_ fields: [(name: String, value: String)]) {
        // Uses indices, because a loop variable would retain both strings of each field.
        for index in fields.indices where !fields[index].value.isEmpty {
            write(literal: "\r\n")
            let start = count
            write(fields[index].name)
            write(literal: ": ")
            write(fields[index].value)
            guard !Self.isSafe(UnsafeRawBufferPointer(rebasing: memory[start..<count])) else { continue }
            hasDroppedFields = true
            count = start - 2
        }
    }

    /// Writes the fields that differ for each request, and the empty line.
    mutating func end(requestID: String, contentLength: Int?) {
        write(literal: "\r\nX-Request-Id: ")
        write(requestID)
        if let contentLength {
            write(literal: "\r\nContent-Length: ")
            write(decimal: contentLength)
        }
        write(literal: "\r\n\r\n")
    }

    /// Writes bytes. Ends the program if the memory is too small.
    @inline(__always)
    mutating func write(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        precondition(bytes.count <= memory.count - count, "The capacity of a response header is too small")
        (memory.baseAddress! + count).copyMemory(from: start, byteCount: bytes.count)
        count += bytes.count
    }

    @inline(__always)
    private mutating func write(_ text: String) {
        // On Linux, all strings are stored as UTF-8. `withUTF8` would need a copy of the string.
        text.utf8.withContiguousStorageIfAvailable { write(UnsafeRawBufferPointer($0)) }!
    }

    @inline(__always)
    private mutating func write(literal text: StaticString) {
        write(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// - Parameter number: a number that is not negative.
    private mutating func write(decimal number: Int) {
        withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { digits in
            var rest = number
            var start = digits.count
            repeat {
                start -= 1
                digits[start] = UInt8(0x30 + rest % 10)
                rest /= 10
            } while rest > 0
            write(UnsafeRawBufferPointer(rebasing: digits[start...]))
        }
    }

    /// Returns true when the bytes contain no CR, LF or NUL.
    private static func isSafe(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let isUnsafe: (UInt8) -> Bool = { $0 == 0x0D || $0 == 0x0A || $0 == 0 }
        var start = 0
        // Examines eight bytes at a time. Most texts have no byte below 0x0E. The subtraction sets the highest bit of such
        // a byte. Bytes above 0x7F are excluded, because they already have this bit.
        while bytes.count - start >= 8 {
            let eight = bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
            if (eight &- 0x0E0E_0E0E_0E0E_0E0E) & ~eight & 0x8080_8080_8080_8080 != 0,
                bytes[start..<start + 8].contains(where: isUnsafe)
            {
                return false
            }
            start += 8
        }
        return !bytes[start...].contains(where: isUnsafe)
    }
}

extension [UInt8] {
    /// Appends what `write` writes, which is no more than `capacity`.
    @discardableResult
    mutating func append(capacity: Int, _ write: (inout HeadWriter) -> Void) -> HeadWriter {
        withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 1) { memory in
            var writer = HeadWriter(memory)
            write(&writer)
            append(contentsOf: UnsafeRawBufferPointer(rebasing: memory[..<writer.count]))
            return writer
        }
    }
}
