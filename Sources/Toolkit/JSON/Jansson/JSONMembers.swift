import Glibc

/// The members of an object in their order, each with the exact bytes of its value.
///
/// An object of a request has few members, so a lookup compares the names one after another. The names are compared in
/// the text, without creating strings. If a name occurs more than once, the last member with this name is used.
public struct JSONMembers: Sendable {
    private let text: JSONText
    private let members: [JSONScan.Member]

    /// The members of the root of a document; nil when the root is not an object.
    public init?(_ document: JSONDocument) {
        guard document.text.kind == .object else { return nil }
        text = document.text
        members = document.outerMembers
    }

    /// The members of an object; nil when the value is not an object.
    public init?(_ text: JSONText) {
        guard text.kind == .object else { return nil }
        self.text = text
        members = text.memberRanges
    }

    /// Checks a JSON value and finds its members; nil when the value is not an object. Makes no document if
    /// ``JSONScan`` accepts the text, as it does for most requests.
    ///
    /// - Throws: the errors of `JSONDocument`.
    public init?(
        parsing bytes: [UInt8], limits: JSONLimits = JSONLimits(), numbers: JSONNumbers = .strict
    ) throws(JSONError) {
        let text = JSONText(trusted: JSONDocument.trimmed(bytes))
        guard bytes.count <= limits.bytes, let members = JSONScan.members(of: text.bytes, depth: limits.depth) else {
            self.init(try JSONDocument(bytes, limits: limits, numbers: numbers))
            return
        }
        guard text.bytes[0] == UInt8(ascii: "{") else { return nil }
        self.init(text, members)
    }

    private init(_ text: JSONText, _ members: [JSONScan.Member]) {
        self.text = text
        self.members = members
    }

    /// The names that are not in `known`, in order.
    public func names(otherThan known: [String]) -> [String] {
        text.bytes.withUnsafeBufferPointer { bytes in
            var others: [String] = []
            for member in members where !member.isNamed(oneOf: known, in: bytes) {
                others.append(JSONText.name(bytes, member.name))
            }
            return others
        }
    }

    /// All members, in order, each with its bytes.
    public var all: [(name: String, value: JSONText)] {
        text.bytes.withUnsafeBufferPointer { bytes in
            members.map { (JSONText.name(bytes, $0.name), JSONText(trusted: Array(bytes[$0.value]))) }
        }
    }

    /// The value of a member; nil when there is no such member.
    public subscript(name: String) -> JSONPart? {
        guard let range = name.withBytes({ range(of: $0) }) else { return nil }
        return JSONPart(whole: text, range: range)
    }

    private func range(of name: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
        text.bytes.withUnsafeBufferPointer { bytes in
            var index = members.count - 1
            while index >= 0 {
                if members[index].isNamed(name, in: bytes) { return members[index].value }
                index -= 1
            }
            return nil
        }
    }
}

/// One value inside a JSON text that has been checked. Simple values are read from the bytes; jansson parses the others.
public struct JSONPart: Sendable {
    private let whole: JSONText
    private let range: Range<Int>
    /// True when this is `null`.
    public let isNull: Bool
    /// The Boolean; `nil` for any other value.
    public let boolean: Bool?

    /// Creates a part that is a whole text.
    public init(_ text: JSONText) { self.init(whole: text, range: text.bytes.indices) }

    fileprivate init(whole: JSONText, range: Range<Int>) {
        self.whole = whole
        self.range = range
        let first = whole.bytes[range.lowerBound]
        isNull = first == UInt8(ascii: "n")
        boolean = first == UInt8(ascii: "t") ? true : first == UInt8(ascii: "f") ? false : nil
    }

    /// The kind of the value.
    public var kind: JSONValue.Kind { JSONText.kind(of: whole.bytes[range]) }

    /// The exact bytes of the value.
    public var text: JSONText { JSONText(trusted: Array(whole.bytes[range])) }

    /// The parsed value. Each call parses the bytes.
    public var value: JSONValue? { try? JSONDocument(text).root }

    /// The text of a string; `nil` for any other value.
    public var string: String? {
        guard whole.bytes[range.lowerBound] == UInt8(ascii: "\"") else { return nil }
        let content = whole.bytes.withUnsafeBufferPointer { bytes -> String? in
            let content = UnsafeBufferPointer(rebasing: bytes[range.lowerBound + 1..<range.upperBound - 1])
            guard memchr(bytes.baseAddress! + range.lowerBound, Int32(UInt8(ascii: "\\")), range.count) == nil else {
                return nil
            }
            return String(decoding: content, as: UTF8.self)
        }
        return content ?? value?.string
    }
}
