import CLinux
import Glibc

/// The parts of the header of an HTTP request or response that the driver needs.
struct MessageHead {
    /// The status; 0 in a request.
    private(set) var status = 0
    /// The length of the header in bytes, which is also the offset of the body.
    private(set) var length = 0
    private(set) var contentLength: Int?
    private(set) var isChunked = false
    private(set) var isClosing = false

    /// Parses a header; nil when the header is incomplete.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var line = 0
        while line < bytes.count, let found = memchr(bytes.baseAddress! + line, 0x0A, bytes.count - line) {
            let next = UnsafeRawPointer(found) - bytes.baseAddress! + 1
            let end = next >= line + 2 && bytes[next - 2] == 0x0D ? next - 2 : next - 1
            if end == line {
                length = next
                return
            }
            parse(UnsafeRawBufferPointer(rebasing: bytes[line..<end]))
            line = next
        }
        return nil
    }

    private mutating func parse(_ line: UnsafeRawBufferPointer) {
        switch line[0] {
        case UInt8(ascii: "H") where status == 0 && line.count >= 12:
            status = line[9..<12].reduce(0) { $0 * 10 + Int($1 & 0x0F) }
        case UInt8(ascii: "c"), UInt8(ascii: "C"):
            if let value = Self.value(of: "content-length:", line) {
                contentLength = value.filter { $0 != 0x20 }.reduce(0) { $0 &* 10 &+ Int($1 & 0x0F) }
            } else if let value = Self.value(of: "connection:", line) {
                isClosing = value.contains { $0 | 0x20 == UInt8(ascii: "s") }  // `close`, not `keep-alive`
            }
        case UInt8(ascii: "t"), UInt8(ascii: "T"):
            if Self.value(of: "transfer-encoding:", line) != nil { isChunked = true }
        default: break
        }
    }

    private static func value(of name: StaticString, _ line: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer>? {
        guard line.count >= name.utf8CodeUnitCount else { return nil }
        for index in 0..<name.utf8CodeUnitCount where line[index] | 0x20 != name.utf8Start[index] | 0x20 { return nil }
        return line[name.utf8CodeUnitCount...]
    }

    /// Returns the offset of the message's end, or nil when the message is incomplete.
    func end(in bytes: UnsafeRawBufferPointer) -> Int? {
        if isChunked {
            return bytes.count >= length + 5 && bytes.suffix(5).elementsEqual("0\r\n\r\n".utf8) ? bytes.count : nil
        }
        let end = length + (contentLength ?? 0)
        return bytes.count >= end ? end : nil
    }
}
