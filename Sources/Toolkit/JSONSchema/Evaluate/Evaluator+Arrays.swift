extension Evaluator {
    @inline(__always) mutating func array(_ now: Instruction, _ node: Node) -> Bool {
        guard node.kind == .array else { return !now.isTyped }
        return elements(plan.arrays + Int(now.a), node)
    }

    mutating func elements(_ table: UnsafePointer<ArrayTable>, _ node: Node) -> Bool {
        let count = Access.count(ofArray: node)
        guard count >= Int(table.pointee.minimum), count <= Int(table.pointee.maximum) else { return false }
        guard spend(elements: count) else { return false }
        let prefix = min(count, Int(table.pointee.prefixCount))
        for index in 0..<prefix {
            let program = plan.programs[Int(table.pointee.prefix) + index]
            if !check(program, Access.element(index, of: node)) { return false }
        }
        let rest = table.pointee.rest
        if rest != Programs.pass, prefix < count {
            for index in prefix..<count where !check(rest, Access.element(index, of: node)) { return false }
        }
        if table.pointee.containsCount > 0, !contains(table, node) { return false }
        return !table.pointee.isUnique || isUnique(node)
    }

    @inline(__always) private mutating func spend(elements count: Int) -> Bool {
        steps -= count
        if steps >= 0 { return true }
        exhausted = exhausted ?? .steps
        return false
    }

    @inline(never) private mutating func contains(_ table: UnsafePointer<ArrayTable>, _ node: Node) -> Bool {
        let first = Int(table.pointee.contains)
        for row in first..<first + Int(table.pointee.containsCount)
        where !contains(plan.contains[row], node, marks: nil) {
            return false
        }
        return true
    }

    /// With `marks` every element is tried, since each that matches counts.
    mutating func contains(_ row: ContainsRow, _ node: Node, marks: UnsafeMutablePointer<Marks>?) -> Bool {
        let count = Access.count(ofArray: node)
        guard spend(elements: count) else { return false }
        var found: UInt32 = 0
        for index in 0..<count where check(row.program, Access.element(index, of: node)) {
            found += 1
            if found > row.maximum { return false }
            if let marks {
                marks.pointee.insert(index)
            } else if found >= row.minimum, row.maximum == .max {
                return true
            }
        }
        return found >= row.minimum
    }

    @inline(never) func isUniqueResult(_ node: Node) -> Uniqueness {
        Access.uniqueness(ofArray: node, scratch: &scratch.pointee)
    }

    private mutating func isUnique(_ node: Node) -> Bool {
        switch isUniqueResult(node) {
        case .unique: return true
        case .repeated: return false
        case .exhausted:
            exhausted = exhausted ?? .memory
            return false
        }
    }
}
