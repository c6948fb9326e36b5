import Glibc

extension JSONText {
    /// The members of an object with the exact bytes of their values, in order; `nil` when this is not an object.
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

    /// The exact bytes of one member of an object; `nil` when this is not an object or has no such member.
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

    /// The exact bytes of one element of an array; `nil` when this is not an array or is shorter. Reads no further
    /// than that element.
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

    /// The exact bytes at the pointer's place; `nil` when there is no such place (RFC 6901, section 4).
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

    /// The exact bytes of the elements of an array, in order; `nil` when this is not an array.
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

    /// This value on one line, for streams that carry one value per line. Returns the same bytes when the value is on
    /// one line already.
    ///
    /// Removing the line breaks is enough: inside a string JSON contains them only escaped (RFC 8259, section 7), and
    /// between tokens it needs no white space.
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

    /// Compares a name with `wanted` byte by byte. A name without escapes is compared without creating a string.
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
