import JSON

/// Compiles a document: builds the index, resolves references, detects cycles and creates the plan.
struct SchemaCompiler {
    let options: SchemaOptions

    struct Result {
        let index: SchemaIndex
        let rules: [Rule]
        let patterns: [Pattern]
        let patternSources: [String]
        let plan: Plan
        let entry: UInt32
    }

    func compile(_ document: JSONDocument, at uri: String? = nil) throws(SchemaError) -> Result {
        let clock = CompileClock(milliseconds: options.limits.compileMilliseconds)
        var index = SchemaIndex(options: options)
        guard document.root.isSchema else {
            throw SchemaError(.invalid, "a schema must be an object, true or false")
        }
        let root = try index.add(document, at: uri ?? SchemaIndex.privateBase, isOurs: uri != nil)
        if options.checksMetaschema { try MetaschemaCheck(options: options).check(index) }
        var builder = RuleBuilder(index, options: options, clock: clock)
        try builder.build(root)
        let order = try Cycles.order(of: builder.rules, builder.index)
        var planner = try Planner(
            builder.rules, order: order, patterns: builder.patterns, limits: options.limits, clock: clock)
        let (plan, entry) = try planner.plan()
        return Result(
            index: builder.index, rules: builder.rules, patterns: builder.patterns,
            patternSources: builder.patternSources, plan: plan, entry: entry)
    }
}

extension SchemaIndex {
    /// Returns the dialect and vocabularies of a schema, according to its `$schema` if it has one.
    ///
    /// `$schema` has an effect only at the root of a document and at the root of a resource.
    func scope(of value: JSONValue, inherited: Scope, at pointer: String) throws(SchemaError) -> Scope {
        guard let named = value["$schema"]?.string else { return inherited }
        let uri = named.hasSuffix("#") ? String(named.dropLast()) : named
        guard pointer.hasSuffix("#") || value["$id"] != nil || value["id"] != nil else { return inherited }
        if let dialect = Dialect(metaschema: uri) { return Scope(dialect: dialect) }
        guard let (absolute, _) = URIText.resolve(uri, against: Self.privateBase),
            let metaschema = options.library.document(at: absolute)
        else {
            throw SchemaError(.unknownDialect, "$schema '\(named.quotable)' is not a supported dialect", at: pointer)
        }
        return try scope(described: metaschema.root, named, at: pointer)
    }

    /// Returns the dialect of a custom metaschema and the vocabularies that it enables.
    private func scope(
        described metaschema: JSONValue, _ named: String, at pointer: String
    ) throws(SchemaError) -> Scope {
        // If a custom metaschema names another metaschema, it has the dialect of the last metaschema in this chain.
        var dialect: Dialect?
        var current = metaschema
        for _ in 0..<8 where dialect == nil {
            guard let next = current["$schema"]?.string else { break }
            let uri = next.hasSuffix("#") ? String(next.dropLast()) : next
            dialect = Dialect(metaschema: uri)
            if dialect == nil, let further = options.library.document(at: uri) { current = further.root }
        }
        guard let dialect else {
            throw SchemaError(
                .unknownDialect, "the metaschema '\(named.quotable)' has no supported $schema", at: pointer)
        }
        guard let listed = metaschema["$vocabulary"]?.members else { return Scope(dialect: dialect) }
        var vocabularies: Vocabularies = .core
        for member in listed {
            if let vocabulary = Vocabularies(uri: member.name) {
                vocabularies.insert(vocabulary)
            } else if member.value.boolean == true {
                throw SchemaError(
                    .unknownDialect, "the vocabulary '\(member.name.quotable)' is required, but it is not supported",
                    at: pointer)
            }
        }
        return Scope(dialect: dialect, vocabularies: vocabularies)
    }
}

extension Dialect {
    /// The URI of the dialect's metaschema, without a fragment.
    var metaschema: String {
        switch self {
        case .draft202012: "https://json-schema.org/draft/2020-12/schema"
        case .draft201909: "https://json-schema.org/draft/2019-09/schema"
        case .draft07: "http://json-schema.org/draft-07/schema"
        case .draft06: "http://json-schema.org/draft-06/schema"
        case .draft04: "http://json-schema.org/draft-04/schema"
        }
    }

    init?(metaschema uri: String) {
        guard let dialect = Dialect.allCases.first(where: { $0.metaschema == uri }) else { return nil }
        self = dialect
    }
}
