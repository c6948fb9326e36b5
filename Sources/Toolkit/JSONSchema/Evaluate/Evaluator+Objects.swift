extension Evaluator {
    /// Returns true if an object passes the checks of the table. Visits the members once: finds each member in the
    /// table by its name, runs its program, and sets its bit if the member is required.
    mutating func members(_ table: UnsafePointer<ObjectTable>, _ node: Node) -> Bool {
        let size = Access.size(ofObject: node)
        guard size >= Int(table.pointee.minimum), size <= Int(table.pointee.maximum), spend(members: size) else {
            return false
        }
        let isOpen = table.pointee.isOpen
        let declared = Int(table.pointee.declared)
        if isOpen, size > 8 + 4 * declared { return lookups(table, node) }
        let plan = plan
        var left = isOpen ? declared : .max
        if left == 0 { return true }
        var seen: UInt64 = 0
        var next = Access.firstEntry(in: node)
        while let entry = next {
            let name = Access.name(of: entry)
            let length = Access.nameLength(of: entry)
            let words = Access.words(ofName: name, length: length)
            if let slot = Self.find(plan, Self.texts(of: table), words, name, length) {
                seen |= slot.pointee.required
                let value = Access.value(of: entry)
                // The common checks are inlined, because a call would take longer than the check.
                switch slot.pointee.way {
                case .pass: break
                case .kinds: if slot.pointee.kinds &>> value.kind.rawValue & 1 == 0 { return false }
                case .string: if !Self.isString(plan.code(slot.pointee.program).pointee, value) { return false }
                case .integer: if !Self.isInteger(plan, plan.code(slot.pointee.program).pointee, value) { return false }
                case .object: if !nested(object: slot.pointee.program, value) { return false }
                case .array: if !nested(array: slot.pointee.program, value) { return false }
                case .selectBranch: if !nested(switch: slot.pointee.program, value) { return false }
                case .leaf: if !Self.leaf(plan, plan.code(slot.pointee.program), value) { return false }
                case .run: if !run(slot.pointee.program, value) { return false }
                }
                left &-= 1
                if left == 0 { break }
            } else if !isOpen, !other(table, entry) {
                return false
            }
            next = Access.entry(after: entry, in: node)
        }
        if table.pointee.names != Programs.pass, !namesPass(table.pointee.names, node) { return false }
        return seen & table.pointee.required == table.pointee.required
    }

    /// Runs a program that consists of one object table. Returns true if the value is an object and passes.
    @inline(__always) mutating func nested(object program: UInt32, _ node: Node) -> Bool {
        guard node.kind == .object, enter() else { return false }
        return leave(members(plan.row(plan.code(program).pointee.a), node))
    }

    /// Runs a program that consists of one array table. Returns true if the value is an array and passes.
    @inline(__always) mutating func nested(array program: UInt32, _ node: Node) -> Bool {
        guard node.kind == .array, enter() else { return false }
        return leave(elements(plan.row(plan.code(program).pointee.a), node))
    }

    /// Runs a program that consists of one switch. Returns true if the value passes.
    @inline(__always) private mutating func nested(switch program: UInt32, _ node: Node) -> Bool {
        guard enter() else { return false }
        return leave(select(plan.code(program).pointee, node))
    }

    /// Returns the names of an object table, which are its first field.
    @inline(__always) static func texts(of table: UnsafePointer<ObjectTable>) -> UnsafePointer<TextTable> {
        UnsafeRawPointer(table).assumingMemoryBound(to: TextTable.self)
    }

    @inline(__always) mutating func spend(members size: Int) -> Bool {
        if size > membersPerObject {
            exhausted = exhausted ?? .members
            return false
        }
        return spend(size)
    }

    /// Returns true if a member passes whose name is not in the table. Its value must pass the programs of all patterns
    /// that match the name. The value must also pass the program for other members, unless `covers` is true for one of
    /// these patterns.
    @inline(never) private mutating func other(_ table: UnsafePointer<ObjectTable>, _ entry: Entry) -> Bool {
        let value = Access.value(of: entry)
        if table.pointee.patternCount == 0 { return check(table.pointee.additional, value) }
        var isCovered = false
        let count = Int(table.pointee.patternCount)
        guard spend(count) else { return false }
        let rows = plan.row(table.pointee.patterns, as: PatternRow.self)
        for row in 0..<count where matches(rows[row].pattern, Access.nameBytes(of: entry)) {
            isCovered = isCovered || rows[row].covers
            if !check(rows[row].program, value) { return false }
        }
        return isCovered || check(table.pointee.additional, value)
    }

    /// Returns true if an object passes. Looks up each name of the table in the object. Used when the schema allows
    /// other members and the object has many more members than the table.
    @inline(never) private mutating func lookups(_ table: UnsafePointer<ObjectTable>, _ node: Node) -> Bool {
        let slots = plan.row(table.pointee.members.first, as: Slot.self)
        for position in 0...Int(table.pointee.members.mask) {
            let name = slots[position].name
            guard name.length != .max else { continue }
            if let found = Access.member(of: node, named: plan.row(name.offset), length: Int(name.length)) {
                if !check(slots[position].program, found) { return false }
            } else if slots[position].required != 0 {
                return false
            }
        }
        return true
    }

    @inline(never) private mutating func namesPass(_ program: UInt32, _ node: Node) -> Bool {
        var next = Access.firstEntry(in: node)
        while let entry = next {
            if !runName(program, Access.nameBytes(of: entry)) { return false }
            next = Access.entry(after: entry, in: node)
        }
        return true
    }
}
