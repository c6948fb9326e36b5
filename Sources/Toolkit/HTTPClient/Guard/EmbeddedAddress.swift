import Text

extension IPAddress {
    /// The IPv4 address that is embedded in an IPv6 address, to which a translator or tunnel connects; `nil` when there
    /// is none.
    var embedded: IPAddress? {
        guard case .v6(let high, let low) = self else { return nil }
        if high == 0x0064_ff9b_0000_0000, low >> 32 == 0 { return .v4(UInt32(truncatingIfNeeded: low)) }  // RFC 6052
        if high >> 48 == 0x2002 { return .v4(UInt32(truncatingIfNeeded: high >> 16)) }  // RFC 3056
        if high >> 32 == 0x2001_0000 { return .v4(~UInt32(truncatingIfNeeded: low)) }  // RFC 4380
        return nil
    }
}
