/// Versions of representations in `ETag`, `If-Match` and `If-None-Match` (RFC 9110, 8.8.3 and 13.1).
public enum EntityTag {
    public static func quoted(_ opaque: String) -> String { "\"\(opaque)\"" }

    /// Whether `If-None-Match` names the tag, or the one of its compressed body: the client has it already. Compared weakly
    /// (13.1.2).
    public static func isKnown(_ tag: String, to headers: Headers) -> Bool {
        list(headers[all: "If-None-Match"]).contains { listed in
            var listed = Substring(listed)
            if listed == "*" { return true }
            if listed.hasPrefix("W/") { listed = listed.dropFirst(2) }
            guard listed.hasSuffix(ContentCoding.tagEnding) else { return listed == tag }
            return listed.dropLast(ContentCoding.tagEnding.count) == tag.dropLast()
        }
    }

    /// The members of a list of tags. Commas inside a tag are legal and never in ours, so splitting there is enough:
    /// such a tag matches nothing either way.
    public static func list(_ fields: [String]) -> [String] {
        fields.flatMap { $0.split(separator: ",") }.map { part in
            String(part.drop(while: { $0 == " " || $0 == "\t" }).reversed().drop(while: { $0 == " " }).reversed())
        }
    }
}
