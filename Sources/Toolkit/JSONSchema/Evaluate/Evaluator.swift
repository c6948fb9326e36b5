/// Runs a plan on one value and answers yes or no, without an allocation and without looking back.
///
/// Generic over how nodes are read; each of the two ways is its own specialised copy. When a budget runs out everything
/// from there on answers no, which an outer `not` may turn around: so `exhausted` is looked at before the answer.
struct Evaluator<Access: PlanAccess> {
    let plan: PlanView
    let scratch: UnsafeMutablePointer<Scratch>
    var steps: Int
    var patternSteps: Int
    var depth: Int
    let membersPerObject: Int
    var exhausted: Verdict.Budget?
    /// Of the innermost value whose evaluated parts are being noted.
    var marks: UnsafeMutablePointer<Marks>?

    /// Runs the program that begins at `start`.
    mutating func run(_ start: UInt32, _ node: Node) -> Bool {
        steps -= 1
        depth -= 1
        defer { depth += 1 }
        guard steps >= 0, depth >= 0 else {
            exhausted = exhausted ?? (steps < 0 ? .steps : .depth)
            return false
        }
        var at = plan.code + Int(start)
        while true {
            guard step(at, node) else { return false }
            if at.pointee.isLast { return true }
            at += 1
        }
    }

    /// Runs a program, without a call where it is a single leaf.
    @inline(__always) mutating func check(_ program: UInt32, _ node: Node) -> Bool {
        let first = plan.code + Int(program)
        if first.pointee.isSimple { return leaf(first.pointee, node) }
        return run(program, node)
    }

    @inline(__always) private mutating func step(_ at: UnsafePointer<Instruction>, _ node: Node) -> Bool {
        let now = at.pointee
        switch now.operation {
        case .pass, .fail, .kinds, .string, .integer, .number, .equalsString, .inStrings: return leaf(now, node)
        case .multipleOf: return isMultiple(now, node)
        case .pattern: return node.kind != .string || matches(Int(now.a), Access.text(ofString: node))
        case .format: return node.kind != .string || isFormat(now.a, Access.text(ofString: node))
        case .content: return node.kind != .string || Content.accepts(Access.text(ofString: node), now.a)
        case .inValues: return isListed(now, node)
        case .object: return object(now, node)
        case .required: return node.kind != .object || hasAll(node, now.a, now.b)
        case .dependentRequired:
            guard node.kind == .object, member(now.a, of: node) != nil else { return true }
            return hasAll(node, now.b, now.c)
        case .dependentSchema:
            guard node.kind == .object, member(now.a, of: node) != nil else { return true }
            return check(now.b, node)
        case .array: return array(now, node)
        case .call: return run(now.a, node)
        case .anyOf: return any(now, node)
        case .oneOf: return one(now, node)
        case .selectBranch: return select(now, node)
        case .not: return !check(now.a, node)
        case .conditional: return check(check(now.a, node) ? now.b : now.c, node)
        case .region, .markObject, .markArray, .markAnyOf, .markOneOf, .markConditional, .unevaluatedMembers,
            .unevaluatedElements:
            return marking(now, node)
        }
    }

    // MARK: - Leaves

    @inline(__always) func leaf(_ now: Instruction, _ node: Node) -> Bool {
        switch now.operation {
        case .pass: return true
        case .kinds: return isOf(now.kinds, node)
        case .string:
            guard node.kind == .string else { return !now.isTyped }
            return hasLength(now, node)
        case .integer: return isInteger(now, node)
        case .number: return isNumber(now, node)
        case .equalsString: return node.kind == .string && equals(plan.texts[Int(now.a)], node)
        case .inStrings: return node.kind == .string && find(plan.sets[Int(now.a)], node) != nil
        default: return false
        }
    }

    @inline(__always) func isOf(_ kinds: KindSet, _ node: Node) -> Bool {
        let kind = node.kind
        if kind == .real {
            return kinds.isSuperset(of: .real) || !kinds.isDisjoint(with: KindSet(real: Access.real(node)))
        }
        return kinds.contains(kind.set)
    }

    /// Most texts are decided by their bytes: there are at most as many code points, and at least a fourth.
    @inline(__always) private func hasLength(_ now: Instruction, _ node: Node) -> Bool {
        let bytes = Access.length(ofString: node)
        let (least, most) = (Int(now.a), Int(now.b))
        if bytes < least || (bytes + 3) >> 2 > most { return false }
        if bytes <= most, (bytes + 3) >> 2 >= least { return true }
        let count = CodePoints.count(Access.text(ofString: node))
        return least <= count && count <= most
    }

