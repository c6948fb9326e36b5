/// The pieces of a URL as schemes sign them.
struct URLParts {
    let scheme: Substring
    let authority: Substring
    let path: Substring
    let query: Substring

    init?(_ url: String) {
        guard let mark = url.firstRange(of: "://") else { return nil }
        let rest = url[mark.upperBound...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let question = rest[end...].firstIndex(of: "?") ?? rest.endIndex
        scheme = url[..<mark.lowerBound]
        authority = rest[..<end]
        path = rest[end..<question]
        query = rest[question...]
    }

    /// A piece that can be signed by itself (RFC 9421, 2.2); nil for a name there is none of.
    func component(_ name: String) -> String? {
        switch name {
        case "@scheme": return scheme.lowercased()
        case "@authority":
            let name = authority.lowercased()
            let standard = scheme.lowercased() == "https" ? ":443" : ":80"
            return name.hasSuffix(standard) ? String(name.dropLast(standard.count)) : name
        case "@path": return path.isEmpty ? "/" : String(path)
        // An absent query is signed as its mark alone.
        case "@query": return query.isEmpty ? "?" : String(query)
        default: return nil
        }
    }
}
