/// What a request shows and trusts in the TLS handshake: a client certificate with its key, authorities of its own, or both.
///
/// Keep one for many requests, and ``check()`` one that is new.
public struct ClientIdentity: Sendable, Equatable {
    /// A key and certificates beyond this are an attack or a mistake.
    public static let limitBytes = 64 * 1024

    struct Pair: Sendable, Equatable {
        let certificate: [UInt8]
        let key: [UInt8]
    }

    let pair: Pair?
    let authorities: [UInt8]?

    /// - Parameters:
    ///   - certificate: PEM; those that lead to an authority may follow it.
    ///   - privateKey: PEM, not encrypted; given with a certificate and only then.
    ///   - authorities: PEM; trusted instead of the system's. `nil` for the system's.
    /// - Throws: ``ClientIdentityError``, whose text is safe to show to whoever gave the PEM.
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

    /// Refuses early what would need a pass phrase or has nothing of the kind in it.
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

    /// Has the very library that will use it read it. Takes about a millisecond, and seconds where nothing goes on: not for
    /// a thread that others wait for.
    public func check() throws(ClientIdentityError) {
        guard let probe = ClientIdentityCheck() else { throw ClientIdentityError(.notChecked) }
        if let authorities { try probe.read(authorities: authorities, or: .authorities) }
        if let pair {
            // Read as authorities first: trying the pair does not tell which of the two is at fault.
            try probe.read(authorities: pair.certificate, or: .certificate)
            try probe.use(pair)
        }
    }
}

/// Why a ``ClientIdentity`` cannot be.
public struct ClientIdentityError: Error, Sendable, Equatable {
    /// The class of a refusal.
    public enum Reason: Sendable, CaseIterable {
        /// A certificate without a key, or a key without a certificate.
        case incomplete
        /// More than ``ClientIdentity/limitBytes``.
        case tooLarge
        /// The certificate cannot be read.
        case certificate
        /// The key cannot be read, or is not the certificate's.
        case privateKey
        /// The authorities cannot be read.
        case authorities
        /// The key has a pass phrase.
        case encrypted
        /// The system had no memory or descriptors for the check, or its TLS library takes nothing from memory.
        case notChecked
    }

    public let reason: Reason

    init(_ reason: Reason) { self.reason = reason }

    /// One sentence for whoever gave the PEM.
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
