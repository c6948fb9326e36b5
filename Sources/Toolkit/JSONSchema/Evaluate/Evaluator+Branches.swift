extension Evaluator {
    mutating func any(_ now: Instruction, _ node: Node) -> Bool {
        guard spend(Int(now.b)) else { return false }
        let branches = plan.row(now.a, as: Branch.self)
        for position in 0..<Int(now.b) {
            let branch = branches[position]
            if Self.isPossible(branch, node), check(branch.program, node) { return true }
        }
        return false
    }

    mutating func one(_ now: Instruction, _ node: Node) -> Bool {
        guard spend(Int(now.b)) else { return false }
        let branches = plan.row(now.a, as: Branch.self)
        var found = false
        for position in 0..<Int(now.b) {
            let branch = branches[position]
            guard Self.isPossible(branch, node), check(branch.program, node) else { continue }
            if found { return false }
            found = true
        }
        return found
    }

    /// Whether a value of that kind can pass the branch at all.
    @inline(__always) static func isPossible(_ branch: Branch, _ node: Node) -> Bool {
        node.kind == .real ? !branch.kinds.isDisjoint(with: .real) : branch.kinds.contains(node.kind.set)
    }

    /// The branch that the member's value names, or none.
    @inline(never) mutating func select(_ now: Instruction, _ node: Node) -> Bool {
        let table = plan.row(now.a, as: SwitchTable.self)
        guard node.kind == .object else { return check(table.pointee.otherwise, node) }
        guard let value = member(table.pointee.member, of: node), value.kind == .string,
            let slot = Self.find(plan, Self.values(of: table), value)
        else { return false }
        if slot.pointee.way == .object { return nested(object: slot.pointee.program, node) }
        return check(slot.pointee.program, node)
    }

    /// The strings a switch tells apart: its first field.
    @inline(__always) private static func values(of table: UnsafePointer<SwitchTable>) -> UnsafePointer<TextTable> {
        UnsafeRawPointer(table).assumingMemoryBound(to: TextTable.self)
    }
}
