import ChatModel

/// A token of an expression.
enum FilterToken: Equatable {
    case number(String)
    /// A quoted text, split at its unescaped stars. A star is a wildcard for `LIKE`, and an ordinary character for any
    /// other operator.
    case string([String])
    /// A name or a keyword, in its original case.
    case word(String)
    /// An operator or a bracket.
    case symbol(String)
    case end
}

/// Splits an expression into tokens, one at a time.
struct FilterLexer {
    static let errorSlug = "bad_filter"

    private let bytes: [UInt8]
    private var at = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    /// Returns the next token, and the offset of its first byte.
    mutating func next() throws(ChatError) -> (token: FilterToken, offset: Int) {
        while at < bytes.count, Self.isSpace(bytes[at]) { at += 1 }
        let start = at
        guard at < bytes.count else { return (.end, start) }
        let byte = bytes[at]
        if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") { return (.string(try string()), start) }
        if Self.isDigit(byte) { return (.number(try number()), start) }
        if Self.isWord(byte) {
            accept(while: { Self.isWord($0) || Self.isDigit($0) })
            return (.word(text(from: start)), start)
        }
        return (.symbol(try symbol()), start)
    }

    /// Returns an error whose message consists of `what` and the column of the character at a byte offset of the text.
    func fault(_ what: String, at offset: Int) -> ChatError {
        // The column counts characters, so UTF-8 continuation bytes are skipped.
        let column = bytes[..<min(offset, bytes.count)].count { $0 & 0xC0 != 0x80 } + 1
        return ChatError(
            .malformed, "bad filter: \(what) at column \(column)", slug: Self.errorSlug, field: "filter")
    }

    private mutating func string() throws(ChatError) -> [String] {
        let start = at
        let quote = bytes[at]
        at += 1
        var pieces: [[UInt8]] = [[]]
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            switch byte {
            case quote: return pieces.map { String(decoding: $0, as: UTF8.self) }
            case UInt8(ascii: "*"): pieces.append([])
            case UInt8(ascii: "\\") where at < bytes.count && Self.isEscapable(bytes[at]):
                pieces[pieces.count - 1].append(bytes[at])
                at += 1
            default: pieces[pieces.count - 1].append(byte)
            }
        }
        throw fault("the closing quote of a text is missing", at: start)
    }

    private mutating func number() throws(ChatError) -> String {
        let start = at
        accept(while: Self.isDigit)
        if at + 1 < bytes.count, bytes[at] == UInt8(ascii: "."), Self.isDigit(bytes[at + 1]) {
            at += 1
            accept(while: Self.isDigit)
        }
        if let exponent = exponentLength() {
            at += exponent
            accept(while: Self.isDigit)
        }
        // Texts such as `1.2.3`, `5x` and `7.` are errors. They are not read as a number and another token.
        guard at >= bytes.count || !(Self.isWord(bytes[at]) || bytes[at] == UInt8(ascii: ".")) else {
            throw fault("a number is not valid", at: start)
        }
        return text(from: start)
    }

    /// Returns the length in bytes of `e`, `e+` or `e-`, if one of these texts comes next and digits follow; otherwise
    /// nil.
    private func exponentLength() -> Int? {
        guard at < bytes.count, bytes[at] | 0x20 == UInt8(ascii: "e") else { return nil }
        let isSigned =
            at + 1 < bytes.count && (bytes[at + 1] == UInt8(ascii: "+") || bytes[at + 1] == UInt8(ascii: "-"))
        let length = isSigned ? 2 : 1
        return at + length < bytes.count && Self.isDigit(bytes[at + length]) ? length : nil
    }

    private mutating func symbol() throws(ChatError) -> String {
        for pair in Self.pairs where bytes[at...].starts(with: pair.utf8) {
            at += 2
            return pair
        }
        let character = String(UnicodeScalar(bytes[at]))
        guard Self.singles.contains(bytes[at]) else {
            let hint = character == "=" ? "unexpected '=' (use '==' for equality)" : "unexpected '\(character)'"
            throw fault(hint, at: at)
        }
        at += 1
        return character
    }

    private mutating func accept(while holds: (UInt8) -> Bool) {
        while at < bytes.count, holds(bytes[at]) { at += 1 }
    }

    private func text(from start: Int) -> String { String(decoding: bytes[start..<at], as: UTF8.self) }

    private static let pairs = ["||", "&&", "==", "!=", "<=", ">="]
    private static let singles = Set("<>!+-|^*/%&~(),.[]".utf8)

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// Returns true for bytes that may be in a name: letters, `_`, `$` and every byte beyond ASCII, because names may
    /// be members of any JSON object.
    private static func isWord(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20) && byte < 0x80 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
            || byte >= 0x80
    }

    private static func isEscapable(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
            || byte == UInt8(ascii: "*")
    }
}
