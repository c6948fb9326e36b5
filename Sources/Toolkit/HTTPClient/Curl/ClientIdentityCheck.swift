import CCurl
import Glibc

/// Checks if libcurl can read certificates and keys, by beginning a TLS handshake without a peer.
///
/// libcurl reads a certificate and its key after a connection is open, and the authorities while it waits for the
/// server's first message (some versions read both at the same time). The check therefore uses a connection to a local
/// socket whose other end is already closed. The check runs the same code that reads the identity for real requests.
final class ClientIdentityCheck {
    private let curl: UnsafeMutableRawPointer
    private let listener: Listener

    /// Creates a check with its local socket.
    ///
    /// - Returns: `nil` when memory or a socket cannot be allocated.
    init?() {
        guard Multi.startFailure == nil, let listener = Listener(), let curl = curl_easy_init() else { return nil }
        (self.curl, self.listener) = (curl, listener)
        var setting = Setting(curl)
        setting.long(CURLOPT_NOSIGNAL, 1)
        setting.text(CURLOPT_URL, "https://127.0.0.1:\(listener.port)/")
        setting.text(CURLOPT_PROXY, "")
        setting.text(CURLOPT_KEYPASSWD, "")
        setting.long(CURLOPT_TIMEOUT_MS, 5000)
        setting.text(CURLOPT_CAPATH, nil)
        setting.pointer(CURLOPT_SSL_CTX_DATA, Unmanaged.passUnretained(listener).toOpaque())
        setting.onHandshake { _, _, context in
            context.map { Unmanaged<Listener>.fromOpaque($0).takeUnretainedValue().closeFirst() }
            return CURLE_OK
        }
        guard setting.code == CURLE_OK else { return nil }
    }

    deinit { curl_easy_cleanup(curl) }

    func read(
        authorities: [UInt8], or reason: ClientIdentityError.Reason
    ) throws(ClientIdentityError) {
        try begin(nil, authorities, refusedWith: CURLE_SSL_CACERT_BADFILE, reason)
    }

    func use(_ pair: ClientIdentity.Pair) throws(ClientIdentityError) {
        try begin(pair, pair.certificate, refusedWith: CURLE_SSL_CERTPROBLEM, .privateKey)
    }

    /// Begins a TLS handshake with a certificate and authorities. Throws an error if libcurl cannot read them.
    ///
    /// - Parameters:
    ///   - authorities: the authorities in PEM. They must not be empty, because libcurl would otherwise read all
    ///     authorities of the system.
    ///   - refusal: the error code of libcurl that means that libcurl cannot read the identity.
    ///   - reason: the reason of the error that is thrown for this error code.
    private func begin(
        _ pair: ClientIdentity.Pair?, _ authorities: [UInt8], refusedWith refusal: CURLcode,
        _ reason: ClientIdentityError.Reason
    ) throws(ClientIdentityError) {
        var setting = Setting(curl)
        setting.bytes(CURLOPT_SSLCERT_BLOB, pair?.certificate)
        setting.bytes(CURLOPT_SSLKEY_BLOB, pair?.key)
        setting.bytes(CURLOPT_CAINFO_BLOB, authorities)
        guard setting.code == CURLE_OK else { throw ClientIdentityError(.notChecked) }
        switch curl_easy_perform(curl) {
        // The handshake began and failed because there is no peer, so libcurl has read the identity successfully.
        case CURLE_SSL_CONNECT_ERROR: return
        case refusal: throw ClientIdentityError(reason)
        default: throw ClientIdentityError(.notChecked)
        }
    }
}

/// A listening socket on the loopback interface. The kernel completes connections to the socket before the program
/// accepts them.
private final class Listener {
    private let descriptor: Int32
    private(set) var port: UInt16 = 0

    init?() {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isOpen else { return nil }
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }

    func closeFirst() {
        let other = accept(descriptor, nil, nil)
        if other >= 0 { close(other) }
    }
}
