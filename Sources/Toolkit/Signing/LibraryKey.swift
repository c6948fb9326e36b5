internal import CCrypto

/// A key of libcrypto (OpenSSL). Threads may share a key, because the key never changes and OpenSSL locks its internal
/// caches.
final class LibraryKey: @unchecked Sendable {
    private let key: OpaquePointer

    /// Creates an object that owns `key`. Returns `nil` if `key` is `nil`, which means that libcrypto has failed.
    init?(owning key: OpaquePointer?) {
        guard let key else {
            // libcrypto stores errors in a queue of the thread. The queue is cleared, so that a later call does not
            // report this error.
            ERR_clear_error()
            return nil
        }
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    /// Parses a public key from its SubjectPublicKeyInfo in DER (RFC 5280, 4.1).
    ///
    /// - Returns: `nil` for bytes that are not a SubjectPublicKeyInfo, for additional bytes at the end, and for a point
    ///   that is not on its curve.
    convenience init?(subjectPublicKeyInfo bytes: [UInt8]) {
        let key = bytes.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var next = buffer.baseAddress
            guard let key = d2i_PUBKEY(nil, &next, buffer.count) else { return nil }
            guard next == buffer.baseAddress.map({ $0 + buffer.count }) else {
                EVP_PKEY_free(key)
                return nil
            }
            return key
        }
        self.init(owning: key)
    }

    /// The type of the key as an OpenSSL constant, such as `EVP_PKEY_RSA`.
    var kind: Int32 { EVP_PKEY_get_base_id(key) }

    /// The size of the key in bits. For RSA, this is the size of the modulus.
    var bits: Int32 { EVP_PKEY_get_bits(key) }

    /// True when an RSA key's exponent is odd, above 1 and at most 33 bits long, and its modulus is not prime and has
    /// no small factors (NIST SP 800-56B, 6.4.2).
    var isSoundRSAKey: Bool {
        var exponent: OpaquePointer?
        guard EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) == 1 else { return false }
        defer { BN_free(exponent) }
        guard BN_num_bits(exponent) > 1, BN_num_bits(exponent) <= 33,
            let context = EVP_PKEY_CTX_new_from_pkey(nil, key, nil)
        else { return false }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_public_check(context) == 1 else {
            ERR_clear_error()
            return false
        }
        return true
    }

    /// The 32 bytes of the public key. The key must be an Ed25519 key.
    var rawPublicKey: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            count = buffer.count
            let isRead = EVP_PKEY_get_raw_public_key(key, buffer.baseAddress, &count)
            precondition(isRead == 1 && count == 32, "an Ed25519 key must have 32 bytes")
        }
    }

    /// Returns true if the signature of this message was created with the private key that belongs to this public key.
    ///
    /// - Parameters:
    ///   - signature: the signature in the encoding of the algorithm: PKCS #1 v1.5 for RSA, DER for ECDSA, 64 bytes for
    ///     Ed25519.
    ///   - digest: the hash function of the signature; `nil` for Ed25519, which has a fixed hash function.
    func verifies(_ signature: [UInt8], of message: [UInt8], digest: OpaquePointer?) -> Bool {
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, digest, nil, key) == 1,
            EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        else {
            ERR_clear_error()
            return false
        }
        return true
    }

    /// Returns the 64-byte Ed25519 signature of a message; `nil` when libcrypto cannot allocate memory.
    func ed25519Signature(of message: [UInt8]) -> [UInt8]? {
        guard let context = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: 64)
        var count = signature.count
        guard EVP_DigestSignInit(context, nil, nil, nil, key) == 1,
            EVP_DigestSign(context, &signature, &count, message, message.count) == 1, count == signature.count
        else {
            ERR_clear_error()
            return nil
        }
        return signature
    }
}
