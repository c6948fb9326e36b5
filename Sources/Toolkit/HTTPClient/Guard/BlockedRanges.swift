public import Text

/// The address ranges to which the client must not connect for untrusted URLs.
///
/// The ranges are an explicit table. Common implementations of a test for "global" addresses allow 64:ff9b::a9fe:a9fe
/// and 2002:a9fe:a9fe:: (both lead to 169.254.169.254), 224.0.0.1 and 192.88.99.1. Source: the IANA special-purpose
/// address registries (RFC 6890) and the RFCs named below.
enum BlockedRanges {
    private static let v4: [AddressBlock] = [
        v4(0, 0, 0, 0, 8),  // this network
        v4(10, 0, 0, 0, 8),  // private (RFC 1918)
        v4(100, 64, 0, 0, 10),  // carrier-grade NAT (RFC 6598)
        v4(127, 0, 0, 0, 8),  // loopback
        v4(169, 254, 0, 0, 16),  // link-local, cloud metadata (RFC 3927)
        v4(172, 16, 0, 0, 12),  // private
        v4(192, 0, 0, 0, 24),  // protocol assignments
        v4(192, 0, 2, 0, 24),  // documentation (RFC 5737)
        v4(192, 88, 99, 0, 24),  // 6to4 relays (RFC 7526)
        v4(192, 168, 0, 0, 16),  // private
        v4(198, 18, 0, 0, 15),  // benchmarks (RFC 2544)
        v4(198, 51, 100, 0, 24),  // documentation
        v4(203, 0, 113, 0, 24),  // documentation
        v4(224, 0, 0, 0, 4),  // multicast
        v4(240, 0, 0, 0, 4),  // reserved, and the broadcast address
    ]

    private static let v6: [AddressBlock] = [
        v6(0, 0, 96),  // unspecified, loopback, IPv4-compatible
        v6(0, 0x0000_ffff_0000_0000, 96),  // IPv4-mapped
        v6(0, 0xffff_0000_0000_0000, 96),  // IPv4-translated (RFC 7915)
        v6(0x0064_ff9b_0000_0000, 0, 96),  // NAT64 (RFC 6052)
        v6(0x0064_ff9b_0001_0000, 0, 48),  // NAT64, local use (RFC 8215)
        v6(0x0100_0000_0000_0000, 0, 64),  // discard (RFC 6666)
        v6(0x2001_0000_0000_0000, 0, 32),  // Teredo (RFC 4380)
        v6(0x2001_0db8_0000_0000, 0, 32),  // documentation
        v6(0x2002_0000_0000_0000, 0, 16),  // 6to4 (RFC 3056)
        v6(0x3fff_0000_0000_0000, 0, 20),  // documentation (RFC 9637)
        v6(0x5f00_0000_0000_0000, 0, 16),  // segment routing (RFC 9602)
        v6(0xfc00_0000_0000_0000, 0, 7),  // unique local (RFC 4193)
        v6(0xfe80_0000_0000_0000, 0, 10),  // link-local
        v6(0xfec0_0000_0000_0000, 0, 10),  // site-local, deprecated but still routed in places (RFC 3879)
        v6(0xff00_0000_0000_0000, 0, 8),  // multicast
    ]

    /// Returns true if the address itself is in a blocked range. Does not consider an embedded IPv4 address.
    static func contain(_ address: IPAddress) -> Bool {
        switch address {
        case .v4: v4.contains { $0.contains(address) }
        case .v6: v6.contains { $0.contains(address) }
        }
    }

    private static func v4(_ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: UInt32, _ bits: Int) -> AddressBlock {
        AddressBlock(.v4(a << 24 | b << 16 | c << 8 | d), bits)
    }

    private static func v6(_ high: UInt64, _ low: UInt64, _ bits: Int) -> AddressBlock {
        AddressBlock(.v6(high, low), bits)
    }
}

/// A range of addresses in CIDR notation (RFC 4632, RFC 4291), such as `10.0.0.0/8` or `fd00::/8`.
public struct AddressBlock: Sendable, Hashable {
    private let first: IPAddress
    private let prefixLength: Int

    /// Parses `address/bits`. An address without `/bits` is a block of one address. Returns `nil` for any other text,
    /// and when bits after the prefix are set, because that is usually a mistake.
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

    /// Creates a block for the tables in this module. The prefix length is not checked here; tests check the tables.
    init(_ first: IPAddress, _ prefixLength: Int) {
        self.first = Self.clear(first, beyond: prefixLength)
        self.prefixLength = prefixLength
    }

    /// Returns true if the address is in the block. An IPv4 address is never in an IPv6 block, and vice versa.
    public func contains(_ address: IPAddress) -> Bool {
        Self.clear(address, beyond: prefixLength) == first
    }

    private static func clear(_ address: IPAddress, beyond bits: Int) -> IPAddress {
        // Swift's smart shift returns zero when all bits are shifted out, which is the correct mask for a /0 block.
        switch address {
        case .v4(let value): .v4(value & (UInt32.max << (32 - min(bits, 32))))
        case .v6(let high, let low):
            .v6(high & (UInt64.max << max(64 - bits, 0)), low & (UInt64.max << min(128 - bits, 64)))
        }
    }
}

extension AddressBlock: CustomStringConvertible {
    /// The block in CIDR notation.
    public var description: String { "\(first)/\(prefixLength)" }
}
