import JSON

/// Reads the keywords of one schema object.
///
/// The reader also rejects values with a wrong type. The check against the metaschema is not sufficient: it does not
/// cover schemas that are found only through a reference. Also, a custom metaschema may check nothing.
struct KeywordReader {
    let rule: Rule
    let value: JSONValue
    let scope: Scope
    let place: SchemaIndex.Place

    /// Returns the requirement of a keyword; nil when the keyword itself restricts no value.
    func require(
        of keyword: Keyword, _ value: JSONValue, _ builder: inout RuleBuilder
    ) throws(SchemaError) -> KeywordRequirement? {
        switch keyword {
        case .ref, .dynamicRef, .recursiveRef:
            return .reference(try builder.target(keyword, try text(keyword, value, builder), rule))
        case .type: return .kinds(try kinds(value, builder))
        case .const: return .equals(value)
        case .enum: return try enumeration(value, &builder)
        case .minimum, .maximum, .exclusiveMinimum, .exclusiveMaximum: return try bound(keyword, value, builder)
        case .multipleOf:
            guard let divisor = value.double, divisor > 0 else { throw wrong(keyword, "a number above 0", builder) }
            return .multipleOf(value)
        case .minLength: return .minLength(try count(keyword, value, builder))
        case .maxLength: return .maxLength(try count(keyword, value, builder))
        case .minItems: return .minItems(try count(keyword, value, builder))
        case .maxItems: return .maxItems(try count(keyword, value, builder))
        case .minProperties: return .minProperties(try count(keyword, value, builder))
        case .maxProperties: return .maxProperties(try count(keyword, value, builder))
        case .uniqueItems: return value.boolean == true ? .uniqueItems : nil
        case .pattern:
            let source = try text(keyword, value, builder)
            return .pattern(try builder.pattern(source, at: pointer(keyword, builder)))
        case .format: return format(value, builder)
        case .contentEncoding, .contentMediaType: return content(keyword, builder)
        case .required: return try required(value, builder)
        default: return try applied(keyword, value, &builder)
        }
    }

    /// Returns the requirement of a keyword that applies other schemas; nil when the keyword itself restricts no value.
    private func applied(
        _ keyword: Keyword, _ value: JSONValue, _ builder: inout RuleBuilder
    ) throws(SchemaError) -> KeywordRequirement? {
        switch keyword {
        case .allOf: return .allOf(try list(keyword, value, &builder))
        case .anyOf: return .anyOf(try list(keyword, value, &builder))
        case .oneOf: return .oneOf(try list(keyword, value, &builder))
        case .not: return .not(try builder.child("not", of: rule))
        case .if: return try conditional(&builder)
        case .properties: return .properties(try map(keyword, value, &builder))
        case .patternProperties: return .patternProperties(try patterns(value, &builder))
        case .additionalProperties: return try additional(&builder)
        case .propertyNames: return .propertyNames(try builder.child("propertyNames", of: rule))
        case .dependentRequired: return .dependentRequired(try dependents(keyword, value, builder))
        case .dependentSchemas: return .dependentSchemas(try map(keyword, value, &builder))
        case .prefixItems: return .prefix(try list(keyword, value, &builder))
        case .items: return try items(value, &builder)
        case .additionalItems:
            guard let tuple = self.value["items"]?.elements else { return nil }
            return .rest(try builder.child("additionalItems", of: rule), after: tuple.count)
        case .contains: return try contains(&builder)
        case .unevaluatedItems: return .unevaluatedItems(try builder.child("unevaluatedItems", of: rule))
        case .unevaluatedProperties:
            return .unevaluatedProperties(try builder.child("unevaluatedProperties", of: rule))
        case .dependencies: return try dependencies(value, &builder)
        default: return nil
        }
    }

    // MARK: - Errors

    private func pointer(_ keyword: Keyword, _ builder: RuleBuilder) -> String {
        builder.index.display(place) + "/" + keyword.rawValue
    }

    private func wrong(_ keyword: Keyword, _ expected: String, _ builder: RuleBuilder) -> SchemaError {
        SchemaError(.invalid, "'\(keyword.rawValue)' must be \(expected)", at: pointer(keyword, builder))
    }

    // MARK: - Plain values

    private func text(_ keyword: Keyword, _ value: JSONValue, _ builder: RuleBuilder) throws(SchemaError) -> String {
        guard let text = value.string else { throw wrong(keyword, "a string", builder) }
        return text
    }

