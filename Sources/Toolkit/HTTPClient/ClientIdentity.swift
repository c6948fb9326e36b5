/// The TLS identity of a request: a client certificate with its key, certificate authorities to trust, or both.
///
/// Use one value for many requests, and call ``check()`` for a new one.
public struct ClientIdentity: Sendable, Equatable {
    /// The maximum number of bytes of each PEM text. Real keys and certificates are smaller.
    public static let limitBytes = 64 * 1024

    struct Pair: Sendable, Equatable {
        let certificate: [UInt8]
        let key: [UInt8]
    }

    let pair: Pair?
    let authorities: [UInt8]?

    /// Creates an identity from PEM texts, without reading them completely; see ``check()``.
    ///
    /// - Parameters:
    ///   - certificate: PEM; the certificates that lead to an authority may follow it.
    ///   - privateKey: PEM, not encrypted. Required with a certificate, and not allowed without one.
    ///   - authorities: PEM; trusted instead of the system's authorities. `nil` trusts the system's.
    /// - Throws: ``ClientIdentityError``, whose message is safe to show to the person who supplied the PEM.
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

    /// Rejects a text that contains no block of the expected kind or needs a pass phrase.
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

    /// Lets the TLS library that will use the identity read it. Takes about a millisecond, but can take seconds when
    /// the system makes no progress: do not call it on a thread that others wait for.
    ///
    /// - Throws: ``ClientIdentityError`` when the library cannot use the identity.
    public func check() throws(ClientIdentityError) {
        guard let probe = ClientIdentityCheck() else { throw ClientIdentityError(.notChecked) }
        if let authorities { try probe.read(authorities: authorities, or: .authorities) }
        if let pair {
            // The certificate is read as an authority first: an error for the pair would not show which of the two is
            // at fault.
            try probe.read(authorities: pair.certificate, or: .certificate)
            try probe.use(pair)
        }
    }
}

/// The reason why a ``ClientIdentity`` is not valid.
public struct ClientIdentityError: Error, Sendable, Equatable {
    /// The class of an error.
    public enum Reason: Sendable, CaseIterable {
        /// A certificate without a key, or a key without a certificate.
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
        /// The system had no memory or descriptors for the check, or its TLS library cannot read identities from
        /// memory.
        case notChecked
    }

    /// The class of the error.
    public let reason: Reason

    init(_ reason: Reason) { self.reason = reason }

    /// One sentence for the person who supplied the PEM.
    public var message: String {
        switch reason {
        case .incomplete: "A client certificate and its private key must be given together"
        case .tooLarge: "A PEM text may have \(ClientIdentity.limitBytes / 1024) KiB at most"
        case .certificate: "The certificate must be PEM, beginning with -----BEGIN CERTIFICATE-----"
        case .privateKey: "The private key must be PEM without a pass phrase, and belong to the first certificate"
        case .authorities: "The authorities must be certificates in PEM, beginning with -----BEGIN CERTIFICATE-----"
        case .encrypted: "The private key must not be encrypted; remove its pass phrase first"
        case .notChecked: "The certificate could not be checked; try again"
        }
    }
}
