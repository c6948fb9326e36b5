extension Evaluator {
    @inline(__always) mutating func object(_ now: Instruction, _ node: Node) -> Bool {
        guard node.kind == .object else { return !now.isTyped }
        return members(plan.objects + Int(now.a), node)
    }

    /// One walk over the members: each is found in the table by its name, its program run, its bit set.
    private mutating func members(_ table: UnsafePointer<ObjectTable>, _ node: Node) -> Bool {
        let size = Access.size(ofObject: node)
        guard size >= Int(table.pointee.minimum), size <= Int(table.pointee.maximum) else { return false }
        guard spend(members: size) else { return false }
        let isOpen = table.pointee.isOpen
        let declared = Int(table.pointee.declared)
        if isOpen, size > 8 + 4 * declared { return lookups(table, node) }
        var left = isOpen ? declared : .max
        if left == 0 { return true }
        var seen: UInt64 = 0
        var next = Access.firstEntry(in: node)
        while let entry = next {
            let name = Access.name(of: entry)
            let length = Access.nameLength(of: entry)
            let words = Access.words(ofName: name, length: length)
            if let slot = find(table.pointee.members, words, name, length) {
                seen |= slot.pointee.required
                let program = slot.pointee.program
                if program != Programs.pass, !check(program, Access.value(of: entry)) { return false }
                left -= 1
                if left == 0 { break }
            } else if !isOpen, !other(table, entry) {
                return false
            }
            next = Access.entry(after: entry, in: node)
        }
        if table.pointee.names != Programs.pass, !namesPass(table.pointee.names, node) { return false }
        return seen & table.pointee.required == table.pointee.required
    }

    @inline(__always) mutating func spend(members size: Int) -> Bool {
        steps -= size
        if steps < 0 {
            exhausted = exhausted ?? .steps
            return false
        }
        if size > membersPerObject {
            exhausted = exhausted ?? .members
            return false
        }
        return true
    }

    /// A member that the table does not know by name: its patterns, then what there is for the others.
    @inline(never) private mutating func other(_ table: UnsafePointer<ObjectTable>, _ entry: Entry) -> Bool {
        let value = Access.value(of: entry)
        var isCovered = false
        if table.pointee.patternCount > 0 {
            let first = Int(table.pointee.patterns)
            steps -= Int(table.pointee.patternCount)
            for row in first..<first + Int(table.pointee.patternCount) {
                let rule = plan.patternRows[row]
                guard matches(Int(rule.pattern), Access.nameBytes(of: entry)) else { continue }
                isCovered = isCovered || rule.covers
                if rule.program != Programs.pass, !check(rule.program, value) { return false }
            }
        }
        return isCovered || table.pointee.additional == Programs.pass || check(table.pointee.additional, value)
    }

    /// For an open object that holds far more members than the schema knows: the table's own names are looked up.
    @inline(never) private mutating func lookups(_ table: UnsafePointer<ObjectTable>, _ node: Node) -> Bool {
        let first = plan.slots + Int(table.pointee.members.first)
        for position in 0...Int(table.pointee.members.mask) {
            let slot = first + position
            let name = slot.pointee.name
            guard name.length != .max else { continue }
            let found = Access.member(of: node, named: plan.bytes + Int(name.offset), length: Int(name.length))
            guard let found else {
                if slot.pointee.required != 0 { return false }
                continue
            }
            if !check(slot.pointee.program, found) { return false }
        }
        return true
    }

    private mutating func namesPass(_ program: UInt32, _ node: Node) -> Bool {
        var next = Access.firstEntry(in: node)
        while let entry = next {
            if !runName(program, Access.nameBytes(of: entry)) { return false }
            next = Access.entry(after: entry, in: node)
        }
        return true
    }
}
