/// The TLS identity of a request: a client certificate with its private key, certificate authorities to trust, or both.
///
/// One value can be used for many requests. Call ``check()`` before the first request with a new identity.
public struct ClientIdentity: Sendable, Equatable {
    /// The maximum length of each PEM text in bytes.
    public static let limitBytes = 64 * 1024

    struct Pair: Sendable, Equatable {
        let certificate: [UInt8]
        let key: [UInt8]
    }

    let pair: Pair?
    let authorities: [UInt8]?

    /// Creates an identity from PEM texts. Only checks the general format of the texts; ``check()`` checks their
    /// content.
    ///
    /// - Parameters:
    ///   - certificate: the client certificate in PEM. Intermediate certificates may follow it.
    ///   - privateKey: the private key in PEM, not encrypted. Required with a certificate, and not allowed without one.
    ///   - authorities: the authorities, in PEM, to trust instead of the system's authorities; `nil` trusts the
    ///     system's authorities.
    /// - Throws: ``ClientIdentityError``. Its message is safe to show to the user who has supplied the PEM texts.
    public init(
        certificate: String? = nil, privateKey: String? = nil, authorities: String? = nil
    ) throws(ClientIdentityError) {
        switch (certificate, privateKey) {
        case (nil, nil): pair = nil
        case (let certificate?, let key?):
            pair = Pair(
                certificate: try Self.pem(certificate, "CERTIFICATE-----", or: .certificate),
                key: try Self.pem(key, "PRIVATE KEY-----", or: .privateKey))
        default: throw ClientIdentityError(.incomplete)
        }
        self.authorities =
            if let authorities { try Self.pem(authorities, "CERTIFICATE-----", or: .authorities) } else { nil }
    }

    /// Returns the bytes of a PEM text. Throws if the text is too long, contains no block of the expected kind, or
    /// needs a pass phrase.
    private static func pem(
        _ text: String, _ mark: String, or reason: ClientIdentityError.Reason
    ) throws(ClientIdentityError) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard bytes.count <= limitBytes else { throw ClientIdentityError(.tooLarge) }
        guard text.contains("-----BEGIN "), text.contains(mark), !bytes.contains(0) else {
            throw ClientIdentityError(reason)
        }
        guard !text.contains("ENCRYPTED") else { throw ClientIdentityError(.encrypted) }
        return bytes
    }

    /// Checks that the TLS library can read the identity. Usually takes about a millisecond, but can take seconds on an
    /// overloaded system. Do not call it on a thread that must not block.
    ///
    /// - Throws: ``ClientIdentityError`` when the TLS library cannot use the identity.
    public func check() throws(ClientIdentityError) {
        guard let probe = ClientIdentityCheck() else { throw ClientIdentityError(.notChecked) }
        if let authorities { try probe.read(authorities: authorities, or: .authorities) }
        if let pair {
            // The certificate is first read as an authority, because an error for the pair would not show if the
            // certificate or the key is the cause.
            try probe.read(authorities: pair.certificate, or: .certificate)
            try probe.use(pair)
        }
    }
}

/// The reason why a ``ClientIdentity`` is not valid.
public struct ClientIdentityError: Error, Sendable, Equatable {
    /// The class of an error.
    public enum Reason: Sendable, CaseIterable {
        /// There is a certificate without a key, or a key without a certificate.
        case incomplete
        /// A text is longer than ``ClientIdentity/limitBytes``.
        case tooLarge
        /// The certificate cannot be read.
        case certificate
        /// The key cannot be read, or does not belong to the certificate.
        case privateKey
        /// The authorities cannot be read.
        case authorities
        /// The key is encrypted with a pass phrase.
        case encrypted
        /// The check was not possible: there was not enough memory or descriptors, or the TLS library cannot read
        /// identities from memory.
        case notChecked
    }

    /// The class of the error.
    public let reason: Reason

    init(_ reason: Reason) { self.reason = reason }

    /// One sentence about the error, for the user who has supplied the PEM texts.
    public var message: String {
        switch reason {
        case .incomplete: "A client certificate and its private key must be sent together"
        case .tooLarge: "A PEM text may have at most \(ClientIdentity.limitBytes / 1024) KiB"
        case .certificate: "The certificate must be PEM, beginning with -----BEGIN CERTIFICATE-----"
        case .privateKey:
            "The private key must be in PEM format, without a pass phrase, and belong to the first certificate"
        case .authorities: "The authorities must be certificates in PEM, beginning with -----BEGIN CERTIFICATE-----"
        case .encrypted: "The private key must not be encrypted; remove its pass phrase first"
        case .notChecked: "The certificate could not be checked; try again"
        }
    }
}
