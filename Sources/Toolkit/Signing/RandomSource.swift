/// The source of secrets and unguessable ids; injected, so that a test can control them.
public protocol RandomSource: Sendable {
    /// Returns fresh bytes, unpredictable even with knowledge of all earlier ones.
    func bytes(_ count: Int) -> [UInt8]
}

extension RandomSource {
    /// Returns the prefix and 128 random bits in base64url: 22 characters, safe in URLs, unguessable and unique.
    public func identifier(prefix: String) -> String { token(prefix: prefix, bytes: 16) }

    /// Returns the prefix and random bytes in base64url, for credentials. The default is 192 bits.
    public func token(prefix: String, bytes count: Int = 24) -> String {
        prefix + Base64.encodeURL(bytes(count))
    }
}

/// The system's generator (`getrandom(2)` on Linux).
public struct SystemRandomSource: RandomSource {
    /// The generator; all instances are the same.
    public init() {}

    /// Returns random bytes of the system.
    public func bytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                var word = generator.next()
                withUnsafeBytes(of: &word) { source in
                    for byte in source.prefix(count - filled) {
                        buffer.initializeElement(at: filled, to: byte)
                        filled += 1
                    }
                }
            }
        }
    }
}
