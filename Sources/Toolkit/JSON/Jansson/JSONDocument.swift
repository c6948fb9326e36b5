import CJansson
import Synchronization

/// A checked JSON text. Its tree is built when the root is first read.
///
/// ``JSONScan`` checks the text first and builds no tree, because most requests are read as bytes and as single members.
/// jansson checks the texts that the scan does not accept, and builds all trees. jansson rejects some texts that RFC 8259
/// allows: numbers that do not fit into 64 bits or a double (see `JSONNumbers`), and `\u0000` in a member's name.
public final class JSONDocument: @unchecked Sendable {
    // `@unchecked Sendable` is safe, because the tree is never changed after parsing and jansson's reference counts are
    // atomic.

    /// The text, without surrounding white space.
    public let text: JSONText
    /// The members of the outer object, with their ranges in ``text``; empty when the root is not an object.
    let outerMembers: [JSONScan.Member]
    /// The tree; nil until it is built.
    private let tree: Atomic<UnsafeMutablePointer<json_t>?>

    /// Checks one JSON value of any kind.
    ///
    /// - Throws: `JSONError` with the position. Nothing is allocated for a text beyond `limits`.
    public init(
        _ bytes: [UInt8], limits: JSONLimits = JSONLimits(), numbers: JSONNumbers = .strict,
        duplicates: JSONDuplicates = .refused
    ) throws(JSONError) {
        guard bytes.count <= limits.bytes else {
            throw JSONError(reason: .tooLarge, message: "the text is longer than \(limits.bytes) bytes")
        }
        let text = JSONText(trusted: Self.trimmed(bytes))
        if let members = JSONScan.members(of: text.bytes, depth: limits.depth) {
            outerMembers = members
            tree = Atomic(nil)
        } else {
            if let offset = Self.firstTooDeep(bytes, limit: limits.depth) {
                throw .tooDeep(bytes, at: offset, limit: limits.depth)
            }
            tree = Atomic(try Self.parse(bytes, numbers: numbers, duplicates: duplicates))
            outerMembers = text.memberRanges
        }
        self.text = text
    }

    /// Reads a text that the program has printed or parsed before. Accepts all numbers. If an object contains a name
    /// more than once, the last member with this name is used.
    ///
    /// - Throws: `JSONError` with the position, if the text is not valid JSON or its nesting is deeper than 2048.
    public convenience init(_ text: JSONText) throws(JSONError) {
        try self.init(text.bytes, limits: JSONLimits(depth: 2048), numbers: .any, duplicates: .lastWins)
    }

    deinit { if let tree = tree.load(ordering: .acquiring) { json_decref(tree) } }

    /// The root value. The first call may parse the text.
    public var root: JSONValue { JSONValue(document: self, node: tree.load(ordering: .acquiring) ?? buildTree()) }

    /// Parses a text that the scan has accepted. If several threads do so at the same time, the first tree remains.
    private func buildTree() -> UnsafeMutablePointer<json_t> {
        var failure = json_error_t()
        // jansson accepts each text that the scan accepts. Its only error can be that memory is exhausted; the value
        // is then `null`.
        let built = Self.load(text.bytes, Int(JSON_DECODE_ANY), &failure) ?? json_null()!
        let (isFirst, first) = tree.compareExchange(expected: nil, desired: built, ordering: .acquiringAndReleasing)
        guard !isFirst, let first else { return built }
        json_decref(built)
        return first
    }

    /// Returns the members of the root object, in order, each with the exact bytes of its value; `nil` when the root is
    /// not an object.
    public func rawMembers() -> [(name: String, value: JSONText)]? { text.rawMembers() }

    /// Parses a text with jansson. Returns the tree, which the caller must release.
    static func parse(
        _ bytes: [UInt8], numbers: JSONNumbers, duplicates: JSONDuplicates
    ) throws(JSONError) -> UnsafeMutablePointer<json_t> {
        var flags = Int(JSON_DECODE_ANY) | Int(JSON_ALLOW_NUL)
        if duplicates == .refused { flags |= Int(JSON_REJECT_DUPLICATES) }
        var failure = json_error_t()
        if let tree = load(bytes, flags, &failure) { return tree }
        let error = JSONError(failure)
        guard numbers != .strict else { throw error }
        if error.reason == .numberOutOfRange,
            let tree = load(bytes, flags | Int(JSON_DECODE_INT_AS_REAL), &failure)
        {
            return tree
        }
        guard numbers == .any, let bounded = NumberBounding.bounded(bytes) else { throw JSONError(failure) }
        return try parse(bounded, numbers: .lenient, duplicates: duplicates)
    }

    private static func load(
        _ bytes: [UInt8], _ flags: Int, _ failure: inout json_error_t
    ) -> UnsafeMutablePointer<json_t>? {
        bytes.withUnsafeBytes { buffer in
            // The address of an empty array may be null. jansson reports a null address as an invalid argument instead
            // of a syntax error.
            let start = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            return withExtendedLifetime(buffer) {
                start.map { json_loadb($0, buffer.count, flags, &failure) } ?? json_loadb("", 0, flags, &failure)
            }
        }
    }

