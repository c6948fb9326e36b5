import Glibc

extension JSONText {
    /// Returns the members of an object, in order, each with the exact bytes of its value; `nil` when this is not an
    /// object.
    public func rawMembers() -> [(name: String, value: JSONText)]? {
        guard bytes.first == UInt8(ascii: "{") else { return nil }
        return bytes.withUnsafeBufferPointer { buffer in
            var members: [(name: String, value: JSONText)] = []
            members.reserveCapacity(8)
            JSONSpans(bytes: buffer).members(from: 0) { name, value in
                members.append((Self.name(buffer, name), JSONText(trusted: Array(buffer[value]))))
                return true
            }
            return members
        }
    }

    /// Returns the exact bytes of the value of one member; `nil` when this is not an object or has no such member. If the
    /// name occurs more than once, the last member is used.
    public func rawMember(_ wanted: String) -> JSONText? {
        guard bytes.first == UInt8(ascii: "{") else { return nil }
        var wanted = wanted
        return bytes.withUnsafeBufferPointer { buffer in
            wanted.withUTF8 { wanted in
                var found: JSONText?
                JSONSpans(bytes: buffer).members(from: 0) { name, value in
                    guard JSONScan.Member(name, value, in: buffer).isNamed(wanted, in: buffer) else { return true }
                    found = JSONText(trusted: Array(buffer[value]))
                    return true
                }
                return found
            }
        }
    }

    /// Returns the exact bytes of the element at an index; `nil` when this is not an array or has no such element. Does
    /// not scan the text after the element.
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

    /// Returns the exact bytes of the value that the pointer refers to (RFC 6901, section 4); `nil` when there is none.
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

    /// Returns the exact bytes of each element of an array, in order; `nil` when this is not an array.
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

    /// Returns this value without line breaks, for streams that contain one value per line. Returns the same bytes when
    /// the value already is on one line.
    ///
    /// Only line breaks between tokens are removed, where JSON needs no white space. Inside a string, JSON allows line
    /// breaks only as escapes (RFC 8259, section 7).
    public func onOneLine() -> JSONText {
        guard bytes.withUnsafeBytes(\.hasLineBreak) else { return self }
        return JSONText(trusted: bytes.filter { $0 != 0x0A && $0 != 0x0D })
    }

    /// The ranges of the members of an object, in order; empty when this is not an object.
    var memberRanges: [JSONScan.Member] {
        guard bytes.first == UInt8(ascii: "{") else { return [] }
        return bytes.withUnsafeBufferPointer { buffer in
            var members: [JSONScan.Member] = []
            JSONSpans(bytes: buffer).members(from: 0) { name, value in
                members.append(JSONScan.Member(name, value, in: buffer))
                return true
            }
            return members
        }
    }

    /// The kind of this value.
    public var kind: JSONValue.Kind { Self.kind(of: bytes[...]) }

    /// The kind of a valid value.
    static func kind(of bytes: ArraySlice<UInt8>) -> JSONValue.Kind {
        switch bytes.first {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .boolean
        case UInt8(ascii: "n"): .null
        default:
            bytes.contains { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") } ? .real : .integer
        }
    }

    /// The text of the name at `span`, which lies inside a text that was parsed successfully.
    static func name(_ bytes: UnsafeBufferPointer<UInt8>, _ span: Range<Int>) -> String {
        let raw = UnsafeBufferPointer(rebasing: bytes[span])
        guard raw.contains(UInt8(ascii: "\\")) else { return String(decoding: raw, as: UTF8.self) }
        let quoted = [UInt8(ascii: "\"")] + Array(raw) + [UInt8(ascii: "\"")]
        // The name is part of a text that was parsed successfully, so it can be parsed as well.
        return (try? JSONDocument(quoted).root.string) ?? String(decoding: raw, as: UTF8.self)
    }
}

extension UnsafeRawBufferPointer {
    /// True when a byte is LF or CR.
    var hasLineBreak: Bool {
        guard let start = baseAddress else { return false }
        return memchr(start, 0x0A, count) != nil || memchr(start, 0x0D, count) != nil
    }
}

extension JSONScan.Member {
    /// A member of a text that was parsed successfully.
    init(_ name: Range<Int>, _ value: Range<Int>, in bytes: UnsafeBufferPointer<UInt8>) {
        self.init(name: name, value: value, isEscaped: bytes[name].contains(UInt8(ascii: "\\")))
    }

    /// True when the name, in its text, equals one of the names in `known`.
    @inline(__always)
    func isNamed(oneOf known: [String], in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        for index in known.indices where isEscaped || known[index].utf8.count == name.count {
            if known[index].withBytes({ isNamed($0, in: bytes) }) { return true }
        }
        return false
    }

    /// True when the name, in its text, equals `wanted`, compared byte by byte. A name without escapes is compared
    /// without creating a string.
    @inline(__always)
    func isNamed(_ wanted: UnsafeBufferPointer<UInt8>, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard !isEscaped else { return JSONText.name(bytes, name).utf8.elementsEqual(wanted) }
        guard name.count == wanted.count else { return false }
        guard let start = wanted.baseAddress, let text = bytes.baseAddress else { return true }
        return memcmp(text + name.lowerBound, start, wanted.count) == 0
    }
}
