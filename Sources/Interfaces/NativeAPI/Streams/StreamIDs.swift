import Signing

/// Encodes the numbers of streams as ids. An id is the number, permuted with a random key of this process, and the number
/// of the node. A plain number would reveal how many streams other apps open.
///
/// The permutation is a Feistel network of four rounds (Luby and Rackoff, 1988). Two streams never have the same id,
/// and an id is decoded without a table. A page of the list can therefore begin after a stream that is closed.
struct StreamIDs: Sendable {
    /// The beginning of every id. It is random, so that an id from before a restart matches no stream.
    private let prefix = SystemRandomSource().token(prefix: "str_", bytes: 6)
    /// The end of every id.
    private let suffix: String
    private let key = UInt64.random(in: .min ... .max)

    init(node: Int64) { suffix = "-" + String(node, radix: 36) }

    func id(of number: UInt64) -> String {
        var halves = (left: UInt32(truncatingIfNeeded: number >> 32), right: UInt32(truncatingIfNeeded: number))
        for round in UInt8(0)..<4 { halves = (halves.right, halves.left ^ mask(halves.right, round)) }
        return prefix + String(UInt64(halves.left) << 32 | UInt64(halves.right), radix: 36) + suffix
    }

    /// The stream number of an id; nil for an id that this process did not create.
    func number(of id: String) -> UInt64? {
        guard id.hasPrefix(prefix), id.hasSuffix(suffix),
            let place = UInt64(id.dropFirst(prefix.count).dropLast(suffix.count), radix: 36)
        else { return nil }
        var halves = (left: UInt32(truncatingIfNeeded: place >> 32), right: UInt32(truncatingIfNeeded: place))
        for round in (UInt8(0)..<4).reversed() { halves = (halves.right ^ mask(halves.left, round), halves.left) }
        return UInt64(halves.left) << 32 | UInt64(halves.right)
    }

    /// The number of the node that created an id; nil for a text that is not an id of a stream.
    static func node(of id: String) -> Int64? {
        guard id.hasPrefix("str_"), let dash = id.lastIndex(of: "-") else { return nil }
        return Int64(id[id.index(after: dash)...], radix: 36)
    }

    /// A keyed hash of the number of the round and one half of the permuted number. `Hasher` computes SipHash with a
    /// random key of the process.
    private func mask(_ half: UInt32, _ round: UInt8) -> UInt32 {
        var hasher = Hasher()
        hasher.combine(key)
        hasher.combine(round)
        hasher.combine(half)
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }
}
