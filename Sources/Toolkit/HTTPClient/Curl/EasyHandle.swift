internal import CCurl
import CLinux
internal import Glibc
internal import Text

/// One libcurl easy handle, configured once and reused for many transfers.
///
/// libcurl keeps an unretained pointer to this object (`WRITEDATA` and similar options). The ``TransferLoop`` keeps
/// every handle until the multi handle is gone, so the pointer is valid whenever libcurl calls back.
final class EasyHandle {
    let curl: UnsafeMutableRawPointer
    /// The transfer that the callbacks work for; set while the handle is in the multi handle.
    var transfer: Transfer?
    private let transferLoop: Unmanaged<TransferLoop>
    private let errorText: UnsafeMutablePointer<CChar>
    /// The options that the last transfer has set and that are still in effect: an identity, an explicit method, and a
    /// deadline.
    private var hasIdentity = false
    private var hasOwnMethod = false
    private var totalTimeout: Duration?
    /// The system's directory of certificate authorities; `nil` when a file is trusted instead.
    private let authorityDirectory: String?

    /// - Returns: `nil` when there is no memory.
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

    /// libcurl's message about the last failure; empty when there is none.
    var errorMessage: String { String(cString: errorText) }

    // MARK: One transfer

    /// Configures the handle for a transfer's request.
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

    /// Releases the transfer. Call it only when the handle is outside the multi handle: until then libcurl reads the
    /// request's memory.
    func clear() { transfer = nil }

    /// Resumes a paused transfer; libcurl may call back before this returns.
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

    /// True when the name was resolved, or needed no resolving.
    var hasLookedUp: Bool { microseconds(CURLINFO_NAMELOOKUP_TIME_T) > 0 }

    /// True when a connection was ready to send on.
    var hasConnected: Bool { microseconds(CURLINFO_PRETRANSFER_TIME_T) > 0 }

    /// The `errno` of the last failed connect.
    var systemError: Int32 {
        var value = 0
        shim_easy_get_long(curl, CURLINFO_OS_ERRNO, &value)
        return Int32(truncatingIfNeeded: value)
    }

    /// The numeric address of the connection that was used last.
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
        // An empty string: without one libcurl would use the environment's proxy.
        setting.text(CURLOPT_PROXY, "")
        // This keeps libcurl from reading the exceptions in the environment.
        setting.text(CURLOPT_NOPROXY, "*")
        setting.long(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        setting.long(CURLOPT_TCP_NODELAY, 1)
        setting.long(CURLOPT_PATH_AS_IS, 1)
        setting.long(CURLOPT_DISALLOW_USERNAME_IN_URL, options.addressGuard.isEnabled ? 1 : 0)
        // Without this option, ending a transfer whose name is still being resolved waits for the resolver's thread,
        // and one silent name server would stop the loop for all transfers.
        setting.long(CURLOPT_QUICK_EXIT, 1)
        // A connection that has been idle for longer is more likely closed at the other end than usable.
        setting.long(CURLOPT_MAXAGE_CONN, 60)
        setting.long(CURLOPT_UPLOAD_BUFFERSIZE, 16 * 1024)
        setting.text(CURLOPT_USERAGENT, options.userAgent)
        if let file = options.caFile { setting.text(CURLOPT_CAINFO, file) }
        setting.text(CURLOPT_CAPATH, authorityDirectory)
        // Without a pass phrase, OpenSSL would ask for that of an encrypted key on the terminal.
        setting.text(CURLOPT_KEYPASSWD, "")
        // Zero would mean 300 s.
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
        // The multi handle's data, because a connection outlives the transfer that opened it.
        setting.pointer(CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(multi).toOpaque())
        setting.onCloseSocket { context, descriptor in
            context.map { Multi.from($0).forget(descriptor) }
            return close(descriptor)
        }
        return setting.code == CURLE_OK
    }

    /// The directory of authorities that libcurl was built to search.
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

    /// Limits the socket's receive buffer. A receiver whose response never ends fills that buffer before its
    /// connection is closed, which takes megabytes for each connection without a limit. Must be set before connecting.
    private func boundReceiving(on descriptor: Int32, _ options: ClientOptions) {
        guard options.responseLimitBytes <= Self.smallAnswer else { return }
        var bytes = Int32(options.responseLimitBytes + options.responseHeaderLimitBytes)
        // If the kernel rejects the value, its default size works as well.
        _ = setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// The largest response limit for which the receive buffer is limited. For longer responses the window has to grow
    /// with the round-trip time.
    private static let smallAnswer = 128 * 1024

    /// Opens the socket for one candidate address, after the name was resolved and before anything is sent. This is
    /// the one place where the address that is checked is certain to be the address that is connected to.
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

    /// True when the request may be sent on the connection that libcurl has chosen. The connection may have been
    /// opened under an earlier list of the guard. If the list has never been replaced, it has checked every
    /// connection. A connection that is rejected is closed.
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
    /// Translates libcurl's result into a failure; `nil` when reading was stopped on purpose and the response is
    /// valid.
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
            // With a deadline so short that nothing was begun, a numeric host still counts as a connect timeout: there
            // was no name to look up.
            handle.hasConnected ? .timeout : handle.hasLookedUp || transfer.url.isNumeric ? .connectTimeout : .dns
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED,
            CURLE_SSL_CRL_BADFILE, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_USE_SSL_FAILED:
            .tls
        // libcurl 7.88 reports a malformed chunk as a receive error; only the message shows the cause.
        case CURLE_RECV_ERROR where text.hasSuffix("in chunked-encoding"): .responseInvalid
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE: .reset
        case CURLE_URL_MALFORMAT, CURLE_LOGIN_DENIED, CURLE_BAD_FUNCTION_ARGUMENT: .requestInvalid
        case CURLE_UNSUPPORTED_PROTOCOL where !handle.hasConnected: .requestInvalid
        case CURLE_OUT_OF_MEMORY: .overloaded
        // The only callback that aborts is the one that asks the guard.
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
