/// Checks of IPv4 addresses in the notation of RFC 2673 and IPv6 addresses in the notation of RFC 4291.
extension Format {
    static func isIPv4(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var scanner = Scanner(text)
        return scanner.skipIPv4() && scanner.isAtEnd
    }

    static func isIPv6(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var scanner = Scanner(text)
        guard let groups = scanner.skipIPv6Groups(), scanner.isAtEnd else { return false }
        return groups.isElided ? groups.count <= 7 : groups.count == 8
    }
}

extension Format.Scanner {
    fileprivate mutating func skipIPv4() -> Bool {
        guard skipOctet() else { return false }
        for _ in 0..<3 {
            guard accept("."), skipOctet() else { return false }
        }
        return true
    }

    /// Skips a number from 0 to 255. Returns false for any other text. Leading zeros are rejected, because some parsers
    /// interpret them as octal.
    private mutating func skipOctet() -> Bool {
        let start = offset
        let width = skip(.digits)
        guard (1...3).contains(width), width == 1 || bytes[start] != UInt8(ascii: "0") else { return false }
        return bytes[start..<offset].reduce(0) { $0 * 10 + Int($1 & 0x0F) } <= 255
    }

    /// Skips the 16-bit groups of an IPv6 address. Returns their number, and true if `::` represents further groups;
    /// nil when the text is invalid.
    fileprivate mutating func skipIPv6Groups() -> (count: Int, isElided: Bool)? {
        var count = 0
        var isElided = false
        if accept(":") {
            guard accept(":") else { return nil }
            isElided = true
            if isAtEnd { return (0, true) }
        }
        while true {
            let start = offset
            let width = skip(.hexadecimal)
            if isNext(".") {
                move(to: start)
                return skipIPv4() ? (count + 2, isElided) : nil
            }
            guard (1...4).contains(width) else { return nil }
            count += 1
            if isAtEnd { return (count, isElided) }
            guard accept(":") else { return nil }
            if accept(":") {
                guard !isElided else { return nil }
                isElided = true
                if isAtEnd { return (count, true) }
            }
        }
    }
}
