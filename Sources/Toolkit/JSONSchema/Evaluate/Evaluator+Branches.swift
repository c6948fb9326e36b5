extension Evaluator {
    mutating func any(_ now: Instruction, _ node: Node) -> Bool {
        steps -= Int(now.b)
        for position in Int(now.a)..<Int(now.a + now.b) {
            let branch = plan.branches[position]
            if isPossible(branch, node), check(branch.program, node) { return true }
        }
        return false
    }

    mutating func one(_ now: Instruction, _ node: Node) -> Bool {
        steps -= Int(now.b)
        var found = false
        for position in Int(now.a)..<Int(now.a + now.b) {
            let branch = plan.branches[position]
            guard isPossible(branch, node), check(branch.program, node) else { continue }
            if found { return false }
            found = true
        }
        return found
    }

    /// Whether a value of that kind can pass the branch at all.
    @inline(__always) func isPossible(_ branch: Branch, _ node: Node) -> Bool {
        node.kind == .real ? !branch.kinds.isDisjoint(with: .real) : branch.kinds.contains(node.kind.set)
    }

    /// The branch that the member's value names, or none.
    mutating func select(_ now: Instruction, _ node: Node) -> Bool {
        let table = plan.switches + Int(now.a)
        guard node.kind == .object else { return check(table.pointee.otherwise, node) }
        guard let value = member(table.pointee.member, of: node), value.kind == .string,
            let slot = find(table.pointee.values, value)
        else { return false }
        return check(slot.pointee.program, node)
    }
}
