import Signing

/// Ids of streams: the number of each, moved to another place by a key of this process. A bare number would tell an app how many
/// streams others open.
///
/// A Feistel network of four rounds (Luby and Rackoff, 1988), so that every number has an id of its own and is read from it without
/// a table: two streams never share an id, and a page of the list may begin at a stream that is gone.
struct StreamIDs: Sendable {
    /// Part of every id, so that an id of before a restart is nobody's.
    private let prefix = SystemRandomSource().token(prefix: "str_", bytes: 6)
    private let key = SystemRandomSource().bytes(24)

    func id(of number: UInt64) -> String {
        var halves = (left: UInt32(truncatingIfNeeded: number >> 32), right: UInt32(truncatingIfNeeded: number))
        for round in UInt8(0)..<4 { halves = (halves.right, halves.left ^ mask(halves.right, round)) }
        return prefix + String(UInt64(halves.left) << 32 | UInt64(halves.right), radix: 36)
    }

    /// Nil for what is no id of this process.
    func number(of id: String) -> UInt64? {
        guard id.hasPrefix(prefix), let place = UInt64(id.dropFirst(prefix.count), radix: 36) else { return nil }
        var halves = (left: UInt32(truncatingIfNeeded: place >> 32), right: UInt32(truncatingIfNeeded: place))
        for round in (UInt8(0)..<4).reversed() { halves = (halves.right ^ mask(halves.left, round), halves.left) }
        return UInt64(halves.left) << 32 | UInt64(halves.right)
    }

    /// One block of SHA-256 over key, round and half.
    private func mask(_ half: UInt32, _ round: UInt8) -> UInt32 {
        let bytes = key + [round] + (0..<4).map { UInt8(truncatingIfNeeded: half >> ($0 * 8)) }
        return sha256(bytes).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
}
