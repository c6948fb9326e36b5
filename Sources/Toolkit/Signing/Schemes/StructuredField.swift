/// A parser of the part of Structured Field Values (RFC 9651) that message signatures use: dictionaries whose values
/// are byte sequences or inner lists of strings, with parameters.
///
/// The result contains the signed text as it was received, because printing the parsed values again could produce a
/// different text.
struct StructuredField {
    /// One member of a dictionary.
    struct Member {
        enum Value {
            case bytes([UInt8])
            /// The names of the covered components, in order.
            case names([String])
        }

        var key: String
        var value: Value
        var parameters: [String: Parameter]
        /// The text of the value and its parameters, as received.
        var text: String
    }

    enum Parameter: Equatable {
        case integer(Int64)
        case string(String)
        /// A value of a type that is not needed here, for instance a token, a Boolean or bytes.
        case other
    }

    /// Parses a dictionary. Returns `nil` when the text is not a dictionary or contains values of other types.
    ///
    /// - Parameter most: the maximum number of members. A dictionary with more members is rejected.
    static func dictionary(_ text: String, most: Int = 8) -> [Member]? {
        var reader = Reader(text)
        var members: [Member] = []
        repeat {
            reader.skipBlanks()
            guard members.count < most, let key = reader.key(), reader.accept("=") else { return nil }
            let start = reader.at
            guard let value = reader.value(), let parameters = reader.parameters() else { return nil }
            // A dictionary with equal keys is rejected. RFC 9651, 4.2.2, would use the last of them, but the sender's
            // intention is unclear.
            guard !members.contains(where: { $0.key == key }) else { return nil }
            members.append(
                Member(key: key, value: value, parameters: parameters, text: reader.text(from: start)))
            reader.skipBlanks()
        } while reader.accept(",")
        return reader.isAtEnd ? members : nil
    }

    private struct Reader {
        private let bytes: [UInt8]
        private(set) var at = 0

        init(_ text: String) { bytes = Array(text.utf8) }

        var isAtEnd: Bool { at == bytes.count }

        func text(from start: Int) -> String { String(decoding: bytes[start..<at], as: UTF8.self) }

        mutating func accept(_ character: Unicode.Scalar) -> Bool {
            guard at < bytes.count, bytes[at] == UInt8(ascii: character) else { return false }
            at += 1
            return true
        }

        mutating func skipBlanks() {
            while at < bytes.count, bytes[at] == UInt8(ascii: " ") || bytes[at] == UInt8(ascii: "\t") { at += 1 }
        }

        mutating func key() -> String? {
            let start = at
            while at < bytes.count, Self.isKey(bytes[at], first: at == start) { at += 1 }
            return at > start ? text(from: start) : nil
        }

        mutating func value() -> Member.Value? {
            if at < bytes.count, bytes[at] == UInt8(ascii: ":") { return byteSequence().map { .bytes($0) } }
            return innerList().map { .names($0) }
        }

        private mutating func byteSequence() -> [UInt8]? {
            guard accept(":"), let end = bytes[at...].firstIndex(of: UInt8(ascii: ":")) else { return nil }
            defer { at = end + 1 }
            return Base64.decode(String(decoding: bytes[at..<end], as: UTF8.self))
        }

        /// Parses an inner list of strings, the names of the components that a message signature covers. Returns `nil`
        /// if a name has parameters, which are not supported.
        private mutating func innerList() -> [String]? {
            guard accept("(") else { return nil }
            var names: [String] = []
            while true {
                skipBlanks()
                if accept(")") { return names }
                guard let name = string() else { return nil }
                names.append(name)
                guard at < bytes.count, bytes[at] == UInt8(ascii: " ") || bytes[at] == UInt8(ascii: ")") else {
                    return nil
                }
            }
        }

        private mutating func string() -> String? {
            guard accept("\"") else { return nil }
            var characters: [UInt8] = []
            while at < bytes.count {
                let byte = bytes[at]
                at += 1
                switch byte {
                case UInt8(ascii: "\""): return String(decoding: characters, as: UTF8.self)
                case UInt8(ascii: "\\"):
                    guard at < bytes.count, bytes[at] == UInt8(ascii: "\"") || bytes[at] == UInt8(ascii: "\\") else {
                        return nil
                    }
                    characters.append(bytes[at])
                    at += 1
                case 0x20...0x7E: characters.append(byte)
                default: return nil
                }
            }
            return nil
        }

        mutating func parameters() -> [String: Parameter]? {
            var parameters: [String: Parameter] = [:]
            while accept(";") {
                skipBlanks()
                guard let key = key() else { return nil }
                guard accept("=") else {
                    parameters[key] = .other
                    continue
                }
                guard let value = parameter(), parameters.updateValue(value, forKey: key) == nil else { return nil }
            }
            return parameters
        }

        private mutating func parameter() -> Parameter? {
            if at < bytes.count, bytes[at] == UInt8(ascii: "\"") { return string().map { .string($0) } }
            let start = at
            let ends = Array(";, \t()\"".utf8)
            while at < bytes.count, !ends.contains(bytes[at]), (0x21...0x7E).contains(bytes[at]) { at += 1 }
            guard at > start else { return nil }
            let text = text(from: start)
            let isNumber = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard isNumber else { return .other }
            // An integer has at most fifteen digits (RFC 9651, 3.3.1).
            return text.utf8.count <= 15 ? Int64(text).map { .integer($0) } : nil
        }

        private static func isKey(_ byte: UInt8, first: Bool) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "*"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."): !first
            default: false
            }
        }
    }
}