    /// Reads a count, which may also be written as `2.0`. A count that is too large for an integer becomes the largest
    /// integer.
    private func count(_ keyword: Keyword, _ value: JSONValue, _ builder: RuleBuilder) throws(SchemaError) -> Int {
        guard let number = value.double, number >= 0, number == number.rounded() else {
            throw wrong(keyword, "a whole number of at least 0", builder)
        }
        return number < 0x7FFF_FFFF ? Int(number) : 0x7FFF_FFFF
    }

    private func kinds(_ value: JSONValue, _ builder: RuleBuilder) throws(SchemaError) -> KindSet {
        let names = value.string.map { [$0] } ?? value.strings ?? []
        var kinds: KindSet = []
        for name in names {
            guard let kind = KindSet(typeName: name, in: scope.dialect) else {
                throw wrong(.type, "a type or a list of types", builder)
            }
            kinds.formUnion(kind)
        }
        guard !names.isEmpty else { throw wrong(.type, "a type or a list of types", builder) }
        return kinds
    }

    private func enumeration(_ value: JSONValue, _ builder: inout RuleBuilder) throws(SchemaError) -> KeywordRequirement
    {
        guard let values = value.elements else { throw wrong(.enum, "a list", builder) }
        try builder.countEnumValues(values.count, at: pointer(.enum, builder))
        return .oneOfValues(values)
    }

    private func bound(
        _ keyword: Keyword, _ value: JSONValue, _ builder: RuleBuilder
    ) throws(SchemaError) -> KeywordRequirement? {
        // In draft-04, the exclusive keywords are booleans that modify `minimum` and `maximum`.
        if scope.dialect == .draft04, keyword == .exclusiveMinimum || keyword == .exclusiveMaximum { return nil }
        guard value.double != nil else { throw wrong(keyword, "a number", builder) }
        let isFlagged = scope.dialect == .draft04
        switch keyword {
        case .minimum:
            return .minimum(value, exclusive: isFlagged && self.value["exclusiveMinimum"]?.boolean == true)
        case .maximum:
            return .maximum(value, exclusive: isFlagged && self.value["exclusiveMaximum"]?.boolean == true)
        case .exclusiveMinimum: return .minimum(value, exclusive: true)
        default: return .maximum(value, exclusive: true)
        }
    }

    private func format(_ value: JSONValue, _ builder: RuleBuilder) -> KeywordRequirement? {
        guard let name = value.string, let format = Format(name: name, in: scope.dialect) else { return nil }
        if scope.dialect >= .draft201909, scope.vocabularies.contains(.formatAssertion) { return .format(format) }
        switch builder.options.formats {
        case .annotate: return nil
        case .assert: return .format(format)
        case .only(let names): return names.contains(name) ? .format(format) : nil
        }
    }

    /// Returns the requirement of a content keyword; nil when content is not checked. If `contentEncoding` and
    /// `contentMediaType` are both checked, `contentEncoding` has one requirement for both keywords, and
    /// `contentMediaType` has none.
    private func content(_ keyword: Keyword, _ builder: RuleBuilder) -> KeywordRequirement? {
        guard builder.options.assertsContent else { return nil }
        let isBase64 = value["contentEncoding"]?.string == "base64"
        let isJSON = value["contentMediaType"]?.string == "application/json"
        if keyword == .contentMediaType, isBase64 || !isJSON { return nil }
        return isBase64 || isJSON ? .content(base64: isBase64, json: isJSON) : nil
    }

    // MARK: - Names

    private func names(_ keyword: Keyword, _ value: JSONValue, _ builder: RuleBuilder) throws(SchemaError) -> [Name] {
        guard let names = value.strings else { throw wrong(keyword, "a list of names", builder) }
        return names.map(Name.init)
    }

    private func required(_ value: JSONValue, _ builder: RuleBuilder) throws(SchemaError) -> KeywordRequirement? {
        // Draft-03 had a boolean `required`, which has no meaning in later versions.
        if value.kind == .boolean, scope.dialect == .draft04 { return nil }
        return .required(try names(.required, value, builder))
    }

    private func dependents(
        _ keyword: Keyword, _ value: JSONValue, _ builder: RuleBuilder
    ) throws(SchemaError) -> [(name: Name, needs: [Name])] {
        guard let members = value.members else { throw wrong(keyword, "an object", builder) }
        var dependents: [(name: Name, needs: [Name])] = []
        for member in members {
            dependents.append((Name(member.name), try names(keyword, member.value, builder)))
        }
        return dependents
    }