    /// The text without surrounding white space.
    static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        guard let first = bytes.first, let last = bytes.last, first.isJSONSpace || last.isJSONSpace,
            let start = bytes.firstIndex(where: { !$0.isJSONSpace }),
            let end = bytes.lastIndex(where: { !$0.isJSONSpace })
        else { return bytes }
        return Array(bytes[start...end])
    }

    /// The position of the first bracket that is nested deeper than `limit`; nil if there is none. The text may be
    /// invalid. The depth is checked before parsing, because the parser would build the whole tree.
    private static func firstTooDeep(_ bytes: [UInt8], limit: Int) -> Int? {
        bytes.withUnsafeBufferPointer { text in
            var (at, depth) = (0, 0)
            while at < text.count {
                switch text[at] {
                case UInt8(ascii: "\""): at = text.endOfString(from: at + 1)
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    depth += 1
                    if depth > limit { return at }
                case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
                default: break
                }
                at += 1
            }
            return nil
        }
    }
}

/// Seeds jansson's hash tables with a random number of the system. Call it once at start-up, before the first text is
/// parsed. jansson would otherwise seed them at the first use, which is a race if two threads parse at the same time.
public func seedJSON() { json_object_seed(0) }

extension JSONDocument {
    /// The version of jansson on this machine, for instance `2.14`.
    public static var libraryVersion: String { jansson_version_str().map { String(cString: $0) } ?? "unknown" }
}

extension JSONError {
    /// The error for the bracket at `offset` that is nested too deeply.
    fileprivate static func tooDeep(_ bytes: [UInt8], at offset: Int, limit: Int) -> JSONError {
        let before = bytes[..<offset]
        let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        return JSONError(
            reason: .tooDeep, message: "nested deeper than \(limit) levels",
            line: before.count(where: { $0 == 0x0A }) + 1,
            // Columns count characters, so UTF-8 continuation bytes are not counted.
            column: before[lineStart...].count(where: { $0 & 0xC0 != 0x80 }) + 1, offset: offset)
    }

    /// Creates an error from jansson's error report. jansson's message may quote the text at the position of the error
    /// (`… near 'x'`). The quote is safe to return, because it is part of the sender's own text.
    init(_ failure: json_error_t) {
        var failure = failure
        // jansson keeps the error code in the last byte of the text buffer (`json_error_code`, jansson.h).
        let code = withUnsafeBytes(of: &failure.text) { $0[$0.count - 1] }
        let text = withUnsafeBytes(of: &failure.text) { String(decoding: $0.prefix(while: { $0 != 0 }), as: UTF8.self) }
        let reason: Reason =
            switch UInt32(code) {
            case json_error_duplicate_key.rawValue: .duplicateName
            case json_error_stack_overflow.rawValue: .tooDeep
            case json_error_numeric_overflow.rawValue where text.hasPrefix("too big"): .numberOutOfRange
            default: .malformed
            }
        self.init(
            reason: reason, message: text, line: Int(failure.line), column: Int(failure.column),
            offset: Int(failure.position))
    }
}

/// Replaces numbers that are valid JSON but too large for a double, such as `1e400`.
enum NumberBounding {
    /// Returns the text after replacing each number that is too large for a double. The replacement is the largest
    /// double with the same sign. Returns `nil` when the text contains no such number.
    static func bounded(_ bytes: [UInt8]) -> [UInt8]? {
        var output: [UInt8] = []
        var isString = false
        var index = 0
        var copied = 0
        while index < bytes.count {
            let start = index
            index += 1
            switch bytes[start] {
            case UInt8(ascii: "\\") where isString: index += 1
            case UInt8(ascii: "\""): isString.toggle()
            case UInt8(ascii: "-"), 0x30...0x39:
                guard !isString else { continue }
                while index < bytes.count, isNumeral(bytes[index]) { index += 1 }
                guard let largest = largest(for: bytes[start..<index]) else { continue }
                output += bytes[copied..<start] + largest
                copied = index
            default: break
            }
        }
        return copied == 0 ? nil : output + bytes[copied...]
    }

    private static func largest(for numeral: ArraySlice<UInt8>) -> [UInt8]? {
        let text = String(decoding: numeral, as: UTF8.self)
        // `Double(_:)` accepts texts that are not JSON numbers, for instance with leading zeros, so the syntax is
        // checked as well.
        guard let value = Double(text), value.isInfinite,
            text.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+\-]?[0-9]+)?/) != nil
        else { return nil }
        return Array((value < 0 ? -Double.greatestFiniteMagnitude : .greatestFiniteMagnitude).description.utf8)
    }

    private static func isNumeral(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }
}
