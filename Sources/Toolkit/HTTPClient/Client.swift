internal import Glibc
internal import Locking

/// An HTTP/1.1 client: one event loop thread over libcurl, connections kept and reused, everything bounded.
///
/// Never follows redirects, never uses a proxy, ignores the environment, decompresses nothing. Every connection is
/// checked against the ``AddressGuard`` at the moment it is opened, on the very address connected to.
///
/// ```swift
/// let client = try Client(options: ClientOptions(userAgent: "parley/1.0"))
/// let result = await client.send(OutboundRequest(method: "POST", url: url, body: body))
/// if let status = result.status, result.failure == nil { … }
/// await client.shutdown()
/// ```
public final class Client: Sendable {
    /// As given at the start.
    public let options: ClientOptions
    private let mailbox: Mailbox

    /// Starts the loop thread.
    ///
    /// - Throws: ``ClientError`` when the system gives no thread, descriptor or memory.
    public init(options: ClientOptions = ClientOptions()) throws(ClientError) {
        if let failure = Multi.startFailure { throw ClientError(message: failure) }
        self.options = options
        mailbox = Mailbox(eventFD: try EventFD())
        let transferLoop = try TransferLoop(options: options, mailbox: mailbox)
        let isStarted = startThread(name: "http-client") { [mailbox] in
            transferLoop.run()
            mailbox.finish()
        }
        guard isStarted else { throw ClientError(message: "the system has no thread to give") }
    }

    deinit { mailbox.close() }

    /// Sends a request and reads its answer within the limits of the options. Never throws: a failure is a result.
    ///
    /// Cancelling the task aborts the transfer and closes its connection; the result is then
    /// ``OutboundFailure/Reason/cancelled``, though the peer may have acted on the request.
    ///
    /// A kept connection that turns out to be closed before a byte of the answer came is replaced and the request is
    /// sent again, so a receiver that closed in mid-request may see it twice.
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

    /// For requests that are answered by a call and ended together.
    ///
    /// - Parameters:
    ///   - linger: results wait this long for others, so that whoever gets them is woken once for many; not when no other
    ///     request of the group is under way.
    ///   - handedOver: called behind results that were handed out together, where they were.
    public func group(
        linger: Duration = .zero, handedOver: @escaping @Sendable () -> Void = {}
    ) -> OutboundGroup {
        OutboundGroup(options: options, mailbox: mailbox, linger: linger, handedOver: handedOver)
    }

    /// Sends a request and hands over its answer as it comes, for event streams.
    ///
    /// Returns as soon as the header is complete; ``OutboundRequest/totalTimeout`` and the response limit do not apply.
    /// A stream counts as one of ``ClientOptions/perHostConnections`` as long as it lives.
    /// - Parameter idleTimeout: fails the stream when nothing arrives for this long while the reader keeps up.
    public func stream(
        _ request: OutboundRequest, idleTimeout: Duration
    ) async throws(OutboundFailure) -> OutboundStream {
        let buffer = StreamBuffer()
        let transfer = try Transfer(request, options, stream: buffer, idleTimeout: idleTimeout)
        // Held from the start: a task cancelled while it waits for the head lets go of it, and so of the transfer.
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
    /// thread is done. Requests sent afterwards fail the same way. Idempotent.
    public func shutdown() async {
        mailbox.close()
        await mailbox.finished()
    }

    static let stopped = OutboundResult(
        failure: OutboundFailure(.cancelled, detail: "the client is shut down"))
}

/// Why a ``Client`` could not be started.
public struct ClientError: Error, Sendable, Equatable {
    /// What the system said, for the log.
    public var message: String

    /// The last error of a system call.
    static func system(_ call: String) -> ClientError {
        ClientError(message: "\(call): \(String(cString: strerror(errno)))")
    }
}

/// Why a transfer has no complete answer.
public struct OutboundFailure: Error, Sendable, Equatable {
    /// The class of a failure. The raw values are the words stored with an attempt.
    ///
    /// `redirect` and `http_status` are not among them: a status is an answer, and what it means is the caller's business.
    public enum Reason: String, Sendable, CaseIterable {
        /// The name could not be resolved, or not in time.
        case dns
        /// Nobody listens there, or no route leads there.
        case connectRefused = "connect_refused"
        /// The connection (TCP and TLS) was not ready within ``ClientOptions/connectTimeout``,
        /// or not before the whole transfer's deadline.
        case connectTimeout = "connect_timeout"
        /// The handshake failed or the certificate is not trusted.
        case tls
        /// The ``AddressGuard`` forbids the URL or every address it resolves to.
        case blockedAddress = "blocked_address"
        /// The deadline passed after connecting; for a stream: nothing arrived for its idle time.
        case timeout
        /// The peer closed or reset the connection before the answer was complete.
        case reset
        /// What came back is not HTTP, or its header is larger than allowed.
        case responseInvalid = "response_invalid"
        /// The task was cancelled or the client was shut down.
        case cancelled
        /// The request cannot be put on the wire: malformed URL, method or header field.
        case requestInvalid = "request_invalid"
        /// Too many requests are waiting, or memory or descriptors are exhausted.
        case overloaded
    }

    public var reason: Reason
    /// What happened, for the log only: text of the C library, addresses of internal hosts.
    public var detail: String
    /// A sentence for whoever had the request made, where a caller that fails before it sends has one to say. The client
    /// itself never sets it.
    public var sentence: String?

    public init(_ reason: Reason, detail: String, sentence: String? = nil) {
        self.reason = reason
        self.detail = detail
        self.sentence = sentence
    }
}

/// A request to be sent by a ``Client``.
public struct OutboundRequest: Sendable {
    /// A header field as it goes on the wire.
    public typealias Field = (name: String, value: String)

    /// The method, sent as spelled; methods are case-sensitive (RFC 9110, 9.1).
    public var method: String
    /// An absolute `http` or `https` URL in ASCII: everything else percent-encoded, the host in its `xn--` form.
    public var url: String
    /// Header fields, sent in this order.
    ///
    /// The client adds `Host`, `Accept` and `User-Agent` where absent, and frames the body itself: a request with
    /// `Content-Length`, `Transfer-Encoding` or a malformed field fails as ``OutboundFailure/Reason/requestInvalid``.
    public var headers: [Field]
    /// The body, sent with its length. No `Content-Type` is made up for it.
    public var body: [UInt8]
    /// Replaces ``ClientOptions/totalTimeout`` for this request.
    public var totalTimeout: Duration?
    /// What to show and whom to trust in the TLS handshake; with an `http` URL the request fails as
    /// ``OutboundFailure/Reason/requestInvalid``. A connection is never shared between different ones.
    public var tls: ClientIdentity?

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
