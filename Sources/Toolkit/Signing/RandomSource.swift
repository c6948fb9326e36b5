/// A source of random bytes for secrets and ids. Programs pass it as a parameter, so that tests can replace it.
public protocol RandomSource: Sendable {
    /// Returns `count` random bytes. They must be unpredictable even if all earlier bytes are known.
    func bytes(_ count: Int) -> [UInt8]
}

extension RandomSource {
    /// Returns the prefix followed by 128 random bits in base64url (22 characters). The result is unique, cannot be
    /// guessed, and is safe in URLs.
    public func identifier(prefix: String) -> String { token(prefix: prefix, bytes: 16) }

    /// Returns the prefix followed by `count` random bytes in base64url, for use as a credential. The default is 24
    /// bytes (192 bits).
    public func token(prefix: String, bytes count: Int = 24) -> String {
        prefix + Base64.encodeURL(bytes(count))
    }
}

/// The random number generator of the operating system (`getrandom(2)` on Linux).
public struct SystemRandomSource: RandomSource {
    /// Creates the source. All instances are equivalent.
    public init() {}

    /// Returns `count` random bytes of the operating system.
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
