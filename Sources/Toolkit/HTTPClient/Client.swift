internal import Glibc
internal import Locking

/// An HTTP/1.1 client: one event loop thread over libcurl, with reused connections and bounded resources.
///
/// The client never follows redirects, never uses a proxy, ignores the environment and decompresses nothing. When it
/// opens a connection, it checks the very address that it connects to against the ``AddressGuard``.
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

    /// Starts the loop thread.
    ///
    /// - Throws: ``ClientError`` when the system has no thread, descriptor or memory left.
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

    /// Sends a request and reads its response within the limits of the options. Never throws: a failure is a result.
    ///
    /// Cancelling the task aborts the transfer and closes its connection. The result is then
    /// ``OutboundFailure/Reason/cancelled``, although the peer may have acted on the request.
    ///
    /// If a reused connection turns out to be closed before a byte of the response has arrived, it is replaced and the
    /// request is sent again. A receiver that closed the connection in the middle of a request may therefore see the
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

    /// Creates a group: requests whose results are passed to a callback, and which can be cancelled together.
    ///
    /// - Parameters:
    ///   - linger: the time that a result waits for further results, so that their receiver is woken once for many.
    ///     Results do not wait when no other request of the group is active.
    ///   - receive: called with the results that are delivered together, in the order in which the requests ended: once
    ///     for each request. Called on the loop thread, which it must not block, because every transfer stands still
    ///     meanwhile; for requests that cannot be sent, by the function that sends them.
    public func group(
        linger: Duration = .zero, receive: @escaping @Sendable ([OutboundGroup.Result]) -> Void
    ) -> OutboundGroup {
        OutboundGroup(options: options, mailbox: mailbox, linger: linger, receive: receive)
    }

    /// Sends a request and returns its response while it arrives. For event streams.
    ///
    /// Returns as soon as the header is complete. ``OutboundRequest/totalTimeout`` and the response limit do not
    /// apply. A stream counts towards ``ClientOptions/perHostConnections`` for its whole lifetime.
    ///
    /// - Parameter idleTimeout: fails the stream when nothing arrives for this long while the reader keeps up.
    /// - Throws: ``OutboundFailure`` when there is no complete header.
    public func stream(
        _ request: OutboundRequest, idleTimeout: Duration
    ) async throws(OutboundFailure) -> OutboundStream {
        let buffer = StreamBuffer()
        let transfer = try Transfer(request, options, stream: buffer, idleTimeout: idleTimeout)
        // Created before the wait: when the waiting task is cancelled, it releases the reader, which aborts the
        // transfer.
        let reader = StreamReader(transfer: transfer, buffer: buffer, mailbox: mailbox)
        let head = await withTaskCancellationHandler {
            await buffer.awaitHead { mailbox.post([.start(transfer)]) }
        } onCancel: {
            transfer.cancel(through: mailbox)
        }
        let answer = try head.get()
        return OutboundStream(status: answer.status, headers: answer.headers, reader: reader)
    }

    /// Ends every transfer as ``OutboundFailure/Reason/cancelled``, closes every connection and returns when the loop
    /// thread has finished. Requests sent afterwards fail in the same way. Calling it again has no further effect.
    public func shutdown() async {
        mailbox.close()
        await mailbox.finished()
    }

    static let stopped = OutboundResult(
        failure: OutboundFailure(.cancelled, detail: "the client is shut down"))
}

/// The reason why a ``Client`` could not be started.
public struct ClientError: Error, Sendable, Equatable {
    /// The system's error message, for the log.
    public var message: String

    /// The error of the system call that just failed.
    static func system(_ call: String) -> ClientError {
        ClientError(message: "\(call): \(String(cString: strerror(errno)))")
    }
}

/// The reason why a transfer has no complete response.
public struct OutboundFailure: Error, Sendable, Equatable {
    /// The class of a failure. The raw values are stored with a delivery attempt.
    ///
    /// `redirect` and `http_status` are not among them: every status is a response, and the caller decides what it
    /// means.
    public enum Reason: String, Sendable, CaseIterable {
        /// The name could not be resolved, or not in time.
        case dns
        /// The peer refused the connection, or there is no route to it.
        case connectRefused = "connect_refused"
        /// The connection (TCP and TLS) was not ready within ``ClientOptions/connectTimeout``, or not before the
        /// deadline of the whole transfer.
        case connectTimeout = "connect_timeout"
        /// The handshake failed, or the certificate is not trusted.
        case tls
        /// The ``AddressGuard`` forbids the URL, or every address that it resolves to.
        case blockedAddress = "blocked_address"
        /// The deadline passed after the connection was ready. For a stream: nothing arrived for its idle timeout.
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
    /// A description for the log only: it may contain text of the C library and addresses of internal hosts.
    public var detail: String
    /// A sentence for the person who caused the request, set by callers that fail before they send. The client itself
    /// never sets it.
    public var sentence: String?

    /// Creates a failure.
    public init(_ reason: Reason, detail: String, sentence: String? = nil) {
        self.reason = reason
        self.detail = detail
        self.sentence = sentence
    }
}

/// A request to be sent by a ``Client``.
public struct OutboundRequest: Sendable {
    /// A header field as it is sent.
    public typealias Field = (name: String, value: String)

    /// The method, sent as spelled; methods are case-sensitive (RFC 9110, 9.1).
    public var method: String
    /// An absolute `http` or `https` URL in ASCII: all other characters percent-encoded, the host in its `xn--` form.
    public var url: String
    /// Header fields, sent in this order.
    ///
    /// The client adds `Host`, `Accept` and `User-Agent` where absent, and frames the body itself. A request with
    /// `Content-Length`, `Transfer-Encoding` or a malformed field fails as ``OutboundFailure/Reason/requestInvalid``.
    public var headers: [Field]
    /// The body, sent with its length. The client adds no `Content-Type`.
    public var body: [UInt8]
    /// Replaces ``ClientOptions/totalTimeout`` for this request.
    public var totalTimeout: Duration?
    /// The client certificate and the trusted authorities of the TLS handshake. With an `http` URL the request fails
    /// as ``OutboundFailure/Reason/requestInvalid``. Requests with different identities never share a connection.
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
