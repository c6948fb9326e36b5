import JSON

/// The metaschemas of all dialects and their vocabularies, as their publishers wrote them: reachable by reference like
/// any preloaded document, without a network.
enum Metaschemas {
    static let all = draft202012 + draft201909 + draft07 + draft06 + draft04

    /// - Parameter uri: with or without the empty fragment some of them carry.
    static func text(for uri: String) -> StaticString? {
        let key = uri.hasSuffix("#") ? String(uri.dropLast()) : uri
        return all.first { $0.uri == key }?.text
    }

    static func document(at uri: String) -> JSONDocument? {
        parsed[uri.hasSuffix("#") ? String(uri.dropLast()) : uri]
    }

    /// All of them, parsed at first use (less than a millisecond). One that did not parse would be missing here, and a
    /// test would say so.
    private static let parsed = Dictionary(
        uniqueKeysWithValues: all.compactMap { metaschema in
            (try? parse(metaschema.text)).map { (metaschema.uri, $0) }
        })

    static func parse(_ text: StaticString) throws(JSONError) -> JSONDocument {
        try JSONDocument(text.withUTF8Buffer { Array($0) })
    }
}
