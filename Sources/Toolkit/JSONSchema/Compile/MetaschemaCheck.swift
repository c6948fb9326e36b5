import JSON

/// Validates a schema against its metaschema, with the same evaluator that later evaluates the schema.
struct MetaschemaCheck {
    let options: SchemaOptions

    /// Validates the first document of the index against its metaschema. A resource in the document that names another
    /// metaschema is validated against that metaschema instead.
    func check(_ index: SchemaIndex) throws(SchemaError) {
        let root = index.documents[0].json.root
        // Resources with their own `$schema` are validated against that metaschema.
        let others = index.resources.filter { $0.root.document == 0 && !$0.root.pointer.isEmpty }.compactMap {
            resource in
            root.at(JSONPointer(resource.root.pointer) ?? JSONPointer(tokens: [])).flatMap { value in
                value["$schema"] == nil ? nil : (pointer: resource.root.pointer, value: value, scope: resource.scope)
            }
        }
        let foreign = others.filter { $0.scope != index.resources[0].scope }.map(\.pointer)
        try check(root, at: "", by: metaschema(of: root, index.resources[0].scope.dialect), excepting: foreign)
        for other in others where foreign.contains(other.pointer) {
            let deeper = foreign.filter { $0 != other.pointer && $0.hasPrefix(other.pointer + "/") }
            try check(
                other.value, at: other.pointer, by: metaschema(of: other.value, other.scope.dialect),
                excepting: deeper.map { String($0.dropFirst(other.pointer.count)) })
        }
    }

    private func check(
        _ value: JSONValue, at pointer: String, by metaschema: Schema, excepting foreign: [String]
    ) throws(SchemaError) {
        var scratch = Scratch()
        let verdict = metaschema.verdict(on: value, scratch: &scratch)
        if verdict == .valid { return }
        if case .exhausted(let budget) = verdict {
            throw SchemaError(
                .limit, "checking the schema against its metaschema exceeds a limit: \(budget)", at: "#" + pointer)
        }
        var report = ReportOptions()
        // Violations in these resources are filtered out below. The limit is removed, so that they do not displace
        // other violations from the report.
        if !foreign.isEmpty { (report.limit, report.placeBytes) = (.max, .max) }
        let violations = metaschema.report(on: value, options: report).violations
        let problems = violations.filter { violation in
            let place = String(violation.pointer.dropFirst())
            return !foreign.contains { place == $0 || place.hasPrefix($0 + "/") }
        }
        guard !problems.isEmpty else { return }
        throw SchemaError(
            problems.map { violation in
                SchemaError.Problem(
                    reason: .invalid, pointer: "#" + pointer + violation.pointer.dropFirst(), detail: violation.detail,
                    keywordLocation: violation.keywordLocation,
                    absoluteKeywordLocation: violation.absoluteKeywordLocation)
            })
    }

    private func metaschema(of value: JSONValue, _ dialect: Dialect) throws(SchemaError) -> Schema {
        guard let named = value["$schema"]?.string else { return Schema.metaschema(of: dialect) }
        let uri = named.hasSuffix("#") ? String(named.dropLast()) : named
        if let known = Dialect(metaschema: uri) { return Schema.metaschema(of: known) }
        guard let document = options.library.document(at: uri) else { return Schema.metaschema(of: dialect) }
        var options = options
        options.checksMetaschema = false
        options.limits = .forSchemas(options.limits)
        return try Schema(document, at: uri, options: options)
    }
}

extension Schema {
    /// Returns the metaschema of a dialect, which is compiled at the first use.
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
        else { preconditionFailure("a built-in metaschema does not compile") }
        return schema
    }
}

extension SchemaLimits {
    /// Returns limits for validating a schema against its metaschema. There is no limit for bytes and members, because
    /// the size of the schema was already checked.
    static func forSchemas(_ limits: SchemaLimits) -> SchemaLimits {
        var wide = limits
        wide.payloadBytes = .max
        wide.membersPerObject = .max
        wide.steps = 10_000_000
        return wide
    }
}
