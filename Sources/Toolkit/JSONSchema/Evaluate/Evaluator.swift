/// Runs a plan on one value. The result is true or false. The evaluator allocates no memory and does not backtrack.
///
/// The type is generic over the access method, and is specialized for `PublicAccess` and `LayoutAccess`. When a budget
/// is exhausted, every further check returns false, and an enclosing `not` may invert this result. Callers must
/// therefore check `exhausted` before they use the result.
struct Evaluator<Access: PlanAccess> {
    let plan: PlanBase
    let scratch: UnsafeMutablePointer<Scratch>
    var steps: Int
    var patternSteps: Int
    var depth: Int
    let membersPerObject: Int
    var exhausted: Verdict.Budget?
    /// The marks of the innermost value whose evaluated parts are tracked; nil when none are tracked.
    var marks: UnsafeMutablePointer<Marks>?

    /// Runs the program of the root value. Returns true if the value passes.
    @inline(__always) mutating func begin(_ program: UInt32, _ way: MatchStrategy, _ node: Node) -> Bool {
        way == .object ? nested(object: program, node) : run(program, node)
    }

    /// Runs a program on a value. Returns true if the value passes.
    @inline(never) mutating func run(_ program: UInt32, _ node: Node) -> Bool {
        guard enter() else { return false }
        var at = plan.code(program)
        while true {
            guard step(at.pointee, node) else { return leave(false) }
            if at.pointee.isLast { return leave(true) }
            // Each instruction counts as a step, because a program may have thousands of instructions. The limit is
            // checked only at loops and calls, because a single program always ends.
            steps &-= 1
            at += 1
        }
    }

    /// Counts a call. Returns false when the steps or the nesting of calls are exhausted.
    @inline(__always) mutating func enter() -> Bool {
        steps &-= 1
        depth &-= 1
        if steps >= 0, depth >= 0 { return true }
        exhausted = exhausted ?? (steps < 0 ? .steps : .depth)
        return leave(false)
    }

    @inline(__always) mutating func leave(_ answer: Bool) -> Bool {
        depth &+= 1
        return answer
    }

    /// Counts `count` steps of work that is not a call. Returns false when the steps are exhausted.
    @inline(__always) mutating func spend(_ count: Int) -> Bool {
        steps &-= count
        if steps >= 0 { return true }
        exhausted = exhausted ?? .steps
        return false
    }

    /// Runs a program on a value. Returns true if the value passes. A program that is a single leaf (a check without
    /// calls) runs inline.
    @inline(__always) mutating func check(_ program: UInt32, _ node: Node) -> Bool {
        let first = plan.code(program)
        return first.pointee.isSimple ? Self.leaf(plan, first, node) : run(program, node)
    }

    @inline(__always) private mutating func step(_ now: Instruction, _ node: Node) -> Bool {
        switch now.operation {
        case .pass: return true
        case .fail: return false
        case .kinds: return Self.isOf(now, node)
        case .string: return Self.isString(now, node)
        case .integer: return Self.isInteger(plan, now, node)
        case .number: return Self.isNumber(plan, now, node)
        case .equalsString: return node.kind == .string && Self.equals(plan, plan.row(now.a), node)
        case .inStrings: return node.kind == .string && Self.find(plan, plan.row(now.a), node) != nil
        case .multipleOf: return isMultiple(now, node)
        case .pattern: return node.kind != .string || matches(now.a, Access.text(ofString: node))
        case .format: return node.kind != .string || isFormat(now.a, Access.text(ofString: node))
        case .content: return node.kind != .string || isContent(now.a, Access.text(ofString: node))
        case .inValues: return isListed(now, node)
        case .object: return node.kind == .object ? members(plan.row(now.a), node) : !now.isTyped
        case .array: return node.kind == .array ? elements(plan.row(now.a), node) : !now.isTyped
        case .call: return run(now.a, node)
        case .selectBranch: return select(now, node)
        default: return choose(now, node)
        }
    }

