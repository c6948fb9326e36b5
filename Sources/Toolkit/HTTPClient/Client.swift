internal import Glibc
internal import Locking

/// An HTTP/1.1 client that uses libcurl on one event loop thread. It reuses connections and limits its use of
/// resources.
///
/// The client never follows redirects, never uses a proxy, ignores environment variables and does not decompress
/// responses. Each time it opens a connection, it checks the address that it connects to with the ``AddressGuard``.
///
/// ```swift
/// let client = try Client(options: ClientOptions(userAgent: "parley/1.0"))
/// let result = await client.send(OutboundRequest(method: "POST", url: url, body: body))
/// if let status = result.status, result.failure == nil { … }
/// await client.shutdown()
/// ```
public final class Client: Sendable {
    /// The options that the client was created with.
    public let options: ClientOptions
    private let mailbox: Mailbox

    /// Creates the client and starts its event loop thread.
    ///
    /// - Throws: ``ClientError`` when the system cannot provide a thread, a file descriptor or memory.
    public init(options: ClientOptions = ClientOptions()) throws(ClientError) {
        if let failure = Multi.startFailure { throw ClientError(message: failure) }
        self.options = options
        mailbox = Mailbox(eventFD: try EventFD())
        let transferLoop = try TransferLoop(options: options, mailbox: mailbox)
        let isStarted = startThread(name: "http-client") { [mailbox] in
            transferLoop.run()
            mailbox.finish()
        }
        guard isStarted else { throw ClientError(message: "the system cannot start a thread") }
    }

    deinit { mailbox.close() }

    /// Sends a request and reads its response within the limits of the options. Never throws; a failure is part of the
    /// result.
    ///
    /// Cancelling the task aborts the transfer and closes its connection. The result is then
    /// ``OutboundFailure/Reason/cancelled``, although the peer may have acted on the request.
    ///
    /// If a reused connection is closed before a byte of the response has arrived, the client sends the request again
    /// on a new connection. A receiver that closes a connection in the middle of a request may therefore receive the
    /// request twice.
    public func send(_ request: OutboundRequest) async -> OutboundResult {
        let transfer: Transfer
        do {
            transfer = try Transfer(request, options, deadline: request.totalTimeout ?? options.totalTimeout)
        } catch {
            return OutboundResult(failure: error)
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                transfer.sink = .whole(continuation)
                if !mailbox.post([.start(transfer)]) { continuation.resume(returning: Self.stopped) }
            }
        } onCancel: {
            transfer.cancel(through: mailbox)
        }
    }

    /// Creates a group of requests. Their results are passed to a callback, and the requests can be cancelled together.
    ///
    /// - Parameters:
    ///   - linger: the maximum time for which a result is delayed to deliver it together with further results. Results
    ///     are not delayed when no other request of the group is active.
    ///   - receive: called with one or more results, in the order in which the requests ended. Each request has exactly
    ///     one result. The closure runs on the loop thread and must not block, because all transfers wait for it. For
    ///     a request that cannot be sent, ``OutboundGroup/send(_:)`` calls the closure on the thread of its own caller.
    public func group(
        linger: Duration = .zero, receive: @escaping @Sendable ([OutboundGroup.Result]) -> Void
    ) -> OutboundGroup {
        OutboundGroup(options: options, mailbox: mailbox, linger: linger, receive: receive)
    }

    /// Sends a request and returns a response whose body is read while it arrives, for instance an event stream.
    ///
    /// Returns as soon as the header is complete. ``OutboundRequest/totalTimeout`` and the response limit do not
    /// apply. A stream counts towards ``ClientOptions/perHostConnections`` for its whole lifetime.
    ///
    /// - Parameter idleTimeout: the time after which the stream fails if no bytes arrive. The time does not run while
    ///   the client reads nothing from the connection because the buffer of the stream is full.
    /// - Throws: ``OutboundFailure`` when the request fails before the header of the response is complete.
    public func stream(
        _ request: OutboundRequest, idleTimeout: Duration
    ) async throws(OutboundFailure) -> OutboundStream {
        let buffer = StreamBuffer()
        let transfer = try Transfer(request, options, stream: buffer, idleTimeout: idleTimeout)
        // The reader is created before the wait. If the waiting task is cancelled, the reader is released, which aborts
        // the transfer.
        let reader = StreamReader(transfer: transfer, buffer: buffer, mailbox: mailbox)
        let head = await withTaskCancellationHandler {
            await buffer.awaitHead { mailbox.post([.start(transfer)]) }
        } onCancel: {
            transfer.cancel(through: mailbox)
        }
        let answer = try head.get()
        return OutboundStream(status: answer.status, headers: answer.headers, reader: reader)
    }

    /// Ends every transfer with ``OutboundFailure/Reason/cancelled``, closes every connection and returns when the loop
    /// thread has ended. Requests that are sent later fail with the same reason. A second shutdown has no effect.
    public func shutdown() async {
        mailbox.close()
        await mailbox.finished()
    }

    static let stopped = OutboundResult(
        failure: OutboundFailure(.cancelled, detail: "the HTTP client was shut down"))
}

