/// The result of `uniqueItems`.
enum Uniqueness: Equatable {
    case unique
    /// The index of the first element that equals an earlier element, and the index of the earlier element.
    case repeated(Int, of: Int)
    /// The scratch memory was not sufficient.
    case exhausted
}

extension NodeAccess {
    /// Checks if all elements of an array are different, in linear time. Releases the scratch memory that it uses.
    static func uniqueness(ofArray array: Node, scratch: inout Scratch) -> Uniqueness {
        let count = count(ofArray: array)
        if count <= comparedPairwise { return pairwiseUniqueness(array, count) }
        let mark = scratch.mark
        defer { scratch.release(to: mark) }
        return hashedUniqueness(array, count, scratch: &scratch)
    }

    /// The maximum number of elements for which all pairs are compared, because that costs less than a table.
    private static var comparedPairwise: Int { 8 }

    private static func pairwiseUniqueness(_ array: Node, _ count: Int) -> Uniqueness {
        for index in 0..<count {
            for earlier in 0..<index where areEqual(element(index, of: array), element(earlier, of: array)) {
                return .repeated(index, of: earlier)
            }
        }
        return .unique
    }

    /// Checks an array with a hash table with open addressing that is at most half full. A slot contains the upper half
    /// of an element's hash and the element's number, starting at one. Elements are compared only if 32 bits of their
    /// keyed hashes are equal. Senders do not know the key, so they cannot cause equal hashes on purpose.
    private static func hashedUniqueness(_ array: Node, _ count: Int, scratch: inout Scratch) -> Uniqueness {
        guard count <= Int(UInt32.max) / 4 else { return .exhausted }
        let capacity = 2 << (Int.bitWidth - (count - 1).leadingZeroBitCount)
        guard let slots = scratch.allocate(capacity, of: UInt64.self) else { return .exhausted }
        slots.initialize(repeating: 0, count: capacity)
        for index in 0..<count {
            let item = element(index, of: array)
            let hash = hash(item, seed: scratch.seed)
            let tag = hash & ~0xFFFF_FFFF
            var slot = Int(truncatingIfNeeded: hash) & (capacity - 1)
            while slots[slot] != 0 {
                let earlier = Int(slots[slot] & 0xFFFF_FFFF) - 1
                if slots[slot] & ~0xFFFF_FFFF == tag, areEqual(item, element(earlier, of: array)) {
                    return .repeated(index, of: earlier)
                }
                slot = (slot + 1) & (capacity - 1)
            }
            slots[slot] = tag | UInt64(index + 1)
        }
        return .unique
    }
}
