/// The marks of one value: the indexes of its evaluated members or elements.
///
/// The first 64 marks are bits of one word. Further marks are in scratch memory, which the owner of the marks
/// allocates.
struct Marks {
    var all = false
    /// All indexes below this value are marked.
    var below = 0
    var bits: UInt64 = 0
    /// The marks for the indexes from 64 on; nil when the value has at most 64 parts.
    var more: UnsafeMutablePointer<UInt64>?
    var moreCount = 0

    @inline(__always) mutating func insert(_ place: Int) {
        if place < 64 {
            bits |= 1 << UInt64(place)
        } else if let more {
            more[place >> 6 - 1] |= 1 << UInt64(place & 63)
        }
    }

    @inline(__always) func contains(_ place: Int) -> Bool {
        if all || place < below { return true }
        if place < 64 { return bits & 1 << UInt64(place) != 0 }
        return more.map { $0[place >> 6 - 1] & 1 << UInt64(place & 63) != 0 } ?? false
    }

    mutating func formUnion(_ other: Marks) {
        all = all || other.all
        below = max(below, other.below)
        bits |= other.bits
        guard let more, let others = other.more else { return }
        for word in 0..<moreCount { more[word] |= others[word] }
    }
}

extension Evaluator {
    /// Runs an instruction that sets or checks marks. Returns true if the value passes.
    @inline(never) mutating func marking(_ now: Instruction, _ node: Node) -> Bool {
        switch now.operation {
        case .region: return region(now, node)
        case .markObject: return markObject(now, node)
        case .markArray: return markArray(now, node)
        case .markAnyOf: return markBranches(now, node) > 0
        case .markOneOf: return markBranches(now, node) == 1
        case .markConditional: return markConditional(now, node)
        case .unevaluatedMembers: return unevaluatedMembers(now, node)
        case .unevaluatedElements: return unevaluatedElements(now, node)
        default: return false
        }
    }

    /// Returns the number of members or elements of a value, which can be marked.
    private func places(of node: Node) -> Int {
        switch node.kind {
        case .object: Access.size(ofObject: node)
        case .array: Access.count(ofArray: node)
        default: 0
        }
    }

    /// Returns empty marks for this number of parts; nil when the scratch memory is exhausted.
    private mutating func makeMarks(_ places: Int) -> Marks? {
        var marks = Marks()
        guard places > 64 else { return marks }
        marks.moreCount = (places - 1) >> 6
        marks.more = scratch.pointee.allocate(marks.moreCount, of: UInt64.self)
        guard let more = marks.more else {
            exhausted = exhausted ?? .memory
            return nil
        }
        more.initialize(repeating: 0, count: marks.moreCount)
        return marks
    }

    private mutating func region(_ now: Instruction, _ node: Node) -> Bool {
        let mark = scratch.pointee.mark
        defer { scratch.pointee.release(to: mark) }
        guard var fresh = makeMarks(places(of: node)) else { return false }
        let outer = marks
        let isPassed = withUnsafeMutablePointer(to: &fresh) { pointer in
            marks = pointer
            return run(now.a, node)
        }
        marks = outer
        if isPassed, now.b == 1 { outer?.pointee.formUnion(fresh) }
        return isPassed
    }

    // MARK: - Setting marks

    private mutating func markObject(_ now: Instruction, _ node: Node) -> Bool {
        guard node.kind == .object else { return !now.isTyped }
        let table = plan.row(now.a, as: ObjectTable.self)
        let size = Access.size(ofObject: node)
        guard size >= Int(table.pointee.minimum), size <= Int(table.pointee.maximum) else { return false }
        guard spend(members: size) else { return false }
        var seen: UInt64 = 0
        var place = 0
        var next = Access.firstEntry(in: node)
        while let entry = next {
            let name = Access.name(of: entry)
            let length = Access.nameLength(of: entry)
            let words = Access.words(ofName: name, length: length)
            if table.pointee.names != Programs.pass, !runName(table.pointee.names, Access.nameBytes(of: entry)) {
                return false
            }
            if let slot = Self.find(plan, Self.texts(of: table), words, name, length) {
                seen |= slot.pointee.required
                if slot.pointee.marks { marks?.pointee.insert(place) }
                if !check(slot.pointee.program, Access.value(of: entry)) { return false }
            } else if !markOther(table, entry, place) {
                return false
            }
            place += 1
            next = Access.entry(after: entry, in: node)
        }
        return seen & table.pointee.required == table.pointee.required
    }

