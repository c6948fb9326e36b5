internal import CCurl
internal import Glibc

extension TransferLoop {
    /// What libcurl's result means; `nil` where reading was stopped on purpose and the answer is good.
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
            // A deadline so short that nothing was begun is still not the name server's fault where there is no name.
            handle.hasConnected ? .timeout : handle.hasLookedUp || transfer.url.isNumeric ? .connectTimeout : .dns
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED,
            CURLE_SSL_CRL_BADFILE, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_USE_SSL_FAILED:
            .tls
        // 7.88 reports a malformed chunk as a failure to receive; only the text tells.
        case CURLE_RECV_ERROR where text.hasSuffix("in chunked-encoding"): .responseInvalid
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE: .reset
        case CURLE_URL_MALFORMAT, CURLE_LOGIN_DENIED, CURLE_BAD_FUNCTION_ARGUMENT: .requestInvalid
        case CURLE_UNSUPPORTED_PROTOCOL where !handle.hasConnected: .requestInvalid
        case CURLE_OUT_OF_MEMORY: .overloaded
        // The only callback that aborts asks the guard.
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
