extension Evaluator {
    mutating func elements(_ table: UnsafePointer<ArrayTable>, _ node: Node) -> Bool {
        let count = Access.count(ofArray: node)
        guard count >= Int(table.pointee.minimum), count <= Int(table.pointee.maximum), spend(count) else {
            return false
        }
        let prefix = min(count, Int(table.pointee.prefixCount))
        if prefix > 0 {
            let programs = plan.row(table.pointee.prefix, as: UInt32.self)
            for index in 0..<prefix where !check(programs[index], Access.element(index, of: node)) { return false }
        }
        if prefix < count, !rest(table, from: prefix, to: count, node) { return false }
        if table.pointee.containsCount > 0, !contains(table, node) { return false }
        return !table.pointee.isUnique || isUnique(node)
    }

    /// Returns true if the elements after the prefix (tuple) pass the program `rest` of the table. There is one loop
    /// for each ``MatchStrategy``, so that the strategy is not selected again for each element.
    @inline(__always) private mutating func rest(
        _ table: UnsafePointer<ArrayTable>, from start: Int, to end: Int, _ node: Node
    ) -> Bool {
        let plan = plan
        let program = table.pointee.rest
        let first = plan.code(program)
        var at = start
        switch table.pointee.restWay {
        case .pass: return true
        case .kinds:
            let kinds = first.pointee.b
            while at < end {
                if kinds &>> UInt32(Access.element(at, of: node).kind.rawValue) & 1 == 0 { return false }
                at &+= 1
            }
        case .string:
            while at < end {
                if !Self.isString(first.pointee, Access.element(at, of: node)) { return false }
                at &+= 1
            }
        case .object:
            while at < end {
                if !nested(object: program, Access.element(at, of: node)) { return false }
                at &+= 1
            }
        case .integer, .leaf:
            while at < end {
                if !Self.leaf(plan, first, Access.element(at, of: node)) { return false }
                at &+= 1
            }
        case .array, .selectBranch, .run:
            while at < end {
                if !run(program, Access.element(at, of: node)) { return false }
                at &+= 1
            }
        }
        return true
    }

    @inline(never) private mutating func contains(_ table: UnsafePointer<ArrayTable>, _ node: Node) -> Bool {
        let rows = plan.row(table.pointee.contains, as: ContainsRow.self)
        for row in 0..<Int(table.pointee.containsCount) where !contains(rows[row], node, marks: nil) { return false }
        return true
    }

    /// Returns true if the array passes `contains`. If `marks` is not nil, every element is checked, because every
    /// matching element must be marked.
    mutating func contains(_ row: ContainsRow, _ node: Node, marks: UnsafeMutablePointer<Marks>?) -> Bool {
        let count = Access.count(ofArray: node)
        guard spend(count) else { return false }
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

    @inline(never) private mutating func isUnique(_ node: Node) -> Bool {
        switch Access.uniqueness(ofArray: node, scratch: &scratch.pointee) {
        case .unique: return true
        case .repeated: return false
        case .exhausted:
            exhausted = exhausted ?? .memory
            return false
        }
    }
}
