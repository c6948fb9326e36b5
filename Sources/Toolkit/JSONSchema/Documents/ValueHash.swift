/// The secret key of the hashes. Do not store hashes, because each process uses a different key.
struct HashSeed: Sendable {
    let start: UInt64
    let multiplier: UInt64

    init(start: UInt64, multiplier: UInt64) {
        self.start = start
        // The multiplier is odd, so that the multiplication loses no bits.
        self.multiplier = multiplier | 1
    }

    /// The random seed that this process uses for all values. No visible result depends on the seed.
    static let random = HashSeed(start: .random(in: .min ... .max), multiplier: .random(in: .min ... .max))

    @inline(__always) func mix(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word).multipliedFullWidth(by: multiplier)
        return product.high ^ product.low
    }
}

extension NodeAccess {
    /// Returns the hash of a value. Equal values (`areEqual`) have equal hashes: numbers are hashed by their value, and
    /// objects regardless of the order of their members.
    static func hash(_ node: Node, seed: HashSeed) -> UInt64 {
        let kind = node.kind
        // The hash includes the kind, so that `[]`, `{}` and `""`, or `1` and `"1"`, have different hashes.
        let state = seed.mix(seed.start, UInt64(kind.rawValue))
        switch kind {
        case .integer: return hash(integer(node), seed: seed)
        case .real:
            let real = real(node)
            if let whole = Int64(exactly: real) { return hash(whole, seed: seed) }
            return seed.mix(state, real.bitPattern)
        case .string: return hash(text(ofString: node), from: state, seed: seed)
        case .array:
            return (0..<count(ofArray: node)).reduce(state) { state, index in
                seed.mix(state, hash(element(index, of: node), seed: seed))
            }
        case .object: return seed.mix(state, sumOfMembers(node, from: state, seed: seed))
        case .true, .false, .null: return state
        }
    }

    private static func hash(_ integer: Int64, seed: HashSeed) -> UInt64 {
        let state = seed.mix(seed.start, UInt64(NodeKind.integer.rawValue))
        return seed.mix(state, UInt64(bitPattern: integer))
    }

    /// Returns the sum of the hashes of all members, which does not depend on their order.
    private static func sumOfMembers(_ object: Node, from state: UInt64, seed: HashSeed) -> UInt64 {
        var sum: UInt64 = 0
        var position = firstEntry(in: object)
        while let entry = position {
            let name = hash(nameBytes(of: entry), from: state, seed: seed)
            sum &+= seed.mix(name, hash(value(of: entry), seed: seed))
            position = self.entry(after: entry, in: object)
        }
        return sum
    }

    private static func hash(_ text: UnsafeBufferPointer<UInt8>, from state: UInt64, seed: HashSeed) -> UInt64 {
        var state = seed.mix(state, UInt64(text.count))
        let bytes = UnsafeRawBufferPointer(text)
        var offset = 0
        while offset + 8 <= bytes.count {
            state = seed.mix(state, bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        guard offset < bytes.count else { return state }
        var last: UInt64 = 0
        while offset < bytes.count {
            last = last << 8 | UInt64(bytes[offset])
            offset += 1
        }
        return seed.mix(state, last)
    }
}
