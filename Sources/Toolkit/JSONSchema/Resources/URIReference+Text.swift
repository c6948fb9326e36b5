/// References as the compiler handles them: text in, text out.
enum URIText {
    /// What `reference` names in a document at `base`, in the form identifiers are compared in, and its fragment as
    /// written. Nil when the text cannot be a reference: a control character or a `%` that begins no escape.
    static func resolve(_ reference: String, against base: String) -> (uri: String, fragment: String?)? {
        guard !reference.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }), Percent.bytes(of: reference) != nil
        else { return nil }
        let target = URIReference(reference).resolved(against: URIReference(base))
        return (target.withoutFragment.normalised.text, target.fragment)
    }

    static func percentDecoded(_ text: String) -> String? { Percent.decoded(text) }

    /// A JSON Pointer or anchor as a fragment (RFC 3986 section 3.5).
    static func fragment(_ text: String) -> String {
        Percent.encoded(text) { Percent.isUnreserved($0) || "!$&'()*+,;=:@/?".utf8.contains($0) }
    }
}