    /// Runs one of the less frequent instructions. Returns true if the value passes. The function is separate, so that
    /// the code for the frequent instructions is small.
    @inline(never) private mutating func choose(_ now: Instruction, _ node: Node) -> Bool {
        switch now.operation {
        case .required: return node.kind != .object || hasAll(node, now.a, now.b)
        case .dependentRequired:
            guard node.kind == .object, member(now.a, of: node) != nil else { return true }
            return hasAll(node, now.b, now.c)
        case .dependentSchema:
            guard node.kind == .object, member(now.a, of: node) != nil else { return true }
            return check(now.b, node)
        case .anyOf: return any(now, node)
        case .oneOf: return one(now, node)
        case .not: return !check(now.a, node)
        case .conditional: return check(check(now.a, node) ? now.b : now.c, node)
        default: return marking(now, node)
        }
    }

    // MARK: - Scalars that need a call

    @inline(never) private func isMultiple(_ now: Instruction, _ node: Node) -> Bool {
        let divisor = plan.row(now.a, as: Divisor.self)
        switch node.kind {
        case .integer: return divisor.pointee.divides(Access.integer(node))
        case .real: return divisor.pointee.divides(Access.real(node))
        default: return true
        }
    }

    /// Returns true if a text matches a pattern. Counts steps, because matching thousands of patterns with a long text
    /// would otherwise not be limited.
    @inline(never) mutating func matches(_ pattern: UInt32, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard spend(text.count >> 4) else { return false }
        let matcher = plan.row(pattern, as: Unmanaged<Pattern>.self)
        let verdict = matcher.pointee._withUnsafeGuaranteedRef { $0.matches(text, steps: &patternSteps) }
        if verdict == .exhausted { exhausted = exhausted ?? .patternSteps }
        return verdict == .match
    }

    @inline(never) mutating func isFormat(_ number: UInt32, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard spend(text.count >> 4) else { return false }
        return Format(rawValue: UInt8(truncatingIfNeeded: number)).map { $0.accepts(text) } ?? true
    }

    /// Returns true if a text satisfies the content keywords. Counts one step for each byte.
    @inline(never) private mutating func isContent(_ requirement: UInt32, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard spend(text.count) else { return false }
        return Content.accepts(text, requirement)
    }

    @inline(never) private mutating func isListed(_ now: Instruction, _ node: Node) -> Bool {
        guard spend(Int(now.b >> 2)) else { return false }
        let values = plan.row(now.a, as: Node.self)
        for position in 0..<Int(now.b) where Access.areEqual(values[position], node) { return true }
        return false
    }

    // MARK: - Members by name

    @inline(never) func member(_ text: UInt32, of object: Node) -> Node? {
        let wanted = plan.row(text, as: PlanText.self)
        let length = Int(wanted.pointee.length)
        if Access.size(ofObject: object) > 12 || length > 16 {
            return Access.member(of: object, named: plan.row(wanted.pointee.offset), length: length)
        }
        var next = Access.firstEntry(in: object)
        while let entry = next {
            if Access.nameLength(of: entry) == length,
                Access.words(ofName: Access.name(of: entry), length: length) == wanted.pointee.words
            {
                return Access.value(of: entry)
            }
            next = Access.entry(after: entry, in: object)
        }
        return nil
    }

    private func hasAll(_ object: Node, _ first: UInt32, _ count: UInt32) -> Bool {
        let names = plan.row(first, as: UInt32.self)
        for position in 0..<Int(count) where member(names[position], of: object) == nil { return false }
        return true
    }
}

/// Counts the code points of UTF-8 texts.
enum CodePoints {
    static func count(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        text.count { $0 & 0xC0 != 0x80 }
    }
}

/// The result of an evaluation.
public enum Verdict: Sendable, Equatable {
    case valid
    case invalid
    /// The result is undecided, because the evaluation was stopped at a limit.
    case exhausted(Budget)

    /// The limit at which an evaluation stopped.
    public enum Budget: UInt8, Sendable, CaseIterable {
        /// The number of steps, which are loops and calls of the evaluation.
        case steps
        /// The number of steps of backtracking patterns.
        case patternSteps
        /// The nesting of calls of the evaluation.
        case depth
        /// The number of members of one object.
        case members
        /// The scratch memory.
        case memory
        /// The length of the value's text in bytes.
        case bytes
    }
}
