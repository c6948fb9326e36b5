internal import CCurl
import CLinux
internal import Glibc
internal import Text

/// One libcurl easy handle. It is configured once and reused for many transfers.
///
/// libcurl stores an unretained pointer to this object (`WRITEDATA` and similar options). The ``TransferLoop`` retains
/// every handle until the multi handle is released, so the pointer is valid in each callback.
final class EasyHandle {
    let curl: UnsafeMutableRawPointer
    /// The current transfer, which the callbacks use; `nil` while the handle is not in the multi handle.
    var transfer: Transfer?
    private let transferLoop: Unmanaged<TransferLoop>
    private let errorText: UnsafeMutablePointer<CChar>
    /// True when the identity of the last transfer is still set in the handle.
    private var hasIdentity = false
    /// True when the explicit method of the last transfer is still set in the handle.
    private var hasOwnMethod = false
    /// The total timeout that is still set in the handle, from the last transfer; `nil` when no timeout is set.
    private var totalTimeout: Duration?
    /// The system's directory of certificate authorities; `nil` when the options contain a file of authorities.
    private let authorityDirectory: String?

    /// Creates a handle with the settings that are the same for all transfers.
    ///
    /// - Returns: `nil` when memory cannot be allocated.
    init?(transferLoop: TransferLoop, options: ClientOptions, multi: Multi) {
        guard let curl = curl_easy_init() else { return nil }
        self.curl = curl
        self.transferLoop = .passUnretained(transferLoop)
        authorityDirectory = options.caFile == nil ? Self.systemDirectory : nil
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        guard configure(options, multi) else { return nil }
    }

    deinit {
        curl_easy_cleanup(curl)
        errorText.deallocate()
    }

    /// libcurl's message about the last failure; empty when there was no failure.
    var errorMessage: String { String(cString: errorText) }

    // MARK: One transfer

    /// Configures the handle for a transfer's request. Returns the error of the first option that libcurl rejects, or
    /// `CURLE_OK`.
    func prepare(for transfer: Transfer) -> CURLcode {
        self.transfer = transfer
        errorText.pointee = 0
        var setting = Setting(curl)
        setting.text(CURLOPT_URL, transfer.image.url)
        setting.headers(transfer.image.headers)
        switch transfer.image.shape {
        case .get, .withoutBody: setting.long(CURLOPT_HTTPGET, 1)
        case .head: setting.long(CURLOPT_NOBODY, 1)
        case .withBody:
            setting.long(CURLOPT_POST, 1)
            setting.offset(CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(transfer.image.bodyCount))
            setting.pointer(CURLOPT_POSTFIELDS, transfer.image.body)
        }
        if hasOwnMethod || transfer.image.hasOwnMethod {
            hasOwnMethod = transfer.image.hasOwnMethod
            setting.text(CURLOPT_CUSTOMREQUEST, hasOwnMethod ? transfer.image.method : nil)
        }
        if hasIdentity || transfer.identity != nil {
            setting.identity(transfer.identity, directory: authorityDirectory)
            hasIdentity = transfer.identity != nil
        }
        if totalTimeout != transfer.totalTimeout {
            totalTimeout = transfer.totalTimeout
            setting.deadline(totalTimeout)
        }
        return setting.code
    }

    /// Releases the transfer. Call it only after the handle was removed from the multi handle, because libcurl reads
    /// the memory of the request until then.
    func clear() { transfer = nil }

    /// Resumes a paused transfer. libcurl may call the callbacks before this function returns.
    func resume() -> CURLcode { curl_easy_pause(curl, CURLPAUSE_CONT) }

    // MARK: Measurements of a transfer

    func timings() -> OutboundTimings {
        let lookedUp = microseconds(CURLINFO_NAMELOOKUP_TIME_T)
        let connected = microseconds(CURLINFO_CONNECT_TIME_T)
        let secured = microseconds(CURLINFO_APPCONNECT_TIME_T)
        var timings = OutboundTimings()
        timings.dns = .microseconds(lookedUp)
        timings.connect = .microseconds(max(connected - lookedUp, 0))
        timings.tls = .microseconds(max(secured - connected, 0))
        timings.firstByte = .microseconds(microseconds(CURLINFO_STARTTRANSFER_TIME_T))
        timings.total = .microseconds(microseconds(CURLINFO_TOTAL_TIME_T))
        return timings
    }

    /// True when the host name was resolved or did not need to be resolved.
    var hasLookedUp: Bool { microseconds(CURLINFO_NAMELOOKUP_TIME_T) > 0 }

    /// True when a connection was ready to send the request.
    var hasConnected: Bool { microseconds(CURLINFO_PRETRANSFER_TIME_T) > 0 }

    /// The `errno` of the last failed attempt to connect.
    var systemError: Int32 {
        var value = 0
        shim_easy_get_long(curl, CURLINFO_OS_ERRNO, &value)
        return Int32(truncatingIfNeeded: value)
    }

