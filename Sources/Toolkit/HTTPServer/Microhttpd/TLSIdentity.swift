internal import CMicrohttpd

/// A certificate chain and its private key, in the form that GnuTLS uses in handshakes.
///
/// GnuTLS keeps pointers to the chain and the key during a handshake, so an identity must stay alive after it was
/// replaced.
final class TLSIdentity {
    /// The maximum number of certificates in a chain.
    private static let longestChain: UInt32 = 16

    private let chain: UnsafeMutablePointer<gnutls_pcert_st>
    private let length: UInt32
    private let key: gnutls_privkey_t

    /// Reads a certificate chain and its key from files.
    ///
    /// - Throws: ``ServerError`` when a file cannot be read, or when the certificate and the key do not match.
    init(_ files: ServerOptions.TLSFiles) throws(ServerError) {
        let material = try TLSMaterial(files)
        try Self.requirePair(material)
        (chain, length) = try Self.chain(material)
        do throws(ServerError) { key = try Self.key(material) } catch {
            Self.release(chain, length)
            throw error
        }
    }

    deinit {
        gnutls_privkey_deinit(key)
        Self.release(chain, length)
    }

    /// Passes the chain and the key to a handshake.
    func present(
        _ chain: UnsafeMutablePointer<UnsafeMutablePointer<gnutls_pcert_st>?>, _ length: UnsafeMutablePointer<UInt32>,
        _ key: UnsafeMutablePointer<gnutls_privkey_t?>
    ) {
        chain.pointee = self.chain
        length.pointee = self.length
        key.pointee = self.key
    }

    /// Checks with GnuTLS that the key belongs to the certificate.
    private static func requirePair(_ material: TLSMaterial) throws(ServerError) {
        var credentials: gnutls_certificate_credentials_t?
        try check(gnutls_certificate_allocate_credentials(&credentials))
        defer { gnutls_certificate_free_credentials(credentials) }
        try check(
            withDatum(material.certificate) { certificate in
                withDatum(material.key) { key in
                    gnutls_certificate_set_x509_key_mem2(credentials, certificate, key, GNUTLS_X509_FMT_PEM, nil, 0)
                }
            })
    }

    private static func chain(
        _ material: TLSMaterial
    ) throws(ServerError) -> (UnsafeMutablePointer<gnutls_pcert_st>, UInt32) {
        let chain = UnsafeMutablePointer<gnutls_pcert_st>.allocate(capacity: Int(longestChain))
        chain.initialize(repeating: gnutls_pcert_st(), count: Int(longestChain))
        var length = longestChain
        let code = withDatum(material.certificate) {
            gnutls_pcert_list_import_x509_raw(chain, &length, $0, GNUTLS_X509_FMT_PEM, 0)
        }
        guard code >= 0 else {
            chain.deallocate()
            throw failure(code)
        }
        return (chain, length)
    }

    private static func key(_ material: TLSMaterial) throws(ServerError) -> gnutls_privkey_t {
        var key: gnutls_privkey_t?
        try check(gnutls_privkey_init(&key))
        guard let key else { throw .tls("no memory") }
        let code = withDatum(material.key) { gnutls_privkey_import_x509_raw(key, $0, GNUTLS_X509_FMT_PEM, nil, 0) }
        guard code >= 0 else {
            gnutls_privkey_deinit(key)
            throw failure(code)
        }
        return key
    }

    private static func release(_ chain: UnsafeMutablePointer<gnutls_pcert_st>, _ length: UInt32) {
        for index in 0..<Int(length) { gnutls_pcert_deinit(chain + index) }
        chain.deallocate()
    }

    /// Calls `body` with the text as a GnuTLS datum, without the NUL at its end.
    private static func withDatum(_ text: [CChar], _ body: (UnsafePointer<gnutls_datum_t>) -> Int32) -> Int32 {
        text.withUnsafeBytes { bytes in
            var datum = gnutls_datum_t(
                data: UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress),
                size: UInt32(clamping: bytes.count - 1))
            return body(&datum)
        }
    }

    private static func check(_ code: Int32) throws(ServerError) {
        guard code >= 0 else { throw failure(code) }
    }

    private static func failure(_ code: Int32) -> ServerError {
        .tls(gnutls_strerror(code).map { String(cString: $0) } ?? "\(code)")
    }
}

extension Callbacks {
    /// Called when a TLS handshake needs a certificate. libmicrohttpd has stored the connection as the pointer of the
    /// TLS session.
    static let identity:
        @convention(c) (
            gnutls_session_t?, UnsafePointer<gnutls_datum_t>?, Int32, UnsafePointer<gnutls_pk_algorithm_t>?, Int32,
            UnsafeMutablePointer<UnsafeMutablePointer<gnutls_pcert_st>?>?, UnsafeMutablePointer<UInt32>?,
            UnsafeMutablePointer<gnutls_privkey_t?>?
        ) -> Int32 = { session, _, _, _, _, chain, length, key in
            guard let connection = gnutls_session_get_ptr(session), let chain, let length, let key,
                let raw = shim_connection_context(OpaquePointer(connection)),
                let identity = Unmanaged<HTTPConnection>.fromOpaque(raw).takeUnretainedValue().core.identities.last
            else { return -1 }
            identity.present(chain, length, key)
            return 0
        }
}
