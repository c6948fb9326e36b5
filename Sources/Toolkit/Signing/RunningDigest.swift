/// The SHA-256 digest of what is too long to be held in memory.
public struct RunningDigest {
    private var hash = SHA256State()

    public init() {}

    public mutating func update(_ bytes: UnsafeRawBufferPointer) { hash.update(bytes) }

    /// The digest of everything so far, in hexadecimal.
    public func finish() -> String {
        var hash = hash
        return Hex.encode(hash.finish())
    }
}