    @inline(__always) private func isInteger(_ now: Instruction, _ node: Node) -> Bool {
        switch node.kind {
        case .integer: return plan.ranges[Int(now.a)].contains(Access.integer(node))
        case .real:
            let real = Access.real(node)
            return real == real.rounded(.down) && plan.ranges[Int(now.a)].contains(real)
        default: return false
        }
    }

    @inline(__always) private func isNumber(_ now: Instruction, _ node: Node) -> Bool {
        switch node.kind {
        case .integer: return plan.ranges[Int(now.a)].contains(Access.integer(node))
        case .real: return plan.ranges[Int(now.a)].contains(Access.real(node))
        default: return !now.isTyped
        }
    }

    // MARK: - Scalars that need a call

    private func isMultiple(_ now: Instruction, _ node: Node) -> Bool {
        switch node.kind {
        case .integer: plan.divisors[Int(now.a)].divides(Access.integer(node))
        case .real: plan.divisors[Int(now.a)].divides(Access.real(node))
        default: true
        }
    }

    mutating func matches(_ pattern: Int, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard spend(scanning: text) else { return false }
        var left = patternSteps
        let verdict = plan.patterns[pattern]._withUnsafeGuaranteedRef { $0.matches(text, steps: &left) }
        patternSteps = left
        if verdict == .exhausted { exhausted = exhausted ?? .patternSteps }
        return verdict == .match
    }

    /// Thousands of patterns on one long text are work that no loop or call would count.
    @inline(__always) private mutating func spend(scanning text: UnsafeBufferPointer<UInt8>) -> Bool {
        steps -= text.count >> 4
        if steps >= 0 { return true }
        exhausted = exhausted ?? .steps
        return false
    }

    mutating func isFormat(_ number: UInt32, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard spend(scanning: text) else { return false }
        return Format(rawValue: UInt8(truncatingIfNeeded: number)).map { $0.accepts(text) } ?? true
    }

    private mutating func isListed(_ now: Instruction, _ node: Node) -> Bool {
        steps -= Int(now.b >> 2)
        for position in Int(now.a)..<Int(now.a + now.b) where Access.areEqual(plan.values[position], node) {
            return true
        }
        return false
    }

    // MARK: - Texts

    @inline(__always) func equals(_ text: PlanText, _ node: Node) -> Bool {
        let length = Access.length(ofString: node)
        guard length == Int(text.length) else { return false }
        let bytes = Access.bytes(ofString: node)
        return NameWords(bytes, length) == text.words && (length <= 16 || hasBytes(of: text, bytes))
    }

    /// What the words leave open: the middle of a long text.
    @inline(never) func hasBytes(of text: PlanText, _ bytes: UnsafePointer<UInt8>) -> Bool {
        let wanted = plan.bytes + Int(text.offset)
        return UnsafeBufferPointer(start: bytes, count: Int(text.length))
            .elementsEqual(UnsafeBufferPointer(start: wanted, count: Int(text.length)))
    }

    @inline(__always) func find(_ table: TextTable, _ node: Node) -> UnsafePointer<Slot>? {
        let length = Access.length(ofString: node)
        let bytes = Access.bytes(ofString: node)
        return find(table, NameWords(bytes, length), bytes, length)
    }

    @inline(__always) func find(
        _ table: TextTable, _ words: NameWords, _ bytes: UnsafePointer<UInt8>, _ length: Int
    ) -> UnsafePointer<Slot>? {
        let slots = plan.slots + Int(table.first)
        var at = table.home(words, length)
        while true {
            let slot = slots + at
            let name = slot.pointee.name
            if Int(name.length) == length, name.words == words, length <= 16 || hasBytes(of: name, bytes) {
                return slot
            }
            // A third of the slots at least is free, so the search ends.
            if name.length == .max { return nil }
            at = (at + 1) & Int(table.mask)
        }
    }

    // MARK: - Members by name

    @inline(__always) func member(_ text: UInt32, of object: Node) -> Node? {
        let name = plan.texts[Int(text)]
        return Access.member(of: object, named: plan.bytes + Int(name.offset), length: Int(name.length))
    }

    private func hasAll(_ object: Node, _ first: UInt32, _ count: UInt32) -> Bool {
        for position in Int(first)..<Int(first + count) where member(plan.lists[position], of: object) == nil {
            return false
        }
        return true
    }
}

/// Counting what a text consists of.
enum CodePoints {
    static func count(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        text.count { $0 & 0xC0 != 0x80 }
    }
}