    // MARK: - Schemas

    private func list(
        _ keyword: Keyword, _ value: JSONValue, _ builder: inout RuleBuilder
    ) throws(SchemaError) -> [Rule.ID] {
        guard let elements = value.elements else { throw wrong(keyword, "a list of schemas", builder) }
        var rules: [Rule.ID] = []
        for position in elements.indices {
            rules.append(try builder.child("\(keyword.rawValue)/\(position)", of: rule))
        }
        return rules
    }

    private func map(
        _ keyword: Keyword, _ value: JSONValue, _ builder: inout RuleBuilder
    ) throws(SchemaError) -> [(name: Name, rule: Rule.ID)] {
        guard let members = value.members else { throw wrong(keyword, "an object of schemas", builder) }
        var rules: [(name: Name, rule: Rule.ID)] = []
        for member in members {
            let path = keyword.rawValue + "/" + member.name.pointerToken
            rules.append((Name(member.name), try builder.child(path, of: rule)))
        }
        return rules
    }

    private func patterns(
        _ value: JSONValue, _ builder: inout RuleBuilder
    ) throws(SchemaError) -> [(pattern: Int, rule: Rule.ID)] {
        let rules = try map(.patternProperties, value, &builder)
        var patterns: [(pattern: Int, rule: Rule.ID)] = []
        for (name, rule) in rules {
            let pointer = pointer(.patternProperties, builder) + "/" + name.text.pointerToken
            patterns.append((try builder.pattern(name.text, at: pointer), rule))
        }
        return patterns
    }

    private func additional(_ builder: inout RuleBuilder) throws(SchemaError) -> KeywordRequirement {
        var patterns: [Int] = []
        for member in value["patternProperties"]?.members ?? [] {
            patterns.append(try builder.pattern(member.name, at: pointer(.patternProperties, builder)))
        }
        let names = (value["properties"]?.members ?? []).map { Name($0.name) }
        let rule = try builder.child("additionalProperties", of: rule)
        return .additional(rule, names: names, patterns: patterns)
    }

    private func items(_ value: JSONValue, _ builder: inout RuleBuilder) throws(SchemaError) -> KeywordRequirement {
        if value.kind == .array, scope.dialect < .draft202012 { return .prefix(try list(.items, value, &builder)) }
        let prefix = scope.dialect == .draft202012 ? self.value["prefixItems"]?.count ?? 0 : 0
        return .rest(try builder.child("items", of: rule), after: prefix)
    }

    private func contains(_ builder: inout RuleBuilder) throws(SchemaError) -> KeywordRequirement {
        func limit(_ keyword: Keyword, _ builder: RuleBuilder) throws(SchemaError) -> Int? {
            guard scope.keyword(keyword.rawValue) != nil, let value = value[keyword.rawValue] else { return nil }
            return try count(keyword, value, builder)
        }
        return .contains(
            try builder.child("contains", of: rule), minimum: try limit(.minContains, builder) ?? 1,
            maximum: try limit(.maxContains, builder) ?? .max, marks: scope.dialect == .draft202012)
    }

    private func conditional(_ builder: inout RuleBuilder) throws(SchemaError) -> KeywordRequirement {
        .conditional(
            test: try builder.child("if", of: rule),
            then: value["then"] == nil ? nil : try builder.child("then", of: rule),
            otherwise: value["else"] == nil ? nil : try builder.child("else", of: rule))
    }

    /// Reads the old keyword `dependencies`, in which each value is a list of names or a schema.
    private func dependencies(
        _ value: JSONValue, _ builder: inout RuleBuilder
    ) throws(SchemaError) -> KeywordRequirement? {
        guard let members = value.members else { throw wrong(.dependencies, "an object", builder) }
        var needs: [(name: Name, needs: [Name])] = []
        var schemas: [(name: Name, rule: Rule.ID)] = []
        for member in members {
            if member.value.kind == .array {
                needs.append((Name(member.name), try names(.dependencies, member.value, builder)))
            } else {
                let path = "dependencies/" + member.name.pointerToken
                schemas.append((Name(member.name), try builder.child(path, of: rule)))
            }
        }
        return .dependencies(needs: needs, schemas: schemas)
    }
}