    private mutating func markOther(_ table: UnsafePointer<ObjectTable>, _ entry: Entry, _ place: Int) -> Bool {
        let value = Access.value(of: entry)
        var isCovered = false
        let count = Int(table.pointee.patternCount)
        guard spend(count) else { return false }
        let rows = plan.row(table.pointee.patterns, as: PatternRow.self)
        for row in 0..<count where matches(rows[row].pattern, Access.nameBytes(of: entry)) {
            isCovered = isCovered || rows[row].covers
            marks?.pointee.insert(place)
            if !check(rows[row].program, value) { return false }
        }
        guard table.pointee.hasAdditional, !isCovered else { return true }
        marks?.pointee.insert(place)
        return check(table.pointee.additional, value)
    }

    private mutating func markArray(_ now: Instruction, _ node: Node) -> Bool {
        guard node.kind == .array else { return !now.isTyped }
        let table = plan.row(now.a, as: ArrayTable.self)
        // `contains` is evaluated again below, where every match is marked.
        guard elements(table, node) else { return false }
        if table.pointee.hasRest { marks?.pointee.all = true }
        if let marks { marks.pointee.below = max(marks.pointee.below, Int(table.pointee.prefixCount)) }
        let rows = plan.row(table.pointee.contains, as: ContainsRow.self)
        for row in 0..<Int(table.pointee.containsCount) where rows[row].marks {
            if !contains(rows[row], node, marks: marks) { return false }
        }
        return true
    }

    // MARK: - Branches

    /// Evaluates all branches, because each branch that passes sets marks. Removes the marks of branches that fail.
    /// Returns the number of branches that passed.
    private mutating func markBranches(_ now: Instruction, _ node: Node) -> Int {
        guard spend(Int(now.b)) else { return 0 }
        let branches = plan.row(now.a, as: Branch.self)
        var passed = 0
        for position in 0..<Int(now.b) {
            let branch = branches[position]
            guard Self.isPossible(branch, node) else { continue }
            if attempt(branch.program, node) { passed += 1 }
        }
        return passed
    }

    private mutating func attempt(_ program: UInt32, _ node: Node) -> Bool {
        guard let marks else { return check(program, node) }
        let mark = scratch.pointee.mark
        defer { scratch.pointee.release(to: mark) }
        let before = marks.pointee
        var saved: UnsafeMutablePointer<UInt64>?
        if let more = before.more {
            saved = scratch.pointee.allocate(before.moreCount, of: UInt64.self)
            guard let saved else {
                exhausted = exhausted ?? .memory
                return false
            }
            saved.initialize(from: more, count: before.moreCount)
        }
        if check(program, node) { return true }
        marks.pointee = before
        if let more = before.more, let saved { more.update(from: saved, count: before.moreCount) }
        return false
    }

    private mutating func markConditional(_ now: Instruction, _ node: Node) -> Bool {
        check(attempt(now.a, node) ? now.b : now.c, node)
    }

    // MARK: - Checking marks

    private mutating func unevaluatedMembers(_ now: Instruction, _ node: Node) -> Bool {
        guard node.kind == .object, let marks, !marks.pointee.all else { return true }
        guard spend(Access.size(ofObject: node)) else { return false }
        var place = 0
        var next = Access.firstEntry(in: node)
        while let entry = next {
            if !marks.pointee.contains(place), !check(now.a, Access.value(of: entry)) { return false }
            place += 1
            next = Access.entry(after: entry, in: node)
        }
        marks.pointee.all = true
        return true
    }

    private mutating func unevaluatedElements(_ now: Instruction, _ node: Node) -> Bool {
        guard node.kind == .array, let marks, !marks.pointee.all else { return true }
        guard spend(Access.count(ofArray: node)) else { return false }
        for index in 0..<Access.count(ofArray: node) where !marks.pointee.contains(index) {
            if !check(now.a, Access.element(index, of: node)) { return false }
        }
        marks.pointee.all = true
        return true
    }
}
