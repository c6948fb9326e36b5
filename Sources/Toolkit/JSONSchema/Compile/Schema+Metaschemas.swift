extension Schema {
    /// The metaschema of a dialect, compiled when it is first asked for.
    static func metaschema(of dialect: Dialect) -> Schema {
        switch dialect {
        case .draft202012: draft202012
        case .draft201909: draft201909
        case .draft07: draft07
        case .draft06: draft06
        case .draft04: draft04
        }
    }

    private static let draft202012 = builtIn(.draft202012)
    private static let draft201909 = builtIn(.draft201909)
    private static let draft07 = builtIn(.draft07)
    private static let draft06 = builtIn(.draft06)
    private static let draft04 = builtIn(.draft04)

    private static func builtIn(_ dialect: Dialect) -> Schema {
        var options = SchemaOptions(dialect: dialect, formats: .annotate)
        options.checksMetaschema = false
        options.limits.compileMilliseconds = 60_000
        options.limits = .forSchemas(options.limits)
        guard let document = Metaschemas.document(at: dialect.metaschema),
            let schema = try? Schema(document, at: dialect.metaschema, options: options)
        else { preconditionFailure("a metaschema that came with the program does not compile") }
        return schema
    }
}

extension SchemaLimits {
    /// The limits of a metaschema: a schema is bounded before it is held against one, by its own limits.
    static func forSchemas(_ limits: SchemaLimits) -> SchemaLimits {
        var wide = limits
        wide.payloadBytes = .max
        wide.membersPerObject = .max
        wide.steps = 10_000_000
        return wide
    }
}
