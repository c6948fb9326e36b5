public import JSON

/// A compiled JSON Schema. All threads may share it.
///
/// A schema passes through these stages:
///
/// 1. *Index* (`Compile/SchemaIndex`): visits all positions of the document that contain schemas. Each schema gets a
///    number and belongs to a resource, which has a URI, a dialect and anchors. Referenced documents come from the
///    library or the built-in metaschemas and are never fetched from the network.
/// 2. *Metaschema* (`Compile/MetaschemaCheck`): validates the document against its metaschema, with this same engine.
/// 3. *Rules* (`Compile/RuleBuilder`): turns each reachable subschema into a rule, a list of requirements with every
///    reference resolved. The target of a dynamic reference depends on the path by which it is reached. Instead of
///    tracking this during evaluation, a subschema gets one rule for each such path (`DynamicScope`).
/// 4. *Plan* (`Compile/Planner`, `Plan/`): merges all rules that a value must satisfy together, and translates them
///    into a program of small instructions with tables, as plain bytes in one block.
/// 5. *Verdict* (`Evaluate/`): runs the plan on a parsed value. The result is yes or no. The evaluation allocates no
///    memory, and its number of steps is limited.
/// 6. *Report* (`Report/`): determines where and why a value is invalid. It evaluates the rules instead of the plan.
///    Tests compare the results of both evaluators.
public final class Schema: Sendable {
    let compiled: SchemaCompiler.Result
    let options: SchemaOptions
    // The data that an evaluation needs is stored here, because accessing it inside the large compiled form would take
    // longer.
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
    /// - Throws: `SchemaError` with the problems and their locations. A reference that cannot be resolved is an error,
    ///   even if no evaluation uses the reference.
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

    /// Evaluates a value. Allocates no memory if `scratch` is already large enough from earlier evaluations.
    ///
    /// - Parameter bytes: the length of the value's text in bytes, which determines the allowed number of steps; nil to
    ///   use the length of the value's whole document.
    public func verdict(on value: JSONValue, bytes: Int? = nil, scratch: inout Scratch) -> Verdict {
        verdict(on: value.node, bytes ?? value.document.text.bytes.count, &scratch)
    }

    /// Evaluates a value within a budget that several values share. Subtracts the used steps from `budget`.
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

    /// Evaluates several values in order, each with its own limits, and calls `take` with each result. Used for
    /// measurements.
    func verdicts(on values: [JSONValue], scratch: inout Scratch, _ take: (Verdict) -> Void) {
        // The loop retains no values, because the array keeps every tree alive.
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
    /// The approximate memory of the schema in bytes: the plan, the document, the index of subschemas, and the rules
    /// for reports. All parts except the plan take about thirty times the size of the text (measured with schemas of 20
    /// members).
    public var keptBytes: Int { planBytes + 32 * textBytes }
    /// The access method that evaluations use: `layout` or `public`.
    public var access: NodeAccessChoice { readsLayout ? .layout : .public }
    /// The dialect of the root schema.
    public var dialect: Dialect { compiled.index.resources[0].scope.dialect }
}

/// The reason why a document is not a valid schema.
public struct SchemaError: Error, Sendable, CustomStringConvertible {
    /// The problems, in the order of the document. Never empty.
    public var problems: [Problem]

    /// One problem of a schema.
    public struct Problem: Sendable, Equatable {
        /// The kind of a problem.
        public enum Reason: String, Sendable {
            /// The metaschema rejects the document.
            case invalid
            /// The target of a reference does not exist in the loaded documents. Documents are never fetched.
            case unresolved
            /// A reference leads back to itself for the same value, so an evaluation would never end.
            case cycle
            /// A pattern is not valid ECMA-262 (with the `u` flag), or is too large.
            case pattern
            /// `$schema` or `$vocabulary` contains an unknown URI.
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
        /// For `invalid`: the location of the metaschema's keyword that rejects the document, as a path through
        /// references; nil otherwise.
        public var keywordLocation: String?
        /// For `invalid`: the absolute location of the metaschema's keyword, as a URI; nil otherwise.
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
