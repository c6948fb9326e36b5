import Glibc
import JSON

/// Converts indexed subschemas into rules. Resolves every reference and reads every keyword.
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

    /// Builds the rule of `root`, which gets the number 0, and all rules that it applies or refers to, directly or
    /// indirectly.
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

    /// Resolves every reference of the schema, including references that no evaluation uses. Also collects the names
    /// that dynamic references use, because they are needed to create the first binding (``DynamicScope``).
    private mutating func followEveryReference() throws(SchemaError) {
        var next = 0
        while next < index.subschemas.count {
            if next % 64 == 0 { try clock.check() }
            let place = index.subschemas[next].place
            do throws(SchemaError) {
                try registerReferences(of: next)
            } catch {
                // References in a library document must be valid only if they are used. `read` reports invalid
                // references that are used.
                if place.document == 0 { throw error }
            }
            next += 1
        }
    }

    private mutating func registerReferences(of id: SchemaIndex.SubschemaID) throws(SchemaError) {
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
            throw SchemaError(
                .limit, "the schema's dynamic references need more than \(options.limits.bindings) bindings")
        }
        if rules.count > options.limits.planInstructions {
            throw SchemaError(
                .limit, "the schema with its references resolved has more than \(options.limits.planInstructions) rules"
            )
        }
    }

    // MARK: - Rules

    /// Returns the rule of a subschema for this binding of dynamic references. Creates the rule at the first use.
    mutating func rule(for subschema: SchemaIndex.SubschemaID, from binding: DynamicScope.ID) -> Rule.ID {
        let entered = bindings.entering(index.subschemas[subschema].resource, of: index, from: binding)
        let key = Key(subschema: subschema, binding: entered)
        if let known = ruleFor[key] { return known }
        rules.append(Rule(subschema: subschema, binding: entered))
        ruleFor[key] = rules.count - 1
        return rules.count - 1
    }

    /// Returns the rule of the subschema at a path below the schema of `rule`.
    mutating func child(_ path: String, of rule: Rule) throws(SchemaError) -> Rule.ID {
        let parent = index.subschemas[rule.subschema].place
        let place = SchemaIndex.Place(document: parent.document, pointer: parent.pointer + "/" + path)
        guard let subschema = index.subschema(at: place) else {
            throw SchemaError(
                .invalid, "this value must be a schema: an object, true or false", at: index.display(place))
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
        // The `unevaluated*` keywords come last, because they depend on all other keywords (2020-12 core 11).
        var last: [Check] = []
        for member in schema.value.members ?? [] {
            guard let keyword = scope.keyword(member.name) else { continue }
            guard let requirement = try reader.require(of: keyword, member.value, &self) else { continue }
            let check = Check(keyword: member.name, requirement: requirement)
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
        Check(keyword: keyword.rawValue, requirement: .reference(try target(keyword, text, rule)))
    }

    /// Returns the target of a reference in a rule, according to the rule's binding of dynamic references.
    mutating func target(_ keyword: Keyword, _ text: String, _ rule: Rule) throws(SchemaError) -> Rule.ID {
        let found = try index.resolve(text, from: rule.subschema)
        let resource = index.resources[index.subschemas[found.subschema].resource]
        switch keyword {
        case .dynamicRef:
            // The dynamic scope is used only if the static target is itself a dynamic anchor with this name.
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
        // The time is checked, because compiling a pattern can take several milliseconds and a rule may have thousands
        // of patterns.
        try clock.check()
        do throws(PatternError) {
            // The array stays valid during the call, and the pattern stores no pointer into its source.
            let pattern = try Self.compile(name.bytes)
            patterns.append(pattern)
            patternBytes += pattern.byteCount
        } catch {
            throw SchemaError(.pattern, "'\(source.quotable)' is not a valid pattern: \(error.message)", at: pointer)
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
            throw SchemaError(
                .limit, "the schema's enums have more than \(options.limits.enumValues) values", at: pointer)
        }
    }
}

/// The bindings of dynamic references. A binding contains, for each dynamic anchor, the outermost resource that defines
/// it. This is the only effect of the dynamic scope.
///
/// The dynamic scope is not tracked during an evaluation. Instead, a subschema is compiled once for each binding with
/// which it is used. Only names that dynamic references use are included, so most schemas have a single, empty binding.
struct DynamicScope {
    typealias ID = Int

    /// The name that represents `$recursiveAnchor`, which is an anchor without a name.
    static let recursive = Name("")

    private var known: [[Name: SchemaIndex.ResourceID]] = [[:]]
    private var ids: [[Name: SchemaIndex.ResourceID]: ID] = [[:]: 0]
    /// The names that dynamic references use.
    var wanted: Set<Name> = []

    static let empty: ID = 0

    var count: Int { known.count }

    func resource(for name: Name, in binding: ID) -> SchemaIndex.ResourceID? { known[binding][name] }

    /// Returns the binding of dynamic references inside a resource: `binding` with the dynamic anchors of the resource
    /// whose names are in `wanted`. A name that `binding` already contains keeps its resource.
    mutating func entering(_ resource: SchemaIndex.ResourceID, of index: SchemaIndex, from binding: ID) -> ID {
        guard !wanted.isEmpty else { return binding }
        var bound = known[binding]
        for name in index.resources[resource].dynamicAnchors.keys.map(Name.init)
        where wanted.contains(name) && bound[name] == nil {
            bound[name] = resource
        }
        if index.resources[resource].isRecursive, wanted.contains(Self.recursive), bound[Self.recursive] == nil {
            bound[Self.recursive] = resource
        }
        if let id = ids[bound] { return id }
        known.append(bound)
        ids[bound] = known.count - 1
        return known.count - 1
    }
}

/// The CPU time limit of a compilation. The time of the thread is measured, so that no schema is rejected because the
/// machine is busy.
struct CompileClock {
    private let deadline: Int
    private let milliseconds: Int

    init(milliseconds: Int) {
        self.milliseconds = milliseconds
        deadline = Self.now() + milliseconds * 1_000_000
    }

    func check() throws(SchemaError) {
        guard Self.now() <= deadline else {
            throw SchemaError(.limit, "compiling the schema takes more than \(milliseconds) ms")
        }
    }

    private static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}

/// A name that is compared by its bytes, as JSON requires. `String` is not used, because it treats canonically
/// equivalent texts as equal.
struct Name: Hashable, Sendable, Comparable {
    let bytes: [UInt8]

    init(_ text: some StringProtocol) { bytes = Array(text.utf8) }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    static func < (left: Name, right: Name) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}

extension String {
    /// The name as a reference token of a JSON Pointer (RFC 6901 section 3).
    var pointerToken: String { JSONPointer.escaped(self) }

    /// The name, truncated to a length that fits into a sentence.
    var quotable: String {
        unicodeScalars.count <= 64 ? self : String(String.UnicodeScalarView(unicodeScalars.prefix(61))) + "…"
    }

    func starts(withASCII prefix: StaticString) -> Bool {
        prefix.withUTF8Buffer { utf8.starts(with: $0) }
    }
}
