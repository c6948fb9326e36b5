/// A URI or relative reference, split into its five parts (RFC 3986 section 3). Any text is accepted and stored
/// unchanged, so internationalized identifiers are also supported.
///
/// The URL types of the platform are not used. They follow browsers or older RFCs, and they escape, reject or repair
/// references.
struct URIReference: Sendable, Equatable {
    var scheme: String?
    var authority: String?
    var path: String
    var query: String?
    var fragment: String?

    /// Splits a text in the same way as the regular expression in RFC 3986 appendix B.
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
        // Without this prefix, the path would be parsed as an authority (section 3.3). Such a path can result from
        // removing dot segments.
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

    /// Returns this reference resolved against `base` (RFC 3986 section 5.2.2, strict).
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

    /// Returns a relative path merged with the path of this reference (RFC 3986 section 5.2.3).
    private func merged(with relative: String) -> String {
        if authority != nil, path.isEmpty { return "/" + relative }
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return relative }
        return String(path[...slash]) + relative
    }

    /// Returns a path without dot segments (RFC 3986 section 5.2.4). There is one difference to the RFC's algorithm: a
    /// path without a leading slash does not get one. The RFC's algorithm changes `a/../b` to `/b`.
    static func withoutDots(_ path: String) -> String {
        var input = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Substring.init)
        let isRooted = input.count > 1 && input[0].isEmpty
        if isRooted { input.removeFirst() }
        var output: [Substring] = []
        for (index, segment) in input.enumerated() {
            let isDots = segment == "." || segment == ".."
            if segment == ".." { _ = output.popLast() }
            if !isDots { output.append(segment) }
            // A dot segment at the end leaves a slash: `/a/b/..` becomes `/a/`.
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
    /// The normal form in which identifiers are compared (RFC 3986 section 6.2.2). Scheme and host are in lower case,
    /// there are no dot segments, and there are only necessary escapes, in upper case. Characters outside ASCII are
    /// escaped (RFC 3987 section 3.1), so that texts are equal only if their bytes are equal. The fragment is
    /// unchanged, because it does not identify the resource.
    var normalised: URIReference {
        var copy = self
        copy.scheme = scheme.map(Self.lowercased)
        copy.authority = authority.map { authority in
            let host = authority.utf8.lastIndex(of: UInt8(ascii: "@")).map { authority.utf8.index(after: $0) }
            let start = host ?? authority.startIndex
            return Percent.normalised(authority[..<start]) + Self.lowercased(Percent.normalised(authority[start...]))
        }
        // Escapes are normalized first, because `%2E` is a dot.
        copy.path = Self.withoutDots(Percent.normalised(path))
        copy.query = query.map { Percent.normalised($0) }
        return copy
    }

    /// Returns the text with ASCII letters in lower case, except the two digits of each escape.
    private static func lowercased(_ text: String) -> String {
        var escaped = 0
        let bytes = text.utf8.map { byte -> UInt8 in
            escaped = byte == UInt8(ascii: "%") ? 2 : max(0, escaped - 1)
            return escaped == 0 && (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Functions that the schema compiler uses for references in the form of text.
enum URIText {
    /// Resolves a reference in a document with the URI `base`. Returns the URI in normal form and the unchanged
    /// fragment. Returns nil for an invalid reference, which contains a control character or a `%` that does not begin
    /// an escape.
    static func resolve(_ reference: String, against base: String) -> (uri: String, fragment: String?)? {
        guard !reference.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }), Percent.bytes(of: reference) != nil
        else { return nil }
        let target = URIReference(reference).resolved(against: URIReference(base))
        return (target.withoutFragment.normalised.text, target.fragment)
    }

    static func percentDecoded(_ text: String) -> String? { Percent.decoded(text) }

    /// Returns a JSON Pointer or anchor encoded as a fragment (RFC 3986 section 3.5).
    static func fragment(_ text: String) -> String {
        Percent.encoded(text) { Percent.isUnreserved($0) || "!$&'()*+,;=:@/?".utf8.contains($0) }
    }
}
