internal import CCrypto
import Text

/// The state of a hash function (FIPS 180-4). A value type: copies are independent.
protocol HashFunction: Sendable {
    /// The length of a block in bytes. HMAC pads its key to this length.
    static var blockBytes: Int { get }
    /// The length of a digest in bytes.
    static var digestBytes: Int { get }
    init()
    mutating func update(_ bytes: UnsafeRawBufferPointer)
    /// Writes the digest to `digest`, which must have space for `digestBytes` bytes. The state must not be used after
    /// this call.
    mutating func finish(into digest: UnsafeMutablePointer<UInt8>)
}

// The results of the library's functions are not checked. They return 0 only for a state that was never initialized,
// which cannot happen here.

struct SHA1State: HashFunction {
    static let blockBytes = 64
    static let digestBytes = 20
    private var state = SHA_CTX()

    init() { SHA1_Init(&state) }
    mutating func update(_ bytes: UnsafeRawBufferPointer) { SHA1_Update(&state, bytes.baseAddress, bytes.count) }
    mutating func finish(into digest: UnsafeMutablePointer<UInt8>) { SHA1_Final(digest, &state) }
}

struct SHA256State: HashFunction {
    static let blockBytes = 64
    static let digestBytes = 32
    private var state = SHA256_CTX()

    init() { SHA256_Init(&state) }
    mutating func update(_ bytes: UnsafeRawBufferPointer) { SHA256_Update(&state, bytes.baseAddress, bytes.count) }
    mutating func finish(into digest: UnsafeMutablePointer<UInt8>) { SHA256_Final(digest, &state) }
}

struct SHA512State: HashFunction {
    static let blockBytes = 128
    static let digestBytes = 64
    private var state = SHA512_CTX()

    init() { SHA512_Init(&state) }
    mutating func update(_ bytes: UnsafeRawBufferPointer) { SHA512_Update(&state, bytes.baseAddress, bytes.count) }
    mutating func finish(into digest: UnsafeMutablePointer<UInt8>) { SHA512_Final(digest, &state) }
}

extension HashFunction {
    /// Returns the digest of some bytes.
    static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var hash = Self()
        bytes.withUnsafeBytes { hash.update($0) }
        return hash.finish()
    }

    mutating func finish() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.digestBytes) { buffer, count in
            if let start = buffer.baseAddress { finish(into: start) }
            count = Self.digestBytes
        }
    }
}

/// An HMAC (RFC 2104) that has already hashed its padded key. A copy of this value can begin a message without hashing
/// the key again.
struct HMAC<Hash: HashFunction>: Sendable {
    private var inner = Hash()
    /// The state of the outer hash after the padded key.
    private var outer = Hash()

    init(key: [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Hash.blockBytes) { block in
            block.initialize(repeating: 0)
            if key.count > Hash.blockBytes {
                var hash = Hash()
                key.withUnsafeBytes { hash.update($0) }
                if let start = block.baseAddress { hash.finish(into: start) }
            } else {
                _ = block.update(fromContentsOf: key)
            }
            for index in block.indices { block[index] ^= 0x36 }
            inner.update(UnsafeRawBufferPointer(block))
            for index in block.indices { block[index] ^= 0x36 ^ 0x5c }
            outer.update(UnsafeRawBufferPointer(block))
            OPENSSL_cleanse(block.baseAddress, block.count)
        }
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) { inner.update(bytes) }

    mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { inner.update($0) } }

    /// Returns the authentication code of all bytes appended so far.
    func finish() -> [UInt8] {
        var (inner, outer) = (inner, outer)
        return [UInt8](unsafeUninitializedCapacity: Hash.digestBytes) { buffer, count in
            if let start = buffer.baseAddress {
                inner.finish(into: start)
                outer.update(UnsafeRawBufferPointer(start: start, count: Hash.digestBytes))
                outer.finish(into: start)
            }
            count = Hash.digestBytes
        }
    }
}

/// Computes the SHA-256 digest of data that is passed in pieces, for data that is too long to have in memory.
public struct RunningDigest {
    private var hash = SHA256State()

    /// Begins a digest. The data is empty at first.
    public init() {}

    /// Appends bytes.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) { hash.update(bytes) }

    /// Returns the digest of all bytes appended so far, in hexadecimal.
    public func finish() -> String {
        var hash = hash
        return Hex.encode(hash.finish())
    }
}
