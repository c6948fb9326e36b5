internal import CNATS
internal import Glibc

/// The functions of libnats, which is loaded when the first connection is opened. A program that opens none needs no
/// library.
struct NATSLibrary: @unchecked Sendable {
    // Safe to share: the functions may be called from any thread.

    /// The library, or the reason why it cannot be used.
    static let shared = Result { () throws(NATSFailure) in try NATSLibrary(named: "libnats.so.3.4") }

    let createOptions: cnats_options_create
    let destroyOptions: cnats_options_destroy
    let setServers: cnats_options_servers
    let setName: cnats_options_text
    let setUser: cnats_options_two_texts
    let setToken: cnats_options_text
    let setCredentialFiles: cnats_options_two_texts
    let setKey: cnats_options_two_texts
    let setSecure: cnats_options_flag
    let loadAuthorities: cnats_options_text
    let loadCertificate: cnats_options_two_texts
    let setTimeout: cnats_options_milliseconds
    let setWriteDeadline: cnats_options_milliseconds
    let setPingInterval: cnats_options_milliseconds
    let setMaxPingsOut: cnats_options_number
    let setMaxReconnect: cnats_options_number
    let setReconnectWait: cnats_options_milliseconds
    let setReconnectJitter: cnats_options_jitter
    let setReconnectBufferSize: cnats_options_number
    let setDisconnected: cnats_options_connection_handler
    let setReconnected: cnats_options_connection_handler
    let setClosed: cnats_options_connection_handler
    let setError: cnats_options_error_handler

    let connect: cnats_connection_connect
    let closeConnection: cnats_connection_end
    let destroyConnection: cnats_connection_end
    let connectionStatus: cnats_connection_status
    let maxPayload: cnats_connection_max_payload
    let lastConnectionError: cnats_connection_last_error
    let publish: cnats_connection_publish
    let flush: cnats_connection_flush
    let subscribe: cnats_connection_subscribe

    let setPendingLimits: cnats_subscription_limits
    let droppedMessages: cnats_subscription_dropped
    let unsubscribe: cnats_subscription_unsubscribe
    let destroySubscription: cnats_subscription_destroy

    let messageData: cnats_message_data
    let messageLength: cnats_message_length
    let destroyMessage: cnats_message_destroy

    let statusText: cnats_status_text
    let lastError: cnats_last_error

    /// Loads the library.
    ///
    /// - Throws: ``NATSFailure/Kind/libraryMissing``, if the library or one of its functions is missing.
    init(named file: String) throws(NATSFailure) {
        // Never unloaded, because the library has threads of its own.
        guard let handle = dlopen(file, RTLD_NOW | RTLD_LOCAL) else {
            let reason = dlerror().map { String(cString: $0) } ?? file
            throw NATSFailure(
                .libraryMissing, "NATS needs \(file); install the Debian package libnats3.4 (\(reason))")
        }
        func function<Function>(_ name: String) throws(NATSFailure) -> Function {
            guard let symbol = dlsym(handle, name) else {
                throw NATSFailure(
                    .libraryMissing, "\(file) has no function \(name); install the Debian package libnats3.4")
            }
            return unsafeBitCast(symbol, to: Function.self)
        }
        createOptions = try function("natsOptions_Create")
        destroyOptions = try function("natsOptions_Destroy")
        setServers = try function("natsOptions_SetServers")
        setName = try function("natsOptions_SetName")
        setUser = try function("natsOptions_SetUserInfo")
        setToken = try function("natsOptions_SetToken")
        setCredentialFiles = try function("natsOptions_SetUserCredentialsFromFiles")
        setKey = try function("natsOptions_SetNKeyFromSeed")
        setSecure = try function("natsOptions_SetSecure")
        loadAuthorities = try function("natsOptions_LoadCATrustedCertificates")
        loadCertificate = try function("natsOptions_LoadCertificatesChain")
        setTimeout = try function("natsOptions_SetTimeout")
        setWriteDeadline = try function("natsOptions_SetWriteDeadline")
        setPingInterval = try function("natsOptions_SetPingInterval")
        setMaxPingsOut = try function("natsOptions_SetMaxPingsOut")
        setMaxReconnect = try function("natsOptions_SetMaxReconnect")
        setReconnectWait = try function("natsOptions_SetReconnectWait")
        setReconnectJitter = try function("natsOptions_SetReconnectJitter")
        setReconnectBufferSize = try function("natsOptions_SetReconnectBufSize")
        setDisconnected = try function("natsOptions_SetDisconnectedCB")
        setReconnected = try function("natsOptions_SetReconnectedCB")
        setClosed = try function("natsOptions_SetClosedCB")
        setError = try function("natsOptions_SetErrorHandler")
        connect = try function("natsConnection_Connect")
        closeConnection = try function("natsConnection_Close")
        destroyConnection = try function("natsConnection_Destroy")
        connectionStatus = try function("natsConnection_Status")
        maxPayload = try function("natsConnection_GetMaxPayload")
        lastConnectionError = try function("natsConnection_GetLastError")
        publish = try function("natsConnection_Publish")
        flush = try function("natsConnection_FlushTimeout")
        subscribe = try function("natsConnection_Subscribe")
        setPendingLimits = try function("natsSubscription_SetPendingLimits")
        droppedMessages = try function("natsSubscription_GetDropped")
        unsubscribe = try function("natsSubscription_Unsubscribe")
        destroySubscription = try function("natsSubscription_Destroy")
        messageData = try function("natsMsg_GetData")
        messageLength = try function("natsMsg_GetDataLength")
        destroyMessage = try function("natsMsg_Destroy")
        statusText = try function("natsStatus_GetText")
        lastError = try function("nats_GetLastError")
    }
}

