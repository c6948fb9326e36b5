import CCurl

/// Sets options of an easy handle and stores the first error.
struct Setting {
    private let curl: UnsafeMutableRawPointer
    private(set) var code = CURLE_OK

    init(_ curl: UnsafeMutableRawPointer) { self.curl = curl }

    mutating func long(_ option: CURLoption, _ value: Int) { check(shim_easy_set_long(curl, option, value)) }

    mutating func offset(_ option: CURLoption, _ value: curl_off_t) { check(shim_easy_set_offset(curl, option, value)) }

    /// Sets an option to a text. libcurl copies the text.
    mutating func text(_ option: CURLoption, _ value: UnsafePointer<CChar>?) {
        check(shim_easy_set_text(curl, option, value))
    }

    /// Sets an option to a pointer. libcurl stores the pointer, so the memory must stay valid.
    mutating func pointer(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) {
        check(shim_easy_set_pointer(curl, option, value))
    }

    /// Sets the header list. libcurl stores a pointer to it, so the list must stay valid.
    mutating func headers(_ value: UnsafeMutablePointer<curl_slist>?) { check(shim_easy_set_headers(curl, value)) }

    /// Sets an option to bytes, which libcurl copies; `nil` clears the option.
    mutating func bytes(_ option: CURLoption, _ value: [UInt8]?) {
        guard let value else { return check(shim_easy_set_bytes(curl, option, nil, 0)) }
        value.withUnsafeBytes { check(shim_easy_set_bytes(curl, option, $0.baseAddress, $0.count)) }
    }

    /// Sets the deadline of the whole response, and turns off libcurl's decoding of chunks. `nil` sets no deadline and
    /// turns the decoding on, for a response that is read while it arrives.
    mutating func deadline(_ timeout: Duration?) {
        // libcurl does not decode the chunks of a response with a deadline, so that the chunk framing counts towards
        // the limit; see ``ChunkDecoder``.
        long(CURLOPT_HTTP_TRANSFER_DECODING, timeout == nil ? 1 : 0)
        // Zero means "no deadline". `milliseconds` is never zero.
        long(CURLOPT_TIMEOUT_MS, timeout.map { $0.milliseconds } ?? 0)
    }

    /// Sets the client certificate and the trusted authorities of the TLS handshake.
    ///
    /// - Parameter directory: a directory of certificate authorities, which is used when the identity contains no
    ///   authorities.
    mutating func identity(_ identity: ClientIdentity?, directory: String?) {
        bytes(CURLOPT_SSLCERT_BLOB, identity?.pair?.certificate)
        bytes(CURLOPT_SSLKEY_BLOB, identity?.pair?.key)
        bytes(CURLOPT_CAINFO_BLOB, identity?.authorities)
        // The directory is removed if the identity contains authorities, because libcurl would otherwise trust both.
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
