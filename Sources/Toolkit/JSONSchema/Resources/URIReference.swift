/// A URI or relative reference in its five parts (RFC 3986 section 3). Any text is accepted, and characters that no
/// part forbids are unchanged, so internationalized identifiers are supported as well.
///
/// The libraries of the platforms are not used, because they follow browsers or older RFCs and escape, reject or repair
/// references.
struct URIReference: Sendable, Equatable {
    var scheme: String?
    var authority: String?
    var path: String
    var query: String?
    var fragment: String?

    /// Splits a text like the expression in RFC 3986 appendix B.
    init(_ text: some StringProtocol) {
        var rest = Substring(text).utf8
        fragment = Self.cutTail(of: &rest, at: "#")
        query = Self.cutTail(of: &rest, at: "?")
        scheme = Self.cutScheme(of: &rest)
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = String(Substring(rest[..<end]))
            rest = rest[end...]
        }
        path = String(Substring(rest))
    }

    private static func cutTail(of text: inout Substring.UTF8View, at mark: Unicode.Scalar) -> String? {
        guard let place = text.firstIndex(of: UInt8(ascii: mark)) else { return nil }
        defer { text = text[..<place] }
        return String(Substring(text[text.index(after: place)...]))
    }

    private static func cutScheme(of text: inout Substring.UTF8View) -> String? {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")), let first = text.first, first.isLetter,
            text[..<colon].allSatisfy({ $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) })
        else { return nil }
        defer { text = text[text.index(after: colon)...] }
        return String(Substring(text[..<colon]))
    }

    /// The text of the reference (RFC 3986 section 5.3).
    var text: String {
        var text = ""
        if let scheme { text += scheme + ":" }
        if let authority { text += "//" + authority }
        // Without this prefix the path would be parsed as an authority (section 3.3). Removed dot segments can cause
        // such a path.
        if authority == nil, path.hasPrefix("//") { text += "/." }
        text += path
        if let query { text += "?" + query }
        if let fragment { text += "#" + fragment }
        return text
    }

    var withoutFragment: URIReference {
        var copy = self
        copy.fragment = nil
        return copy
    }

    /// Resolves this reference against `base` (RFC 3986 section 5.2.2, strict).
    func resolved(against base: URIReference) -> URIReference {
        var target = self
        if scheme != nil || authority != nil {
            target.path = Self.withoutDots(path)
        } else if path.isEmpty {
            target.path = base.path
            target.query = query ?? base.query
        } else {
            target.path = Self.withoutDots(path.utf8.first == UInt8(ascii: "/") ? path : base.merged(with: path))
        }
        if scheme == nil {
            target.scheme = base.scheme
            target.authority = authority ?? base.authority
        }
        return target
    }

    /// Merges a relative path with this path (RFC 3986 section 5.2.3).
    private func merged(with relative: String) -> String {
        if authority != nil, path.isEmpty { return "/" + relative }
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return relative }
        return String(path[...slash]) + relative
    }

    /// Removes dot segments (RFC 3986 section 5.2.4), segment by segment. One difference: a path without a leading
    /// slash stays without one, whereas the RFC's algorithm turns `a/../b` into `/b`.
    static func withoutDots(_ path: String) -> String {
        var input = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Substring.init)
        let isRooted = input.count > 1 && input[0].isEmpty
        if isRooted { input.removeFirst() }
        var output: [Substring] = []
        for (index, segment) in input.enumerated() {
            let isDots = segment == "." || segment == ".."
            if segment == ".." { _ = output.popLast() }
            if !isDots { output.append(segment) }
            // A final dot segment leaves a folder: `/a/b/..` is `/a/`.
            if isDots, index == input.count - 1, isRooted || !output.isEmpty { output.append("") }
        }
        return (isRooted ? "/" : "") + output.joined(separator: "/")
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool { (0x41...0x5A).contains(self & ~0x20) }
    fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
}

extension URIReference {
    /// The normal form in which identifiers are compared (RFC 3986 section 6.2.2): scheme and host in lower case, no
    /// dot segments, escapes in upper case and only where needed. Characters outside ASCII are escaped (RFC 3987
    /// section 3.1), so that texts are equal only when their bytes are. The fragment is unchanged, since it is not part
    /// of the named resource.
    var normalised: URIReference {
        var copy = self
        copy.scheme = scheme.map(Self.lowercased)
        copy.authority = authority.map { authority in
            let host = authority.utf8.lastIndex(of: UInt8(ascii: "@")).map { authority.utf8.index(after: $0) }
            let start = host ?? authority.startIndex
            return Percent.normalised(authority[..<start]) + Self.lowercased(Percent.normalised(authority[start...]))
        }
        // Dots may be escaped: `%2E` is a dot.
        copy.path = Self.withoutDots(Percent.normalised(path))
        copy.query = query.map { Percent.normalised($0) }
        return copy
    }

    /// Converts ASCII letters to lower case. The two digits of an escape stay in upper case.
    private static func lowercased(_ text: String) -> String {
        var escaped = 0
        let bytes = text.utf8.map { byte -> UInt8 in
            escaped = byte == UInt8(ascii: "%") ? 2 : max(0, escaped - 1)
            return escaped == 0 && (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// References in the form in which the compiler uses them, as texts.
enum URIText {
    /// Resolves `reference` in a document at `base`. Returns the URI in normal form, and the fragment as written. Nil
    /// for an invalid reference: one with a control character or a `%` that starts no escape.
    static func resolve(_ reference: String, against base: String) -> (uri: String, fragment: String?)? {
        guard !reference.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }), Percent.bytes(of: reference) != nil
        else { return nil }
        let target = URIReference(reference).resolved(against: URIReference(base))
        return (target.withoutFragment.normalised.text, target.fragment)
    }

    static func percentDecoded(_ text: String) -> String? { Percent.decoded(text) }

    /// Encodes a JSON Pointer or anchor as a fragment (RFC 3986 section 3.5).
    static func fragment(_ text: String) -> String {
        Percent.encoded(text) { Percent.isUnreserved($0) || "!$&'()*+,;=:@/?".utf8.contains($0) }
    }
}
