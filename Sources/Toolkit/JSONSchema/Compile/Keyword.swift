/// The keywords that the compiler supports. The raw value is the name in a schema.
enum Keyword: String {
    case id, dollarID = "$id", schema = "$schema", anchor = "$anchor", dynamicAnchor = "$dynamicAnchor"
    case recursiveAnchor = "$recursiveAnchor"
    case ref = "$ref", dynamicRef = "$dynamicRef", recursiveRef = "$recursiveRef"
    case defs = "$defs", definitions

    case allOf, anyOf, oneOf, not, `if`, then, `else`
    case properties, patternProperties, additionalProperties, propertyNames
    case dependencies, dependentSchemas, dependentRequired
    case items, prefixItems, additionalItems, contains, minContains, maxContains
    case unevaluatedProperties, unevaluatedItems

    case type, `enum`, const
    case minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf
    case minLength, maxLength, pattern, format
    case minItems, maxItems, uniqueItems, minProperties, maxProperties, required
    case contentEncoding, contentMediaType, contentSchema
}

extension Keyword {
    /// The positions of schemas in the value of a keyword.
    enum Position {
        /// The value contains no schema.
        case none
        case schema
        case list
        /// An object whose values are schemas.
        case map
        /// A schema or a list of schemas (`items` before 2020-12).
        case schemaOrList
        /// An object whose values are schemas or lists of names (`dependencies`).
        case schemasOrNames
    }

    var position: Position {
        switch self {
        case .not, .if, .then, .else, .additionalProperties, .propertyNames, .additionalItems, .contains,
            .unevaluatedProperties, .unevaluatedItems, .contentSchema:
            .schema
        case .allOf, .anyOf, .oneOf, .prefixItems: .list
        case .properties, .patternProperties, .dependentSchemas, .defs, .definitions: .map
        case .items: .schemaOrList
        case .dependencies: .schemasOrNames
        default: .none
        }
    }

    /// The oldest and the newest dialect that have this keyword.
    var lifetime: ClosedRange<Dialect> {
        switch self {
        case .id: .draft04 ... .draft04
        case .dollarID, .const, .contains, .propertyNames: .draft06 ... .draft202012
        case .if, .then, .else, .contentEncoding, .contentMediaType: .draft07 ... .draft202012
        case .anchor, .defs, .dependentSchemas, .dependentRequired, .minContains, .maxContains,
            .unevaluatedProperties, .unevaluatedItems, .contentSchema:
            .draft201909 ... .draft202012
        case .recursiveAnchor, .recursiveRef: .draft201909 ... .draft201909
        case .dynamicAnchor, .dynamicRef, .prefixItems: .draft202012 ... .draft202012
        case .additionalItems: .draft04 ... .draft201909
        default: .draft04 ... .draft202012
        }
    }

    /// Returns the vocabulary of the keyword in a dialect. Vocabularies exist since 2019-09.
    func vocabulary(in dialect: Dialect) -> Vocabularies {
        switch self {
        case .type, .enum, .const, .minimum, .maximum, .exclusiveMinimum, .exclusiveMaximum, .multipleOf, .minLength,
            .maxLength, .pattern, .minItems, .maxItems, .uniqueItems, .minProperties, .maxProperties, .required,
            .dependentRequired, .minContains, .maxContains:
            .validation
        case .unevaluatedProperties, .unevaluatedItems: dialect == .draft202012 ? .unevaluated : .applicator
        case .format: [.formatAnnotation, .formatAssertion]
        case .contentEncoding, .contentMediaType, .contentSchema: .content
        case .allOf, .anyOf, .oneOf, .not, .if, .then, .else, .properties, .patternProperties, .additionalProperties,
            .propertyNames, .dependencies, .dependentSchemas, .items, .prefixItems, .additionalItems, .contains:
            .applicator
        default: .core
        }
    }
}
