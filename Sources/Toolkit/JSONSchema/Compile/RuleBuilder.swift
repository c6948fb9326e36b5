import JSON

/// Turns indexed subschemas into rules: every reference followed, every keyword read.
struct RuleBuilder {
    var index: SchemaIndex
    private(set) var rules: [Rule] = []
    private(set) var bindings = DynamicScope()
    private(set) var patterns: [Pattern] = []
    private(set) var patternSources: [String] = []
    private(set) var enumValues = 0
    private var patternBytes = 0
    let options: SchemaOptions
    let clock: CompileClock

    private struct Key: Hashable {
        let subschema: SchemaIndex.SubschemaID
        let binding: DynamicScope.ID
    }
    private var ruleFor: [Key: Rule.ID] = [:]
    private var patternFor: [Name: Int] = [:]

    init(_ index: SchemaIndex, options: SchemaOptions, clock: CompileClock) {
        self.index = index
        self.options = options
        self.clock = clock
    }

    /// Builds the rule of `root` and all it leads to. The root's rule is number 0.
    mutating func build(_ root: SchemaIndex.SubschemaID) throws(SchemaError) {
        try followEveryReference()
        _ = rule(for: root, from: DynamicScope.empty)
        var next = 0
        while next < rules.count {
            try checkLimits()
            rules[next] = try read(rules[next])
            next += 1
        }
    }

    /// Resolves each reference of the schema, also where no evaluation would get to, and notes what dynamic references
    /// ask for before the first binding is made.
    private mutating func followEveryReference() throws(SchemaError) {
        var next = 0
        while next < index.subschemas.count {
            if next % 64 == 0 { try clock.check() }
            let place = index.subschemas[next].place
            do throws(SchemaError) {
                try noteReferences(of: next)
            } catch {
                // In a document of the library only what is reached matters; `read` will find that.
                if place.document == 0 { throw error }
            }
            next += 1
        }
    }

    private mutating func noteReferences(of id: SchemaIndex.SubschemaID) throws(SchemaError) {
        let schema = index.subschemas[id]
        guard schema.value.kind == .object else { return }
        let scope = index.resources[schema.resource].scope
        for keyword in [Keyword.ref, .dynamicRef, .recursiveRef] {
            guard scope.keyword(keyword.rawValue) != nil, let text = schema.value[keyword.rawValue]?.string else {
                continue
            }
            let target = try index.resolve(text, from: id)
            if keyword == .recursiveRef { bindings.wanted.insert(DynamicScope.recursive) }
            if keyword == .dynamicRef, let anchor = target.anchor { bindings.wanted.insert(Name(anchor)) }
        }
    }

    private func checkLimits() throws(SchemaError) {
        try clock.check()
        if bindings.count > options.limits.bindings {
            throw SchemaError(.limit, "dynamic references need more than \(options.limits.bindings) bindings")
        }
        if rules.count > options.limits.planInstructions {
            throw SchemaError(.limit, "the schema unfolds to more than \(options.limits.planInstructions) rules")
        }
    }

    // MARK: - Rules

    /// The rule of a subschema entered from a place with that binding; made when it is asked for first.
    mutating func rule(for subschema: SchemaIndex.SubschemaID, from binding: DynamicScope.ID) -> Rule.ID {
        let entered = bindings.entering(index.subschemas[subschema].resource, of: index, from: binding)
        let key = Key(subschema: subschema, binding: entered)
        if let known = ruleFor[key] { return known }
        rules.append(Rule(subschema: subschema, binding: entered))
        ruleFor[key] = rules.count - 1
        return rules.count - 1
    }

    /// The rule of the subschema at a place below a rule's own.
    mutating func child(_ path: String, of rule: Rule) throws(SchemaError) -> Rule.ID {
        let parent = index.subschemas[rule.subschema].place
        let place = SchemaIndex.Place(document: parent.document, pointer: parent.pointer + "/" + path)
        guard let subschema = index.subschema(at: place) else {
            throw SchemaError(.invalid, "a schema is expected here", at: index.display(place))
        }
        return self.rule(for: subschema, from: rule.binding)
    }

