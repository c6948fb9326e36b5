/// A range of addresses in CIDR notation (RFC 4632, RFC 4291), such as `10.0.0.0/8` or `fd00::/8`.
public struct AddressBlock: Sendable, Hashable {
    private let first: IPAddress
    private let prefixLength: Int

    /// Parses `address/bits`; an address alone is a block of one. Bits set beyond the prefix are an error (`nil`), because
    /// they are far more often a slip than meant.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(String(parts[0])) else { return nil }
        let width = if case .v4 = address { 32 } else { 128 }
        var bits = width
        if parts.count == 2 {
            let digits = parts[1]
            guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ (48...57).contains($0) }),
                let value = Int(digits), value <= width
            else { return nil }
            bits = value
        }
        guard Self.clear(address, beyond: bits) == address else { return nil }
        first = address
        prefixLength = bits
    }

    /// For tables in code, checked by the tests of the table.
    init(_ first: IPAddress, _ prefixLength: Int) {
        self.first = Self.clear(first, beyond: prefixLength)
        self.prefixLength = prefixLength
    }

    /// Whether the address lies in the block. An IPv4 address never lies in an IPv6 block, nor the other way around.
    public func contains(_ address: IPAddress) -> Bool {
        Self.clear(address, beyond: prefixLength) == first
    }

    private static func clear(_ address: IPAddress, beyond bits: Int) -> IPAddress {
        // Swift's smart shift gives zero when all bits are shifted out, which is what a /0 needs.
        switch address {
        case .v4(let value): .v4(value & (UInt32.max << (32 - min(bits, 32))))
        case .v6(let high, let low):
            .v6(high & (UInt64.max << max(64 - bits, 0)), low & (UInt64.max << min(128 - bits, 64)))
        }
    }
}

extension AddressBlock: CustomStringConvertible {
    public var description: String { "\(first)/\(prefixLength)" }
}
