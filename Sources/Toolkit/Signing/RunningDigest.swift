internal import Crypto

/// The SHA-256 digest of what is too long to be held in memory.
public struct RunningDigest {
    private var hash = SHA256()

    public init() {}

    public mutating func update(_ bytes: UnsafeRawBufferPointer) { hash.update(bufferPointer: bytes) }

    /// The digest of everything so far, in hexadecimal.
    public func finish() -> String { Hex.encode(hash.finalize().withUnsafeBytes { Array($0) }) }
}
