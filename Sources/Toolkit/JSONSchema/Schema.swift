public import JSON

/// A JSON Schema, compiled once and shared by all threads.
///
/// The path of a schema through this module:
///
/// 1. *Index* (`Compile/SchemaIndex`): the document is walked along the positions that hold schemas. Each gets a number
///    and belongs to a resource, which has a URI, a dialect and anchors. Documents that references name are taken from
///    the library or the built-in metaschemas; nothing is fetched.
/// 2. *Metaschema* (`Compile/MetaschemaCheck`): the document is held against its metaschema, by this same engine.
/// 3. *Rules* (`Compile/RuleBuilder`): each subschema that is reached becomes a rule, a list of demands with every
///    reference followed. What a dynamic reference means depends on the way it is reached; instead of finding out during
///    evaluation, a subschema gets one rule for each such way (`Compile/DynamicScope`).
/// 4. *Plan* (`Compile/Planner`, `Plan/`): all rules that one value must satisfy together are merged and lowered to a
///    program of small instructions with tables beside them, plain bytes in one block.
/// 5. *Verdict* (`Evaluate/`): the plan is run on a parsed value. Yes or no, no allocation, bounded steps.
/// 6. *Report* (`Report/`): only for a value that failed, the rules (not the plan) are walked once more to say where and
///    why. Both evaluators come from the same rules; tests hold them against each other.
public final class Schema: Sendable {
    let compiled: SchemaCompiler.Result
    let options: SchemaOptions
    // What an evaluation needs, beside each other: the results of compiling are a large value to walk through.
    private let plan: PlanBase
    private let entry: UInt32
    private let way: MatchStrategy
    private let steps: Int
    private let patternSteps: Int
    private let nesting: Int
    private let membersPerObject: Int
    private let payloadBytes: Int
    private let readsLayout: Bool
    private let textBytes: Int

    /// Compiles a schema.
    ///
    /// - Throws: what is wrong with it, by place. A reference that leads nowhere is wrong also where no value would get to.
    public convenience init(_ document: JSONDocument, options: SchemaOptions = SchemaOptions()) throws(SchemaError) {
        try self.init(document, at: nil, options: options)
    }

    init(_ document: JSONDocument, at uri: String?, options: SchemaOptions) throws(SchemaError) {
        self.options = options
        textBytes = document.text.bytes.count
        compiled = try SchemaCompiler(options: options).compile(document, at: uri)
        plan = compiled.plan.base
        entry = compiled.entry
        way = MatchStrategy(compiled.plan.base.code(compiled.entry).pointee)
        steps = options.limits.steps
        patternSteps = options.limits.patternSteps
        nesting = options.limits.nesting
        membersPerObject = options.limits.membersPerObject
        payloadBytes = options.limits.payloadBytes
        readsLayout = options.access.readsLayout
    }

    /// Whether a value satisfies the schema. Allocates nothing once `scratch` has seen its usual documents.
    ///
    /// - Parameter bytes: the length of the value's own text, which pays for its steps; nil for that of its document.
    public func verdict(on value: JSONValue, bytes: Int? = nil, scratch: inout Scratch) -> Verdict {
        verdict(on: value.node, bytes ?? value.document.text.bytes.count, &scratch)
    }

    /// Whether a value satisfies the schema, with what is left of a budget that it shares with others.
    public func verdict(
        on value: JSONValue, bytes: Int? = nil, within budget: inout EvaluationBudget, scratch: inout Scratch
    ) -> Verdict {
        verdict(on: value.node, bytes ?? value.document.text.bytes.count, &budget, &scratch)
    }

    @inline(__always) private func verdict(on node: Node, _ bytes: Int, _ scratch: inout Scratch) -> Verdict {
        var budget = EvaluationBudget(steps: steps, bytes: bytes, patternSteps: patternSteps, reportSteps: 0)
        return verdict(on: node, bytes, &budget, &scratch)
    }

