import Glibc

/// Checks of a single value (leaves). They need only the plan and can be inlined in loops.
extension Evaluator {
    @inline(__always) static func leaf(_ plan: PlanBase, _ at: UnsafePointer<Instruction>, _ node: Node) -> Bool {
        let now = at.pointee
        switch now.operation {
        case .pass: return true
        case .kinds: return isOf(now, node)
        case .string: return isString(now, node)
        case .integer: return isInteger(plan, now, node)
        case .number: return isNumber(plan, now, node)
        case .equalsString: return node.kind == .string && equals(plan, plan.row(now.a), node)
        case .inStrings: return node.kind == .string && find(plan, plan.row(now.a), node) != nil
        default: return false
        }
    }

    @inline(__always) static func isOf(_ now: Instruction, _ node: Node) -> Bool {
        let kind = node.kind
        if now.b &>> UInt32(kind.rawValue) & 1 != 0 { return true }
        return now.c != 0 && kind == .real && !now.kinds.isDisjoint(with: KindSet(real: Access.real(node)))
    }

    /// Returns true if the length of a string is allowed. Usually the number of bytes is sufficient for the check: the
    /// number of code points is at most the number of bytes, and at least a quarter of it.
    @inline(__always) static func isString(_ now: Instruction, _ node: Node) -> Bool {
        guard node.kind == .string else { return !now.isTyped }
        let bytes = Access.length(ofString: node)
        let (least, most) = (Int(now.a), Int(now.b))
        let fourth = (bytes &+ 3) >> 2
        if bytes <= most, fourth >= least { return true }
        if bytes < least || fourth > most { return false }
        return hasLength(now, node)
    }

    @inline(never) private static func hasLength(_ now: Instruction, _ node: Node) -> Bool {
        let count = CodePoints.count(Access.text(ofString: node))
        return Int(now.a) <= count && count <= Int(now.b)
    }

    @inline(__always) static func isInteger(_ plan: PlanBase, _ now: Instruction, _ node: Node) -> Bool {
        let range = plan.row(now.a, as: NumberRange.self)
        let kind = node.kind
        if kind == .integer { return range.pointee.contains(Access.integer(node)) }
        guard kind == .real else { return false }
        let real = Access.real(node)
        return real == real.rounded(.down) && range.pointee.contains(real)
    }

    @inline(__always) static func isNumber(_ plan: PlanBase, _ now: Instruction, _ node: Node) -> Bool {
        let range = plan.row(now.a, as: NumberRange.self)
        let kind = node.kind
        if kind == .integer { return range.pointee.contains(Access.integer(node)) }
        if kind == .real { return range.pointee.contains(Access.real(node)) }
        return !now.isTyped
    }

    // MARK: - Texts

    @inline(__always) static func equals(_ plan: PlanBase, _ text: UnsafePointer<PlanText>, _ node: Node) -> Bool {
        let length = Access.length(ofString: node)
        guard length == Int(text.pointee.length) else { return false }
        let bytes = Access.bytes(ofString: node)
        return NameWords(bytes, length) == text.pointee.words && (length <= 16 || hasBytes(plan, text, bytes))
    }

    /// Returns true when all bytes of a text are equal to `bytes`. Used for texts of more than 16 bytes, whose lengths
    /// and whose first and last eight bytes are already known to be equal.
    @inline(never) static func hasBytes(
        _ plan: PlanBase, _ text: UnsafePointer<PlanText>, _ bytes: UnsafePointer<UInt8>
    ) -> Bool {
        memcmp(plan.row(text.pointee.offset, as: UInt8.self), bytes, Int(text.pointee.length)) == 0
    }

    @inline(__always) static func find(
        _ plan: PlanBase, _ table: UnsafePointer<TextTable>, _ node: Node
    ) -> UnsafePointer<Slot>? {
        let length = Access.length(ofString: node)
        let bytes = Access.bytes(ofString: node)
        return find(plan, table, NameWords(bytes, length), bytes, length)
    }

    /// Returns the slot of a text in a table; nil when there is none. The search ends, because at most half of the
    /// slots are used.
    @inline(__always) static func find(
        _ plan: PlanBase, _ table: UnsafePointer<TextTable>, _ words: NameWords, _ bytes: UnsafePointer<UInt8>,
        _ length: Int
    ) -> UnsafePointer<Slot>? {
        let slots = plan.row(table.pointee.first, as: Slot.self)
        var at = table.pointee.home(words, length)
        while true {
            let slot = slots + at
            if Int(slot.pointee.name.length) == length, slot.pointee.name.words == words {
                if length <= 16 || hasBytes(plan, UnsafeRawPointer(slot).assumingMemoryBound(to: PlanText.self), bytes)
                {
                    return slot
                }
            } else if slot.pointee.name.length == .max {
                return nil
            }
            at = (at &+ 1) & Int(table.pointee.mask)
        }
    }
}
