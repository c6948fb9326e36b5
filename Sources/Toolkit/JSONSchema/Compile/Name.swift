import JSON

/// A name compared by its bytes. `String` takes canonically equivalent spellings for equal; JSON does not.
struct Name: Hashable, Sendable, Comparable {
    let bytes: [UInt8]

    init(_ text: some StringProtocol) { bytes = Array(text.utf8) }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    static func < (left: Name, right: Name) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}

extension String {
    /// One reference token of a JSON Pointer (RFC 6901 section 3).
    var pointerToken: String { JSONPointer.escaped(self) }

    /// Cut to a length that fits into a sentence.
    var quotable: String {
        unicodeScalars.count <= 64 ? self : String(String.UnicodeScalarView(unicodeScalars.prefix(61))) + "…"
    }

    func starts(withASCII prefix: StaticString) -> Bool {
        prefix.withUTF8Buffer { utf8.starts(with: $0) }
    }
}