    private mutating func read(_ unread: Rule) throws(SchemaError) -> Rule {
        var rule = unread
        let schema = index.subschemas[rule.subschema]
        guard schema.value.kind == .object else {
            rule.isFalse = schema.value.boolean == false
            return rule
        }
        let scope = index.resources[schema.resource].scope
        if scope.referencesHideSiblings, let target = schema.value["$ref"]?.string {
            rule.checks = [try reference(.ref, target, rule)]
            return rule
        }
        let reader = KeywordReader(rule: rule, value: schema.value, scope: scope, place: schema.place)
        // What is evaluated is known only when everything else has been (2020-12 core 11).
        var last: [Check] = []
        for member in schema.value.members ?? [] {
            guard let keyword = scope.keyword(member.name) else { continue }
            guard let demand = try reader.demand(of: keyword, member.value, &self) else { continue }
            let check = Check(keyword: member.name, demand: demand)
            switch keyword {
            case .unevaluatedItems, .unevaluatedProperties: last.append(check)
            default: rule.checks.append(check)
            }
        }
        rule.checks += last
        return rule
    }

    // MARK: - References

    private mutating func reference(_ keyword: Keyword, _ text: String, _ rule: Rule) throws(SchemaError) -> Check {
        Check(keyword: keyword.rawValue, demand: .reference(try target(keyword, text, rule)))
    }

    /// Where a reference leads under the rule's binding.
    mutating func target(_ keyword: Keyword, _ text: String, _ rule: Rule) throws(SchemaError) -> Rule.ID {
        let found = try index.resolve(text, from: rule.subschema)
        let resource = index.resources[index.subschemas[found.subschema].resource]
        switch keyword {
        case .dynamicRef:
            // The dynamic scope counts only when the static target is itself a dynamic anchor of that name.
            guard let anchor = found.anchor, resource.dynamicAnchors[anchor] == found.subschema,
                let outermost = bindings.resource(for: Name(anchor), in: rule.binding),
                let bound = index.resources[outermost].dynamicAnchors[anchor]
            else { break }
            return self.rule(for: bound, from: rule.binding)
        case .recursiveRef:
            guard resource.isRecursive,
                let outermost = bindings.resource(for: DynamicScope.recursive, in: rule.binding),
                let bound = index.subschema(at: index.resources[outermost].root)
            else { break }
            return self.rule(for: bound, from: rule.binding)
        default: break
        }
        return self.rule(for: found.subschema, from: rule.binding)
    }

    // MARK: - Shared tables

    mutating func pattern(_ source: String, at pointer: String) throws(SchemaError) -> Int {
        let name = Name(source)
        if let known = patternFor[name] { return known }
        // One takes up to some milliseconds, and one rule may bring thousands.
        try clock.check()
        do throws(PatternError) {
            // The array outlives the call, and the pattern keeps no pointer into its source.
            let pattern = try Self.compile(name.bytes)
            patterns.append(pattern)
            patternBytes += pattern.byteCount
        } catch {
            throw SchemaError(.pattern, "'\(source.quotable)' is not a pattern: \(error.message)", at: pointer)
        }
        guard patternBytes <= options.limits.patternBytes else {
            throw SchemaError(
                .limit, "the schema's patterns take more than \(options.limits.patternBytes) bytes", at: pointer)
        }
        patternSources.append(source)
        patternFor[name] = patterns.count - 1
        return patterns.count - 1
    }

    private static func compile(_ source: [UInt8]) throws(PatternError) -> Pattern {
        let result = source.withUnsafeBufferPointer { buffer -> Result<Pattern, PatternError> in
            do throws(PatternError) { return .success(try Pattern(buffer)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    mutating func countEnumValues(_ count: Int, at pointer: String) throws(SchemaError) {
        enumValues += count
        guard enumValues <= options.limits.enumValues else {
            throw SchemaError(.limit, "the schema lists more than \(options.limits.enumValues) values", at: pointer)
        }
    }
}
