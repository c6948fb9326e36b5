import JSON

/// From a document to a plan: index, follow references, find cycles, lower.
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
            throw SchemaError(.invalid, "a schema is an object, true or false")
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
