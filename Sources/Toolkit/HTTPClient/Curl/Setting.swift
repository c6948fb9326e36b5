import CCurl

/// Sets options of an easy handle and remembers the first error.
struct Setting {
    private let curl: UnsafeMutableRawPointer
    private(set) var code = CURLE_OK

    init(_ curl: UnsafeMutableRawPointer) { self.curl = curl }

    mutating func long(_ option: CURLoption, _ value: Int) { check(shim_easy_set_long(curl, option, value)) }

    mutating func offset(_ option: CURLoption, _ value: curl_off_t) { check(shim_easy_set_offset(curl, option, value)) }

    /// Sets a text, which libcurl copies.
    mutating func text(_ option: CURLoption, _ value: UnsafePointer<CChar>?) {
        check(shim_easy_set_text(curl, option, value))
    }

    /// Sets a pointer, which libcurl keeps.
    mutating func pointer(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) {
        check(shim_easy_set_pointer(curl, option, value))
    }

    /// Sets the header list, to which libcurl keeps a pointer.
    mutating func headers(_ value: UnsafeMutablePointer<curl_slist>?) { check(shim_easy_set_headers(curl, value)) }

    /// Sets bytes, which libcurl copies; `nil` for none.
    mutating func bytes(_ option: CURLoption, _ value: [UInt8]?) {
        guard let value else { return check(shim_easy_set_bytes(curl, option, nil, 0)) }
        value.withUnsafeBytes { check(shim_easy_set_bytes(curl, option, $0.baseAddress, $0.count)) }
    }

    /// Sets the time within which the whole response must arrive; `nil` for a response that is read as it arrives.
    mutating func deadline(_ timeout: Duration?) {
        // A response that is read whole keeps its chunk framing, which counts towards its limit; see ``ChunkDecoder``.
        long(CURLOPT_HTTP_TRANSFER_DECODING, timeout == nil ? 1 : 0)
        // Zero means "no deadline"; durations are never rounded down to it.
        long(CURLOPT_TIMEOUT_MS, timeout.map { $0.milliseconds } ?? 0)
    }

    /// Sets the client certificate and the trusted authorities of the TLS handshake.
    ///
    /// - Parameter directory: a directory of certificate authorities, searched when the identity has none of its own.
    mutating func identity(_ identity: ClientIdentity?, directory: String?) {
        bytes(CURLOPT_SSLCERT_BLOB, identity?.pair?.certificate)
        bytes(CURLOPT_SSLKEY_BLOB, identity?.pair?.key)
        bytes(CURLOPT_CAINFO_BLOB, identity?.authorities)
        // libcurl adds the directory to the given authorities instead of replacing it by them.
        text(CURLOPT_CAPATH, identity?.authorities == nil ? directory : nil)
    }

    mutating func onBytes(_ option: CURLoption, _ callback: curl_write_callback) {
        check(shim_easy_on_bytes(curl, option, callback))
    }

    mutating func onOpenSocket(_ callback: curl_opensocket_callback) {
        check(shim_easy_on_open_socket(curl, callback))
    }

    mutating func onRequest(_ callback: curl_prereq_callback) { check(shim_easy_on_request(curl, callback)) }

    mutating func onHandshake(_ callback: curl_ssl_ctx_callback) { check(shim_easy_on_handshake(curl, callback)) }

    mutating func onCloseSocket(_ callback: curl_closesocket_callback) {
        check(shim_easy_on_close_socket(curl, callback))
    }

    private mutating func check(_ result: CURLcode) {
        if code == CURLE_OK { code = result }
    }
}