    @inline(__always) private func verdict(
        on node: Node, _ bytes: Int, _ budget: inout EvaluationBudget, _ scratch: inout Scratch
    ) -> Verdict {
        guard bytes <= payloadBytes else { return .exhausted(.bytes) }
        scratch.reset()
        budget.pay(for: bytes)
        return withUnsafeMutablePointer(to: &scratch) { scratch in
            readsLayout
                ? run(LayoutAccess.self, node, &budget, scratch) : run(PublicAccess.self, node, &budget, scratch)
        }
    }

    /// The verdicts on many values, in their order: what a batch, or whoever measures, asks for. Each value is by itself.
    public func verdicts(on values: [JSONValue], scratch: inout Scratch, _ take: (Verdict) -> Void) {
        // Nothing in the loop counts references: the array keeps every tree.
        withExtendedLifetime(values) {
            for at in values.indices {
                take(verdict(on: values[at].node, values[at].document.text.bytes.count, &scratch))
            }
        }
    }

    @inline(__always) private func run<Access: PlanAccess>(
        _ access: Access.Type, _ node: Node, _ budget: inout EvaluationBudget, _ scratch: UnsafeMutablePointer<Scratch>
    ) -> Verdict {
        var evaluator = Evaluator<Access>(
            plan: plan, scratch: scratch, steps: budget.steps, patternSteps: budget.patternSteps, depth: nesting,
            membersPerObject: membersPerObject)
        let isValid = evaluator.begin(entry, way, node)
        budget.steps = max(0, evaluator.steps)
        budget.patternSteps = max(0, evaluator.patternSteps)
        if let exhausted = evaluator.exhausted { return .exhausted(exhausted) }
        return isValid ? .valid : .invalid
    }

}

extension Schema {
    /// Instructions of the plan.
    public var planInstructions: Int { compiled.plan.instructionCount }
    /// Bytes of the plan with its tables.
    public var planBytes: Int { compiled.plan.byteCount }
    /// What the schema keeps in memory, about: the plan, and around it the document, the index of its places and the rules
    /// for reports, together some thirty times the text (measured on schemas of 20 members).
    public var keptBytes: Int { planBytes + 32 * textBytes }
    /// How values are read: `layout` or `public`.
    public var access: NodeAccessChoice { readsLayout ? .layout : .public }
    /// The dialect of the root.
    public var dialect: Dialect { compiled.index.resources[0].scope.dialect }
}

/// Why a document is not accepted as a schema.
public struct SchemaError: Error, Sendable, CustomStringConvertible {
    /// What is wrong, in the order of the document; never empty.
    public var problems: [Problem]

    /// One thing that is wrong with a schema.
    public struct Problem: Sendable, Equatable {
        public enum Reason: String, Sendable {
            /// The metaschema refuses the document.
            case invalid
            /// A reference names nothing that was loaded. Nothing is ever fetched.
            case unresolved
            /// References that lead back to themselves without going deeper into a value.
            case cycle
            /// A pattern that is not ECMA-262 (`u`), or too large.
            case pattern
            /// `$schema` or `$vocabulary` names something unknown.
            case unknownDialect
            /// Two resources or anchors with one name, or an identifier that is no URI.
            case identifier
            /// Larger, deeper or costlier than a limit.
            case limit
        }

        public var reason: Reason
        /// Where in the schema document: `#/properties/a`. A place in another document has its URI in front.
        public var pointer: String
        /// One sentence.
        public var detail: String
        /// For `invalid`: the keyword of the metaschema that refused, by its path and by its URI.
        public var keywordLocation: String?
        public var absoluteKeywordLocation: String?
    }

    public var description: String {
        problems.map { "\($0.pointer): \($0.detail)" }.joined(separator: "\n")
    }

    init(_ problems: [Problem]) { self.problems = problems }

    init(_ reason: Problem.Reason, _ detail: String, at pointer: String = "#") {
        problems = [Problem(reason: reason, pointer: pointer, detail: detail)]
    }
}
