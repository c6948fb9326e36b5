public import JSON

/// A JSON Schema, compiled once and shared by all threads.
///
/// A schema passes through these stages:
///
/// 1. *Index* (`Compile/SchemaIndex`): walks the document along the positions that hold schemas. Each schema gets a
///    number and belongs to a resource, which has a URI, a dialect and anchors. Referenced documents come from the
///    library or the built-in metaschemas; nothing is fetched.
/// 2. *Metaschema* (`Compile/MetaschemaCheck`): validates the document against its metaschema, with this same engine.
/// 3. *Rules* (`Compile/RuleBuilder`): turns each reachable subschema into a rule, a list of requirements with every
///    reference resolved. The target of a dynamic reference depends on the path by which it is reached. Instead of
///    tracking this during evaluation, a subschema gets one rule for each such path (`DynamicScope`).
/// 4. *Plan* (`Compile/Planner`, `Plan/`): merges all rules that a value must satisfy together, and translates them
///    into a program of small instructions with tables, as plain bytes in one block.
/// 5. *Verdict* (`Evaluate/`): runs the plan on a parsed value. The result is yes or no, without allocation and in a
///    bounded number of steps.
/// 6. *Report* (`Report/`): for an invalid value, walks the rules (not the plan) again to determine where and why it is
///    invalid. Both evaluators use the same rules, and tests compare their results.
public final class Schema: Sendable {
    let compiled: SchemaCompiler.Result
    let options: SchemaOptions
    // The data of an evaluation are stored together, because the compiled form is a large value to navigate.
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
    /// - Throws: `SchemaError` with the problems and their locations. An unresolvable reference is an error even when
    ///   no value would reach it.
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

    /// Evaluates a value. Allocates nothing once `scratch` has grown to the size of the usual documents.
    ///
    /// - Parameter bytes: the length of the value's own text, which determines its steps; nil for that of its document.
    public func verdict(on value: JSONValue, bytes: Int? = nil, scratch: inout Scratch) -> Verdict {
        verdict(on: value.node, bytes ?? value.document.text.bytes.count, &scratch)
    }

    /// Evaluates a value within a budget that it shares with other values.
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

    /// Evaluates many values in order, each with its own limits; for batches and measurements.
    func verdicts(on values: [JSONValue], scratch: inout Scratch, _ take: (Verdict) -> Void) {
        // The loop changes no reference counts, because the array keeps every tree.
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
    /// The number of instructions of the plan.
    public var planInstructions: Int { compiled.plan.instructionCount }
    /// The size of the plan with its tables, in bytes.
    public var planBytes: Int { compiled.plan.byteCount }
    /// The approximate memory of the schema in bytes: the plan, the document, the index of its places and the rules for
    /// reports. All but the plan take together about thirty times the size of the text (measured on schemas of 20
    /// members).
    public var keptBytes: Int { planBytes + 32 * textBytes }
    /// The access method for values: `layout` or `public`.
    public var access: NodeAccessChoice { readsLayout ? .layout : .public }
    /// The dialect of the root schema.
    public var dialect: Dialect { compiled.index.resources[0].scope.dialect }
}

/// The reason why a document is not a valid schema.
public struct SchemaError: Error, Sendable, CustomStringConvertible {
    /// The problems in the order of the document; never empty.
    public var problems: [Problem]

    /// One problem of a schema.
    public struct Problem: Sendable, Equatable {
        /// The kind of a problem.
        public enum Reason: String, Sendable {
            /// The metaschema rejects the document.
            case invalid
            /// A reference names nothing that was loaded. Nothing is ever fetched.
            case unresolved
            /// References lead back to themselves without going deeper into a value.
            case cycle
            /// A pattern is not valid ECMA-262 (with the `u` flag), or is too large.
            case pattern
            /// `$schema` or `$vocabulary` names something unknown.
            case unknownDialect
            /// Two resources or anchors have the same name, or an identifier is not a URI.
            case identifier
            /// The schema exceeds a limit.
            case limit
        }

        /// The kind of the problem.
        public var reason: Reason
        /// The location in the schema document, as in `#/properties/a`. A location in another document starts with its
        /// URI.
        public var pointer: String
        /// The problem in one sentence.
        public var detail: String
        /// For `invalid`: the keyword of the metaschema that rejects the document, by path and by URI.
        public var keywordLocation: String?
        /// The absolute location of that keyword.
        public var absoluteKeywordLocation: String?
    }

    /// All problems, one per line.
    public var description: String {
        problems.map { "\($0.pointer): \($0.detail)" }.joined(separator: "\n")
    }

    init(_ problems: [Problem]) { self.problems = problems }

    init(_ reason: Problem.Reason, _ detail: String, at pointer: String = "#") {
        problems = [Problem(reason: reason, pointer: pointer, detail: detail)]
    }
}
