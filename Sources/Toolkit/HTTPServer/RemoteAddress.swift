public import Text

/// The IP address of a client, used as a key for counting. Formatted only when its text is needed.
///
/// An IPv4 address equals its IPv4-mapped IPv6 form (RFC 4291, 2.5.5.2).
public struct RemoteAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address; never an IPv4-mapped IPv6 address.
    public let ip: IPAddress

    /// Creates a value from an IP address. An IPv4-mapped IPv6 address becomes the IPv4 address.
    public init(_ ip: IPAddress) { self.ip = ip.unmapped }

    /// The address 127.0.0.1.
    public static let loopback = RemoteAddress(.v4(0x7F00_0001))

    /// True when the client is on this machine: 127.0.0.0/8 or ::1.
    public var isLoopback: Bool {
        switch ip {
        case .v4(let address): address >> 24 == 127
        case .v6(let high, let low): high == 0 && low == 1
        }
    }

    /// The address as text: `192.0.2.7`, or the canonical form of an IPv6 address (RFC 5952).
    public var description: String { ip.description }
}
