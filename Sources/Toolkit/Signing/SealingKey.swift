internal import CCrypto

/// An AES-256-GCM key (NIST SP 800-38D). When the last reference is released, the object overwrites its copy of the key
/// bytes.
final class SealingKey: @unchecked Sendable {
    // `@unchecked Sendable` is safe, because only `init` and `deinit` write the bytes.
    private let bytes: UnsafeMutableRawBufferPointer

    static let nonceBytes = 12
    static let tagBytes = 16
    /// The algorithm AES-256-GCM. It is fetched once, because OpenSSL 3 would otherwise look it up by its name for each
    /// message.
    private nonisolated(unsafe) static let cipher: OpaquePointer = {
        guard let cipher = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil) else {
            preconditionFailure("libcrypto offers no AES-256-GCM; check OPENSSL_CONF")
        }
        return cipher
    }()

    /// Creates a key and copies its bytes.
    ///
    /// - Parameter key: 32 bytes.
    init(_ key: [UInt8]) {
        precondition(key.count == 32, "an AES-256 key must have 32 bytes")
        bytes = .allocate(byteCount: key.count, alignment: 16)
        bytes.copyBytes(from: key)
    }

    deinit {
        OPENSSL_cleanse(bytes.baseAddress, bytes.count)
        bytes.deallocate()
    }

    /// Returns the ciphertext followed by the 16-byte tag.
    ///
    /// - Parameters:
    ///   - nonce: 12 bytes. Each nonce may be used only once with this key.
    ///   - context: the associated data: it is authenticated but not part of the result.
    func seal(_ text: [UInt8], nonce: [UInt8], context: [UInt8]) -> [UInt8] {
        precondition(nonce.count == Self.nonceBytes, "AES-GCM needs a nonce of 12 bytes")
        var sealed = [UInt8](repeating: 0, count: text.count + Self.tagBytes)
        withContext { state in
            var (count, rest): (Int32, Int32) = (0, 0)
            let isSealed = sealed.withUnsafeMutableBufferPointer { sealed in
                EVP_EncryptInit_ex(state, Self.cipher, nil, start, nonce) == 1
                    && EVP_EncryptUpdate(state, nil, &count, context, Int32(context.count)) == 1
                    && EVP_EncryptUpdate(state, sealed.baseAddress, &count, text, Int32(text.count)) == 1
                    && EVP_EncryptFinal_ex(state, sealed.baseAddress.map { $0 + Int(count) }, &rest) == 1
                    && EVP_CIPHER_CTX_ctrl(
                        state, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagBytes),
                        sealed.baseAddress.map { $0 + text.count }) == 1
            }
            precondition(isSealed, Self.outOfMemory)
        }
        return sealed
    }

    /// Decrypts the result of `seal`. Returns `nil` if the bytes were changed, or if `seal` was called with another
    /// nonce, context or key.
    func open(_ sealed: ArraySlice<UInt8>, nonce: [UInt8], context: [UInt8]) -> [UInt8]? {
        guard sealed.count >= Self.tagBytes, nonce.count == Self.nonceBytes else { return nil }
        let ciphertext = Array(sealed.dropLast(Self.tagBytes))
        var tag = Array(sealed.suffix(Self.tagBytes))
        var text = [UInt8](repeating: 0, count: ciphertext.count)
        let isOpened = withContext { state in
            var (count, rest): (Int32, Int32) = (0, 0)
            return text.withUnsafeMutableBufferPointer { text in
                let isReady =
                    EVP_DecryptInit_ex(state, Self.cipher, nil, start, nonce) == 1
                    && EVP_DecryptUpdate(state, nil, &count, context, Int32(context.count)) == 1
                    && EVP_DecryptUpdate(state, text.baseAddress, &count, ciphertext, Int32(ciphertext.count)) == 1
                    && EVP_CIPHER_CTX_ctrl(state, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1
                precondition(isReady, Self.outOfMemory)
                // This call checks the authentication tag.
                return EVP_DecryptFinal_ex(state, text.baseAddress.map { $0 + Int(count) }, &rest) == 1
            }
        }
        guard isOpened else {
            ERR_clear_error()
            text.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
            return nil
        }
        return text
    }

    private var start: UnsafePointer<UInt8>? { bytes.baseAddress?.assumingMemoryBound(to: UInt8.self).immutable }

    /// The message for the only possible error of libcrypto. Other errors cannot occur, because the sizes are checked
    /// before each call.
    private static let outOfMemory = "not enough memory for AES-GCM"

    private func withContext<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        guard let state = EVP_CIPHER_CTX_new() else { preconditionFailure(Self.outOfMemory) }
        defer { EVP_CIPHER_CTX_free(state) }
        return body(state)
    }
}

extension UnsafeMutablePointer {
    fileprivate var immutable: UnsafePointer<Pointee> { UnsafePointer(self) }
}

/// Encrypts bytes into text that cannot be read or created without the key. The text is the nonce and the output of
/// AES-256-GCM, in base64url.
///
/// Use it for values that the gateway sends to clients and later receives from them. A text that was created for one
/// purpose is not valid for another purpose.
///
/// ```swift
/// let seal = TextSealer(key: key, purpose: "stream ticket")
/// let text = seal.seal(body)
/// let body = seal.open(text, mostBytes: 16 * 1024)
/// ```
public struct TextSealer: Sendable {
    private let key: SealingKey
    private let nonceKey: Secret

    /// Creates a sealer, whose encryption keys are derived from `key` and `purpose`.
    public init(key: Secret, purpose: String) {
        self.key = SealingKey(Self.derived("text seal: " + purpose, from: key))
        nonceKey = Secret(Self.derived("text seal nonce: " + purpose, from: key))
    }

    /// Encrypts the bytes. The same bytes always result in the same text. A caller that needs distinct texts must add
    /// random bytes.
    public func seal(_ bytes: [UInt8]) -> String {
        // The nonce is derived from the bytes. It repeats only for the same bytes, which result in the same text.
        let nonce = Array(MessageAuthentication.code(.sha256, of: bytes, key: nonceKey).prefix(SealingKey.nonceBytes))
        return Base64.encodeURL(nonce + key.seal(bytes, nonce: nonce, context: []))
    }

    /// Decrypts a text that `seal` has returned.
    ///
    /// - Parameter mostBytes: the maximum length of the text in bytes. Longer texts are rejected without being decoded.
    /// - Returns: the bytes that were passed to `seal`; `nil` for any other text.
    public func open(_ text: String, mostBytes: Int) -> [UInt8]? {
        guard text.utf8.count <= mostBytes, let bytes = Base64.decodeURL(text) else { return nil }
        let nonce = Array(bytes.prefix(SealingKey.nonceBytes))
        return key.open(bytes.dropFirst(nonce.count), nonce: nonce, context: [])
    }

    private static func derived(_ use: String, from key: Secret) -> [UInt8] {
        MessageAuthentication.code(.sha256, of: Array(use.utf8), key: key)
    }
}
