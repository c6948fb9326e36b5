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
