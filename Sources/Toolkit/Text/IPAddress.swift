public import Glibc

/// An IPv4 or IPv6 address.
public enum IPAddress: Sendable, Hashable {
    /// An IPv4 address in host byte order: 127.0.0.1 is `0x7f00_0001`.
    case v4(UInt32)
    /// The first and the last eight bytes of an IPv6 address, in host byte order.
    case v6(UInt64, UInt64)

    /// Parses an address. Accepts only four decimal numbers without leading zeros (IPv4), or a text according to RFC
    /// 4291 without a zone (IPv6). Returns `nil` for any other text.
    ///
    /// `getaddrinfo` is not used, because it accepts `127.1`, `0x7f.1` and `2130706433` as 127.0.0.1.
    public init?(_ text: String) {
        // `inet_pton` stops at a NUL and would ignore the text after it.
        guard !text.utf8.contains(0) else { return nil }
        var v4 = in_addr()
        if inet_pton(AF_INET, text, &v4) == 1 {
            self = .v4(UInt32(bigEndian: v4.s_addr))
            return
        }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, text, &v6) == 1 else { return nil }
        self = IPAddress(v6)
    }

    /// Creates an address from a socket address. Returns `nil` if the address family is not IPv4 or IPv6.
    public init?(_ address: UnsafePointer<sockaddr>) {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET: self = .v4(UInt32(bigEndian: raw.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr))
        case AF_INET6: self = IPAddress(raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr)
        default: return nil
        }
    }

    private init(_ address: in6_addr) {
        self = withUnsafeBytes(of: address) { bytes in
            .v6(
                UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }

    /// The IPv4 address of an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2), to which the kernel connects. Any other
    /// address is unchanged.
    public var unmapped: IPAddress {
        guard case .v6(0, let low) = self, low >> 32 == 0xffff else { return self }
        return .v4(UInt32(truncatingIfNeeded: low))
    }
}

extension IPAddress: CustomStringConvertible {
    /// The canonical text of the address (RFC 5952 for IPv6).
    public var description: String {
        switch self {
        case .v4(let value):
            return "\(value >> 24).\(value >> 16 & 255).\(value >> 8 & 255).\(value & 255)"
        case .v6(let high, let low):
            var bytes = (high.bigEndian, low.bigEndian)
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            guard inet_ntop(AF_INET6, &bytes, &text, socklen_t(INET6_ADDRSTRLEN)) != nil else { return "::" }
            return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }
}