extension NATSLibrary {
    /// The failure that a status of the library stands for. Call it on the thread on which the function failed.
    ///
    /// - Parameter secrets: texts that are removed from the message.
    func failure(_ status: natsStatus, in operation: String, hiding secrets: [String]) -> NATSFailure {
        let detail = lastError(nil).map { String(cString: $0) } ?? ""
        return failure(status, in: operation, detail: detail, hiding: secrets)
    }

    /// The failure that ended a connection for good.
    func failure(ofConnection connection: OpaquePointer, hiding secrets: [String]) -> NATSFailure {
        var text: UnsafePointer<CChar>?
        let status = lastConnectionError(connection, &text)
        return failure(
            status, in: "the connection", detail: text.map { String(cString: $0) } ?? "", hiding: secrets)
    }

    /// The text of the server's last error on a connection.
    func lastText(ofConnection connection: OpaquePointer) -> String {
        var text: UnsafePointer<CChar>?
        _ = lastConnectionError(connection, &text)
        return text.map { String(cString: $0) } ?? ""
    }

    private func failure(
        _ status: natsStatus, in operation: String, detail: String, hiding secrets: [String]
    ) -> NATSFailure {
        let kind: NATSFailure.Kind =
            switch status {
            case NATS_CONNECTION_CLOSED: .closed
            case NATS_NO_SERVER: .unreachable
            case NATS_STALE_CONNECTION, NATS_CONNECTION_DISCONNECTED: .notConnected
            case NATS_CONNECTION_AUTH_FAILED: .unauthorized
            case NATS_SECURE_CONNECTION_WANTED, NATS_SECURE_CONNECTION_REQUIRED, NATS_SSL_ERROR: .tls
            case NATS_TIMEOUT: .timeout
            default: .system
            }
        // The library writes the place in its source before some texts: `(conn.c:2088): `.
        var detail = detail
        if detail.hasPrefix("("), let place = detail.firstRange(of: "): ") {
            detail = String(detail[place.upperBound...])
        }
        let text = statusText(status).map { String(cString: $0) } ?? "status \(status)"
        var message = "NATS: \(operation) failed: \(text)"
        if !detail.isEmpty, detail != text { message += " (\(detail))" }
        for secret in secrets where !secret.isEmpty { message = message.replacing(secret, with: "…") }
        return NATSFailure(kind, message)
    }
}
