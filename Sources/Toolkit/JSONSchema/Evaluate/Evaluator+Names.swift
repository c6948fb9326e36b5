extension Evaluator {
    /// Runs a program on a member's name (`propertyNames`): a string that is no node. What is not about strings passes, or
    /// fails where it is typed.
    mutating func runName(_ start: UInt32, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        steps -= 1
        depth -= 1
        defer { depth += 1 }
        guard steps >= 0, depth >= 0 else {
            exhausted = exhausted ?? (steps < 0 ? .steps : .depth)
            return false
        }
        var at = plan.code + Int(start)
        while true {
            guard stepName(at.pointee, text) else { return false }
            if at.pointee.isLast { return true }
            at += 1
        }
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
        case .equalsString: return equals(plan.texts[Int(now.a)], text)
        case .inStrings: return find(plan.sets[Int(now.a)], text) != nil
        case .pattern: return matches(Int(now.a), text)
        case .format: return isFormat(now.a, text)
        case .content: return Content.accepts(text, now.a)
        case .inValues: return isListedName(now, text)
        case .multipleOf, .required, .dependentRequired, .dependentSchema, .unevaluatedMembers, .unevaluatedElements:
            return true
        case .call, .region: return runName(now.a, text)
        case .anyOf, .markAnyOf: return countBranches(now, text) > 0
        case .oneOf, .markOneOf: return countBranches(now, text) == 1
        case .selectBranch: return runName(plan.switches[Int(now.a)].otherwise, text)
        case .not: return !runName(now.a, text)
        case .conditional, .markConditional: return runName(runName(now.a, text) ? now.b : now.c, text)
        }
    }

    private mutating func countBranches(_ now: Instruction, _ text: UnsafeBufferPointer<UInt8>) -> Int {
        var count = 0
        for position in Int(now.a)..<Int(now.a + now.b) where runName(plan.branches[position].program, text) {
            count += 1
        }
        return count
    }

    // A name has an address even when it is empty: it is the parser's own.
    private func equals(_ wanted: PlanText, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count == Int(wanted.length), let bytes = text.baseAddress else { return false }
        return NameWords(bytes, text.count) == wanted.words && (text.count <= 16 || hasBytes(of: wanted, bytes))
    }

    private func find(_ table: TextTable, _ text: UnsafeBufferPointer<UInt8>) -> UnsafePointer<Slot>? {
        text.baseAddress.flatMap { find(table, NameWords($0, text.count), $0, text.count) }
    }

    private func isListedName(_ now: Instruction, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        for position in Int(now.a)..<Int(now.a + now.b) {
            let value = plan.values[position]
            if value.kind == .string, Access.text(ofString: value).elementsEqual(text) { return true }
        }
        return false
    }
}
