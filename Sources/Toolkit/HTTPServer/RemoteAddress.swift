/// The IP address of a client, used as a key for counting. Formatted only when its text is needed.
///
/// An IPv4 address equals its IPv4-mapped IPv6 form (RFC 4291, 2.5.5.2).
public struct RemoteAddress: Hashable, Sendable, CustomStringConvertible {
    private var high: UInt64
    private var low: UInt64

    /// Creates an IPv4 address from its four bytes in network order, the first one in the top bits.
    public init(v4 address: UInt32) {
        high = 0
        low = 0xFFFF_0000_0000 | UInt64(address)
    }

    /// Creates an IPv6 address from its two halves, each with its first byte in the top bits.
    public init(v6High: UInt64, low: UInt64) {
        high = v6High
        self.low = low
    }

    /// The address 127.0.0.1.
    public static let loopback = RemoteAddress(v4: 0x7F00_0001)

    /// True when the client is on this machine: 127.0.0.0/8 or ::1.
    public var isLoopback: Bool {
        if let v4 { return v4 >> 24 == 127 }
        return high == 0 && low == 1
    }

    private var v4: UInt32? {
        high == 0 && low >> 32 == 0xFFFF ? UInt32(truncatingIfNeeded: low) : nil
    }

    /// The address as text: `192.0.2.7`, or the canonical form of an IPv6 address (RFC 5952).
    public var description: String {
        if let v4 {
            return "\(v4 >> 24).\(v4 >> 16 & 255).\(v4 >> 8 & 255).\(v4 & 255)"
        }
        let groups = (0..<8).map { index in
            UInt16(truncatingIfNeeded: (index < 4 ? high : low) >> UInt64(48 - 16 * (index % 4)))
        }
        guard let gap = Self.longestZeroRun(groups) else {
            return groups.map { String($0, radix: 16) }.joined(separator: ":")
        }
        let head = groups[..<gap.lowerBound].map { String($0, radix: 16) }.joined(separator: ":")
        let tail = groups[gap.upperBound...].map { String($0, radix: 16) }.joined(separator: ":")
        return head + "::" + tail
    }

    private static func longestZeroRun(_ groups: [UInt16]) -> Range<Int>? {
        var best: Range<Int>?
        var start = 0
        while start < groups.count {
            guard groups[start] == 0 else {
                start += 1
                continue
            }
            let end = groups[start...].firstIndex { $0 != 0 } ?? groups.count
            if end - start > max(best?.count ?? 0, 1) { best = start..<end }
            start = end
        }
        return best
    }
}
