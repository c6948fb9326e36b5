public import JSON

/// Documents that references may lead to, loaded before any schema is compiled. Nothing is ever fetched: a reference to
/// a document that is not here, and no metaschema, fails the compile.
public struct SchemaLibrary: Sendable {
    private var documents: [String: JSONDocument] = [:]

    public init() {}

    /// The identifiers under which documents are found, sorted.
    public var identifiers: [String] { documents.keys.sorted() }

    /// Adds a document that was, or would be, loaded from `uri`. It is found by that, and by the identifier it gives
    /// itself at its root.
    ///
    /// - Throws: when the URI is not absolute, or either identifier belongs to another document already.
    public mutating func add(_ document: JSONDocument, at uri: String) throws(SchemaLibraryError) {
        guard let (place, fragment) = URIText.resolve(uri, against: ""), URIReference(place).scheme != nil,
            fragment ?? "" == ""
        else { throw SchemaLibraryError("'\(uri)' is not an absolute URI") }
        try take(document, place)
        // Draft-04's word counts only where the document says that it is of draft-04: elsewhere `id` is anything.
        let isDraft04 = document.root["$schema"]?.string.map { $0.contains("draft-04") } ?? false
        if let name = document.root[isDraft04 ? "id" : "$id"]?.string,
            let (own, _) = URIText.resolve(name, against: place), own != place
        {
            try take(document, own)
        }
    }

    private mutating func take(_ document: JSONDocument, _ uri: String) throws(SchemaLibraryError) {
        guard documents[uri] == nil else { throw SchemaLibraryError("two documents have the identifier '\(uri)'") }
        documents[uri] = document
    }

    /// - Parameter uri: absolute; a fragment is ignored.
    func document(at uri: String) -> JSONDocument? { documents[uri] ?? documents[Self.key(uri)] }

    private static func key(_ uri: String) -> String { URIReference(uri).withoutFragment.normalised.text }
}

/// Why a document cannot join a library.
public struct SchemaLibraryError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One sentence, with the path or URI.
    public let description: String

    init(_ description: String) { self.description = description }
}
