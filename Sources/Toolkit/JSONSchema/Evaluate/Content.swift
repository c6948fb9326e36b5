import JSON

/// Checks `contentEncoding` base64 and `contentMediaType` JSON, if these assertions are enabled.
enum Content {
    /// Returns true if the text is valid base64, valid JSON, or both, as required.
    ///
    /// - Parameter requirement: 1 for base64, 2 for JSON, 3 for JSON in base64.
    static func accepts(_ text: UnsafeBufferPointer<UInt8>, _ requirement: UInt32) -> Bool {
        guard requirement & 1 != 0 else { return isJSON(Array(text)) }
        guard let bytes = base64Decoded(text) else { return false }
        return requirement & 2 == 0 || isJSON(bytes)
    }

    private static func isJSON(_ bytes: [UInt8]) -> Bool {
        // The result is only used to find out if the text can be parsed.
        (try? JSONDocument(bytes, numbers: .lenient, duplicates: .lastWins)) != nil
    }

    /// Decodes base64 with padding (RFC 4648 section 4). Returns nil for an invalid text.
    private static func base64Decoded(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        let padding = text.suffix(2).count { $0 == UInt8(ascii: "=") }
        var decoded: [UInt8] = []
        var word: UInt32 = 0
        for (position, byte) in text.dropLast(padding).enumerated() {
            guard let digit = digit(byte) else { return nil }
            word = word << 6 | digit
            if position & 3 == 3 { decoded += [UInt8(word >> 16 & 255), UInt8(word >> 8 & 255), UInt8(word & 255)] }
        }
        switch padding {
        case 1: decoded += [UInt8(word >> 10 & 255), UInt8(word >> 2 & 255)]
        case 2: decoded.append(UInt8(word >> 4 & 255))
        default: break
        }
        return decoded
    }

    private static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}

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

    /// Returns true when a value of this kind can pass the branch.
    @inline(__always) static func isPossible(_ branch: Branch, _ node: Node) -> Bool {
        node.kind == .real ? !branch.kinds.isDisjoint(with: .real) : branch.kinds.contains(node.kind.set)
    }

    /// Returns true if the value passes the branch that the string of the switch's member selects. False if no branch
    /// has this string.
    @inline(never) mutating func select(_ now: Instruction, _ node: Node) -> Bool {
        let table = plan.row(now.a, as: SwitchTable.self)
        guard node.kind == .object else { return check(table.pointee.otherwise, node) }
        guard let value = member(table.pointee.member, of: node), value.kind == .string,
            let slot = Self.find(plan, Self.values(of: table), value)
        else { return false }
        if slot.pointee.way == .object { return nested(object: slot.pointee.program, node) }
        return check(slot.pointee.program, node)
    }

    /// Returns the table of a switch's strings, which is the first field of the switch.
    @inline(__always) private static func values(of table: UnsafePointer<SwitchTable>) -> UnsafePointer<TextTable> {
        UnsafeRawPointer(table).assumingMemoryBound(to: TextTable.self)
    }
}

extension Evaluator {
    /// Runs a program on the name of a member (`propertyNames`), which is a string without a node. An instruction that
    /// checks another kind of value rejects the name if the instruction is typed, and accepts it otherwise.
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

    // An empty name also has an address, because it is in the parser's memory.
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
