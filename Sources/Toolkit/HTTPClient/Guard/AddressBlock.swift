/// A range of addresses in CIDR notation (RFC 4632, RFC 4291), such as `10.0.0.0/8` or `fd00::/8`.
public struct AddressBlock: Sendable, Hashable {
    /// Parses `address/bits`; an address alone is a block of one. Bits set beyond the prefix are an error (`nil`), because
    /// they are far more often a slip than meant.
    public init?(_ text: String) { return nil }

    /// Whether the address lies in the block. An IPv4 address never lies in an IPv6 block.
    public func contains(_ address: IPAddress) -> Bool { false }
}
