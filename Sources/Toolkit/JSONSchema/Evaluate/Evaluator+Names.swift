extension Evaluator {
    /// Runs a program on a member's name (`propertyNames`): a string that is no node. What is not about strings passes, or
    /// fails where it is typed.
    mutating func runName(_ program: UInt32, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard enter() else { return false }
        var at = plan.code(program)
        repeat {
            guard stepName(at.pointee, text) else { return leave(false) }
            at += 1
        } while !at[-1].isLast
        return leave(true)
    }

    private mutating func stepName(_ now: Instruction, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        switch now.operation {
        case .pass: return true
        case .fail: return false
        case .kinds: return now.kinds.contains(.string)
        case .string:
            let count = CodePoints.count(text)
            return Int(now.a) <= count && count <= Int(now.b)
        case .integer: return false
        case .number, .object, .array, .markObject, .markArray: return !now.isTyped
        case .equalsString: return equals(plan.row(now.a), text)
        case .inStrings: return isIn(plan.row(now.a), text)
        case .pattern: return matches(now.a, text)
        case .format: return isFormat(now.a, text)
        case .content: return Content.accepts(text, now.a)
        case .inValues: return isListedName(now, text)
        case .multipleOf, .required, .dependentRequired, .dependentSchema, .unevaluatedMembers, .unevaluatedElements:
            return true
        case .call, .region: return runName(now.a, text)
        case .anyOf, .markAnyOf: return countBranches(now, text) > 0
        case .oneOf, .markOneOf: return countBranches(now, text) == 1
        case .selectBranch: return runName(plan.row(now.a, as: SwitchTable.self).pointee.otherwise, text)
        case .not: return !runName(now.a, text)
        case .conditional, .markConditional: return runName(runName(now.a, text) ? now.b : now.c, text)
        }
    }

    private mutating func countBranches(_ now: Instruction, _ text: UnsafeBufferPointer<UInt8>) -> Int {
        let branches = plan.row(now.a, as: Branch.self)
        var count = 0
        for position in 0..<Int(now.b) where runName(branches[position].program, text) { count += 1 }
        return count
    }

    // A name has an address even when it is empty: it is the parser's own.
    private func equals(_ wanted: UnsafePointer<PlanText>, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count == Int(wanted.pointee.length), let bytes = text.baseAddress else { return false }
        return NameWords(bytes, text.count) == wanted.pointee.words
            && (text.count <= 16 || Self.hasBytes(plan, wanted, bytes))
    }

    private func isIn(_ table: UnsafePointer<TextTable>, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let bytes = text.baseAddress else { return false }
        return Self.find(plan, table, NameWords(bytes, text.count), bytes, text.count) != nil
    }

    private func isListedName(_ now: Instruction, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let values = plan.row(now.a, as: Node.self)
        for position in 0..<Int(now.b) {
            let value = values[position]
            if value.kind == .string, Access.text(ofString: value).elementsEqual(text) { return true }
        }
        return false
    }
}
