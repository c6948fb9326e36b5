/// Where secrets and unguessable ids come from; handed in, so that a test can decide them.
public protocol RandomSource: Sendable {
    /// Fresh bytes, unpredictable to anyone who has seen all earlier ones.
    func bytes(_ count: Int) -> [UInt8]
}

extension RandomSource {
    /// Prefix and 128 random bits in base64url: 22 characters, safe in URLs, never guessed and never met twice.
    public func identifier(prefix: String) -> String { token(prefix: prefix, bytes: 16) }

    /// Prefix and random bytes in base64url, for credentials; the default is 192 bits.
    public func token(prefix: String, bytes count: Int = 24) -> String {
        prefix + Base64.encodeURL(bytes(count))
    }
}

/// The system's generator (`getrandom(2)` on Linux).
public struct SystemRandomSource: RandomSource {
    public init() {}

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
