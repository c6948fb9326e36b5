internal import CCrypto

/// An AES-256-GCM key (NIST SP 800-38D), overwritten in memory when nobody has it any more.
final class SealingKey: @unchecked Sendable {
    // Safe: written by `init` and `deinit` alone.
    private let bytes: UnsafeMutableRawBufferPointer

    static let nonceBytes = 12
    static let tagBytes = 16
    /// Fetched once: OpenSSL 3 looks an algorithm up by its name each time otherwise.
    private nonisolated(unsafe) static let cipher = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)

    /// - Parameter key: 32 bytes.
    init(_ key: [UInt8]) {
        precondition(key.count == 32, "AES-256 takes 32 bytes")
        bytes = .allocate(byteCount: key.count, alignment: 16)
        bytes.copyBytes(from: key)
    }

    deinit {
        OPENSSL_cleanse(bytes.baseAddress, bytes.count)
        bytes.deallocate()
    }

    /// The ciphertext, as long as the text, and the tag behind it.
    ///
    /// - Parameters:
    ///   - nonce: 12 bytes that this key never sees again with another text.
    ///   - context: authenticated and not stored.
    func seal(_ text: [UInt8], nonce: [UInt8], context: [UInt8]) -> [UInt8] {
        precondition(nonce.count == Self.nonceBytes, "AES-GCM takes a nonce of 12 bytes")
        var sealed = [UInt8](repeating: 0, count: text.count + Self.tagBytes)
        let isSealed = withContext { state in
            var (count, rest): (Int32, Int32) = (0, 0)
            return sealed.withUnsafeMutableBufferPointer { sealed in
                EVP_EncryptInit_ex(state, Self.cipher, nil, start, nonce) == 1
                    && EVP_EncryptUpdate(state, nil, &count, context, Int32(context.count)) == 1
                    && EVP_EncryptUpdate(state, sealed.baseAddress, &count, text, Int32(text.count)) == 1
                    && EVP_EncryptFinal_ex(state, sealed.baseAddress.map { $0 + Int(count) }, &rest) == 1
                    && EVP_CIPHER_CTX_ctrl(
                        state, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagBytes),
                        sealed.baseAddress.map { $0 + text.count }) == 1
            }
        }
        // Sizes were checked, so only want of memory is left.
        precondition(isSealed, "AES-GCM failed to seal")
        return sealed
    }

    /// The text of what `seal` made; nil for anything that was changed, cut or made with another key, nonce or context.
    func open(_ sealed: ArraySlice<UInt8>, nonce: [UInt8], context: [UInt8]) -> [UInt8]? {
        guard sealed.count >= Self.tagBytes, nonce.count == Self.nonceBytes else { return nil }
        let ciphertext = Array(sealed.dropLast(Self.tagBytes))
        var tag = Array(sealed.suffix(Self.tagBytes))
        var text = [UInt8](repeating: 0, count: ciphertext.count)
        let isOpened = withContext { state in
            var (count, rest): (Int32, Int32) = (0, 0)
            return text.withUnsafeMutableBufferPointer { text in
                EVP_DecryptInit_ex(state, Self.cipher, nil, start, nonce) == 1
                    && EVP_DecryptUpdate(state, nil, &count, context, Int32(context.count)) == 1
                    && EVP_DecryptUpdate(state, text.baseAddress, &count, ciphertext, Int32(ciphertext.count)) == 1
                    && EVP_CIPHER_CTX_ctrl(state, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1
                    && EVP_DecryptFinal_ex(state, text.baseAddress.map { $0 + Int(count) }, &rest) == 1
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

    private func withContext(_ body: (OpaquePointer) -> Bool) -> Bool {
        guard let state = EVP_CIPHER_CTX_new() else { return false }
        defer { EVP_CIPHER_CTX_free(state) }
        return body(state)
    }
}

extension UnsafeMutablePointer {
    fileprivate var immutable: UnsafePointer<Pointee> { UnsafePointer(self) }
}
