import Glibc

extension JSONText {
    /// The members of an object with their values' exact bytes, in order; nil when this is no object.
    public func rawMembers() -> [(name: String, value: JSONText)]? {
        guard bytes.first == UInt8(ascii: "{") else { return nil }
        return bytes.withUnsafeBufferPointer { buffer in
            var members: [(name: String, value: JSONText)] = []
            JSONSpans(bytes: buffer).members(from: 0) { name, value in
                members.append((Self.name(buffer, name), JSONText(trusted: Array(buffer[value]))))
                return true
            }
            return members
        }
    }

    /// The exact bytes of one member of an object; nil when this is no object or has no such member.
    public func rawMember(_ wanted: String) -> JSONText? {
        guard bytes.first == UInt8(ascii: "{") else { return nil }
        return bytes.withUnsafeBufferPointer { buffer in
            var found: JSONText?
            JSONSpans(bytes: buffer).members(from: 0) { name, value in
                guard Self.isName(buffer, name, wanted) else { return true }
                found = JSONText(trusted: Array(buffer[value]))
                return false
            }
            return found
        }
    }

    /// The exact bytes of one element of an array; nil when this is no array or ends before. Reads no further than there.
    public func rawElement(_ wanted: Int) -> JSONText? {
        guard wanted >= 0, bytes.first == UInt8(ascii: "[") else { return nil }
        return bytes.withUnsafeBufferPointer { buffer in
            var found: JSONText?
            var index = 0
            JSONSpans(bytes: buffer).elements(from: 0) { value in
                if index == wanted { found = JSONText(trusted: Array(buffer[value])) }
                index += 1
                return found == nil
            }
            return found
        }
    }

    /// The exact bytes of what the pointer names; nil when there is no such place (RFC 6901, 4).
    public func at(_ pointer: JSONPointer) -> JSONText? {
        var text = self
        for token in pointer.tokens {
            if let member = text.rawMember(token) {
                text = member
            } else if let index = Int(token), String(index) == token, let element = text.rawElement(index) {
                text = element
            } else {
                return nil
            }
        }
        return text
    }

    /// The elements of an array, each with its exact bytes; nil when this is no array.
    public func rawElements() -> [JSONText]? {
        guard bytes.first == UInt8(ascii: "[") else { return nil }
        return bytes.withUnsafeBufferPointer { buffer in
            var elements: [JSONText] = []
            JSONSpans(bytes: buffer).elements(from: 0) { value in
                elements.append(JSONText(trusted: Array(buffer[value])))
                return true
            }
            return elements
        }
    }

    /// This value on one line, for streams that carry one value per line. The same bytes when it is on one already.
    ///
    /// Dropping the breaks is enough: inside a string JSON has them only escaped (RFC 8259 section 7), and between
    /// tokens it needs no white space.
    public func onOneLine() -> JSONText {
        guard !isOnOneLine else { return self }
        return JSONText(trusted: bytes.filter { $0 != 0x0A && $0 != 0x0D })
    }

    private var isOnOneLine: Bool {
        bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return true }
            return memchr(start, 0x0A, bytes.count) == nil && memchr(start, 0x0D, bytes.count) == nil
        }
    }

    /// Names are the same when their bytes are; one without escapes need not be made a string for that.
    private static func isName(_ bytes: UnsafeBufferPointer<UInt8>, _ span: Range<Int>, _ wanted: String) -> Bool {
        let raw = UnsafeBufferPointer(rebasing: bytes[span])
        if raw.contains(UInt8(ascii: "\\")) { return name(bytes, span).utf8.elementsEqual(wanted.utf8) }
        return raw.count == wanted.utf8.count && raw.elementsEqual(wanted.utf8)
    }

    private static func name(_ bytes: UnsafeBufferPointer<UInt8>, _ span: Range<Int>) -> String {
        let raw = UnsafeBufferPointer(rebasing: bytes[span])
        guard raw.contains(UInt8(ascii: "\\")) else { return String(decoding: raw, as: UTF8.self) }
        let quoted = [UInt8(ascii: "\"")] + Array(raw) + [UInt8(ascii: "\"")]
        // The span comes from a text that parsed, so its names parse too.
        return (try? JSONDocument(quoted).root.string) ?? String(decoding: raw, as: UTF8.self)
    }
}