/// The reason why a ``Client`` could not be started.
public struct ClientError: Error, Sendable, Equatable {
    /// The system's error message, for the log.
    public var message: String

    /// Returns the error of the system call that has just failed, from `errno`.
    static func system(_ call: String) -> ClientError {
        ClientError(message: "\(call): \(String(cString: strerror(errno)))")
    }
}

/// The reason why a transfer has no complete response.
public struct OutboundFailure: Error, Sendable, Equatable {
    /// The class of a failure. The raw value is stored with each delivery attempt.
    ///
    /// A redirect or an error status is not a failure: it is a response, which the caller must interpret.
    public enum Reason: String, Sendable, CaseIterable {
        /// The host name could not be resolved, or not within the time limit.
        case dns
        /// The peer refused the connection, or there is no route to the address.
        case connectRefused = "connect_refused"
        /// The connection, including TLS, was not ready within ``ClientOptions/connectTimeout`` or before the deadline
        /// of the whole transfer.
        case connectTimeout = "connect_timeout"
        /// The TLS handshake failed, or the certificate is not trusted.
        case tls
        /// The ``AddressGuard`` forbids the URL, or every address that it resolves to.
        case blockedAddress = "blocked_address"
        /// The deadline of the transfer passed after the connection was ready. For a stream: no bytes arrived during
        /// the idle timeout.
        case timeout
        /// The peer closed or reset the connection before the response was complete.
        case reset
        /// The response is not HTTP, or its header is larger than allowed.
        case responseInvalid = "response_invalid"
        /// The task was cancelled, or the client was shut down.
        case cancelled
        /// The request cannot be sent: its URL, method or a header field is malformed.
        case requestInvalid = "request_invalid"
        /// Too many requests are waiting, or memory or descriptors are exhausted.
        case overloaded
    }

    /// The class of the failure.
    public var reason: Reason
    /// A description for the log. Do not show it to users, because it may contain messages of C libraries and addresses
    /// of internal hosts.
    public var detail: String
    /// A sentence for the user who caused the request; `nil` when there is none. The client never sets it. Callers set
    /// it for failures that occur before a request is sent.
    public var sentence: String?

    /// Creates a failure.
    public init(_ reason: Reason, detail: String, sentence: String? = nil) {
        self.reason = reason
        self.detail = detail
        self.sentence = sentence
    }
}

/// A request that a ``Client`` sends.
public struct OutboundRequest: Sendable {
    /// A header field.
    public typealias Field = (name: String, value: String)

    /// The method. It is sent unchanged, because methods are case-sensitive (RFC 9110, 9.1).
    public var method: String
    /// An absolute `http` or `https` URL in ASCII. Other characters must be percent-encoded, and an internationalized
    /// host must be in its `xn--` form.
    public var url: String
    /// The header fields, in the order in which they are sent.
    ///
    /// The client adds `Host`, `Accept` and `User-Agent` if they are absent, and the length of the body. A request with
    /// `Content-Length`, `Transfer-Encoding` or a malformed field fails with ``OutboundFailure/Reason/requestInvalid``.
    public var headers: [Field]
    /// The body. The client does not add a `Content-Type`.
    public var body: [UInt8]
    /// The maximum time of this request's transfer. Replaces ``ClientOptions/totalTimeout``; `nil` uses that option.
    public var totalTimeout: Duration?
    /// The client certificate and the trusted authorities for the TLS handshake; `nil` uses no certificate and the
    /// default authorities. A request with an identity and an `http` URL fails with
    /// ``OutboundFailure/Reason/requestInvalid``. Requests with different identities never share a connection.
    public var tls: ClientIdentity?

    /// Creates a request.
    public init(
        method: String = "GET", url: String, headers: [Field] = [], body: [UInt8] = [],
        totalTimeout: Duration? = nil, tls: ClientIdentity? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.totalTimeout = totalTimeout
        self.tls = tls
    }
}