    /// The numeric address of the last connection; `nil` when there was none.
    var address: String? {
        var text: UnsafePointer<CChar>?
        shim_easy_get_text(curl, CURLINFO_PRIMARY_IP, &text)
        guard let text, text.pointee != 0 else { return nil }
        return String(cString: text)
    }

    private func microseconds(_ what: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        shim_easy_get_offset(curl, what, &value)
        return Int64(value)
    }

    // MARK: Configuration

    private func configure(_ options: ClientOptions, _ multi: Multi) -> Bool {
        let context = Unmanaged.passUnretained(self).toOpaque()
        var setting = Setting(curl)
        setting.long(CURLOPT_NOSIGNAL, 1)
        setting.long(CURLOPT_FOLLOWLOCATION, 0)
        setting.text(CURLOPT_PROTOCOLS_STR, "http,https")
        setting.long(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        // The empty string turns off proxies. Without this option, libcurl would use the proxy of the environment
        // variables.
        setting.text(CURLOPT_PROXY, "")
        // This option prevents libcurl from reading the environment variable `no_proxy`.
        setting.text(CURLOPT_NOPROXY, "*")
        setting.long(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        setting.long(CURLOPT_TCP_NODELAY, 1)
        setting.long(CURLOPT_PATH_AS_IS, 1)
        setting.long(CURLOPT_DISALLOW_USERNAME_IN_URL, options.addressGuard.isEnabled ? 1 : 0)
        // Without this option, ending a transfer during its name lookup would wait for the resolver's thread. One name
        // server that does not respond would then block the loop for all transfers.
        setting.long(CURLOPT_QUICK_EXIT, 1)
        // A connection that was idle for more than 60 s is not reused, because the server has probably closed it.
        setting.long(CURLOPT_MAXAGE_CONN, 60)
        setting.long(CURLOPT_UPLOAD_BUFFERSIZE, 16 * 1024)
        setting.text(CURLOPT_USERAGENT, options.userAgent)
        if let file = options.caFile { setting.text(CURLOPT_CAINFO, file) }
        setting.text(CURLOPT_CAPATH, authorityDirectory)
        // Without this option, OpenSSL would ask on the terminal for the pass phrase of an encrypted key.
        setting.text(CURLOPT_KEYPASSWD, "")
        // `milliseconds` is never zero. libcurl would treat zero as its default of 300 s.
        setting.long(CURLOPT_CONNECTTIMEOUT_MS, options.connectTimeout.milliseconds)
        setting.deadline(totalTimeout)
        setting.pointer(CURLOPT_ERRORBUFFER, errorText)
        setting.pointer(CURLOPT_PRIVATE, context)
        setting.pointer(CURLOPT_WRITEDATA, context)
        setting.onBytes(CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            EasyHandle.with(context) { $0.body(UnsafeRawBufferPointer(start: bytes, count: size * count)) } ?? 0
        }
        setting.pointer(CURLOPT_HEADERDATA, context)
        setting.onBytes(CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            EasyHandle.with(context) { $0.header(UnsafeRawBufferPointer(start: bytes, count: size * count)) } ?? 0
        }
        setting.pointer(CURLOPT_OPENSOCKETDATA, context)
        setting.onOpenSocket { context, _, address in
            EasyHandle.with(context) { $0.openSocket(address) } ?? shim_bad_socket
        }
        setting.pointer(CURLOPT_PREREQDATA, context)
        setting.onRequest { context, address, _, _, _ in
            let mayGoOut = EasyHandle.with(context) { $0.mayRequest(at: address) } ?? false
            return mayGoOut ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
        // The callback uses the multi handle's object, because a connection can exist longer than the transfer that has
        // opened it.
        setting.pointer(CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(multi).toOpaque())
        setting.onCloseSocket { context, descriptor in
            context.map { Multi.from($0).forget(descriptor) }
            return close(descriptor)
        }
        return setting.code == CURLE_OK
    }

    /// The directory of certificate authorities that is compiled into libcurl; `nil` when there is none.
    private static let systemDirectory = curl_version_info(shim_version_now).pointee.capath.map { String(cString: $0) }

    private static func with<Result>(
        _ context: UnsafeMutableRawPointer?, _ body: (EasyHandle) -> Result
    ) -> Result? {
        context.map { Unmanaged<EasyHandle>.fromOpaque($0)._withUnsafeGuaranteedRef(body) }
    }

    // MARK: Called by libcurl

    private func body(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard let transfer else { return 0 }
        return transferLoop._withUnsafeGuaranteedRef { $0.received(body: bytes, for: transfer) }
    }

    private func header(_ line: UnsafeRawBufferPointer) -> Int {
        guard let transfer else { return 0 }
        return transferLoop._withUnsafeGuaranteedRef { $0.received(header: line, for: transfer) }
    }

    /// Limits the size of the socket's receive buffer, unless responses may be long (see `smallAnswer`). A server that
    /// sends an endless response fills this buffer before the connection is closed. Without the limit, the buffer could
    /// grow to megabytes for each connection. The size must be set before connecting.
    private func boundReceiving(on descriptor: Int32, _ options: ClientOptions) {
        guard options.responseLimitBytes <= Self.smallAnswer else { return }
        var bytes = Int32(options.responseLimitBytes + options.responseHeaderLimitBytes)
        // The result is ignored, because the default size also works.
        _ = setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// The number of bytes up to which a response counts as short. If ``ClientOptions/responseLimitBytes`` is larger,
    /// the socket's receive buffer is not limited, because a long response over a slow network needs a large buffer.
    private static let smallAnswer = 128 * 1024

    /// Called by libcurl to open the socket for one address of the host. Checks the address with the guard and returns
    /// the socket. An earlier check would not be safe, because libcurl might then connect to another address.
    private func openSocket(_ candidate: UnsafeMutablePointer<curl_sockaddr>?) -> curl_socket_t {
        guard let transfer, let candidate, let address = shim_sockaddr(candidate).flatMap({ IPAddress($0) }) else {
            return shim_bad_socket
        }
        let isPermitted = transferLoop._withUnsafeGuaranteedRef {
            $0.options.addressGuard.permits(address, isPlain: transfer.url.scheme == .http)
        }
        guard isPermitted else {
            transfer.blocked = address
            return shim_bad_socket
        }
        let type = candidate.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(candidate.pointee.family, type, candidate.pointee.protocol)
        guard descriptor >= 0 else {
            transfer.socketError = errno
            return shim_bad_socket
        }
        transferLoop._withUnsafeGuaranteedRef {
            boundReceiving(on: descriptor, $0.options)
            $0.multi.own(descriptor)
        }
        return descriptor
    }

    /// Returns true if the request may be sent on the connection that libcurl has chosen; libcurl closes the connection
    /// otherwise. The connection may be older than the guard's list of allowed addresses, so the connection's address
    /// is checked again if that list was ever replaced.
    private func mayRequest(at address: UnsafePointer<CChar>?) -> Bool {
        guard let transfer else { return false }
        let addressGuard = transferLoop._withUnsafeGuaranteedRef { $0.options.addressGuard }
        guard addressGuard.generation > 0 else { return true }
        guard let address = address.flatMap({ IPAddress(String(cString: $0)) }) else { return false }
        if addressGuard.permits(address, isPlain: transfer.url.scheme == .http) { return true }
        transfer.blocked = address
        return false
    }
}

extension TransferLoop {
    /// Converts libcurl's error code to a failure. Returns `nil` if the client itself stopped reading at the limit of
    /// the response body, because such a response is valid.
    func failure(of transfer: Transfer, _ code: CURLcode, _ handle: EasyHandle) -> OutboundFailure? {
        if code == CURLE_WRITE_ERROR, transfer.response.reachedBodyLimit { return nil }
        let message = handle.errorMessage
        let text = message.isEmpty ? String(cString: curl_easy_strerror(code)) : message
        let reason = Self.reason(of: transfer, code, handle, text)
        let blocked = reason == .blockedAddress ? transfer.blocked.map { " (\($0))" } ?? "" : ""
        return OutboundFailure(reason, detail: "\(text)\(blocked)")
    }

    private static func reason(
        of transfer: Transfer, _ code: CURLcode, _ handle: EasyHandle, _ text: String
    ) -> OutboundFailure.Reason {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST: .dns
        case CURLE_COULDNT_CONNECT: connectReason(transfer, handle)
        case CURLE_OPERATION_TIMEDOUT:
            // A host that is an IP address needs no name lookup. A timeout before the connection is ready is therefore
            // a connect timeout.
            handle.hasConnected ? .timeout : handle.hasLookedUp || transfer.url.isNumeric ? .connectTimeout : .dns
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED,
            CURLE_SSL_CRL_BADFILE, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_USE_SSL_FAILED:
            .tls
        // libcurl 7.88 reports a malformed chunk as a receive error. Only the message contains the cause.
        case CURLE_RECV_ERROR where text.hasSuffix("in chunked-encoding"): .responseInvalid
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE: .reset
        case CURLE_URL_MALFORMAT, CURLE_LOGIN_DENIED, CURLE_BAD_FUNCTION_ARGUMENT: .requestInvalid
        case CURLE_UNSUPPORTED_PROTOCOL where !handle.hasConnected: .requestInvalid
        case CURLE_OUT_OF_MEMORY: .overloaded
        // Only the callback that calls the guard aborts a transfer.
        case CURLE_ABORTED_BY_CALLBACK: .blockedAddress
        default: .responseInvalid
        }
    }

    private static func connectReason(_ transfer: Transfer, _ handle: EasyHandle) -> OutboundFailure.Reason {
        if transfer.blocked != nil { return .blockedAddress }
        if transfer.socketError != 0 { return .overloaded }
        return handle.systemError == ETIMEDOUT ? .connectTimeout : .connectRefused
    }
}
