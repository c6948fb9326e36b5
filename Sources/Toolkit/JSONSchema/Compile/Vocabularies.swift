/// A set of vocabularies: the groups of keywords that a metaschema enables (2020-12 core 8.1.2). Dialects before
/// 2019-09 have all of them.
struct Vocabularies: OptionSet, Hashable {
    var rawValue: UInt8

    static let core = Vocabularies(rawValue: 1)
    static let applicator = Vocabularies(rawValue: 2)
    static let unevaluated = Vocabularies(rawValue: 4)
    static let validation = Vocabularies(rawValue: 8)
    static let formatAnnotation = Vocabularies(rawValue: 16)
    static let formatAssertion = Vocabularies(rawValue: 32)
    static let content = Vocabularies(rawValue: 64)
    static let metadata = Vocabularies(rawValue: 128)

    static let standard: Vocabularies = [
        .core, .applicator, .unevaluated, .validation, .formatAnnotation, .content, .metadata,
    ]

    /// Creates the set that contains the vocabulary with this URI. Returns nil for an unknown URI.
    init?(uri: String) {
        for prefix in ["https://json-schema.org/draft/2020-12/vocab/", "https://json-schema.org/draft/2019-09/vocab/"]
        where uri.hasPrefix(prefix) {
            switch uri.dropFirst(prefix.count) {
            case "core": self = .core
            case "applicator": self = .applicator
            case "unevaluated": self = .unevaluated
            case "validation": self = .validation
            case "format", "format-annotation": self = .formatAnnotation
            case "format-assertion": self = .formatAssertion
            case "content": self = .content
            case "meta-data": self = .metadata
            default: return nil
            }
            return
        }
        return nil
    }

    init(rawValue: UInt8) { self.rawValue = rawValue }
}

/// The keywords of a resource: the keywords of its dialect, except the keywords of vocabularies that its metaschema
/// omits.
struct Scope: Hashable {
    var dialect: Dialect
    var vocabularies: Vocabularies = .standard

    /// Returns the keyword with this name; nil when it is unknown in this scope and therefore has no effect.
    func keyword(_ name: String) -> Keyword? {
        guard let keyword = Keyword(rawValue: name), keyword.lifetime.contains(dialect) else { return nil }
        guard dialect >= .draft201909 else { return keyword }
        // The vocabulary `core` cannot be disabled (2020-12 core 8.1.2).
        let owner = keyword.vocabulary(in: dialect)
        return owner == .core || !vocabularies.isDisjoint(with: owner) ? keyword : nil
    }

    /// True for dialects before 2019-09, in which a `$ref` disables all other keywords of the same schema.
    var referencesHideSiblings: Bool { dialect < .draft201909 }

    var identity: Keyword { dialect == .draft04 ? .id : .dollarID }
}
