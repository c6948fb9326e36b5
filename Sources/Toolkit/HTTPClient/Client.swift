/// An HTTP/1.1 client: one event loop thread over libcurl, connections kept and reused, everything bounded.
///
/// Never follows redirects, never uses a proxy, ignores the environment, decompresses nothing. Every connection is
/// checked against the ``AddressGuard`` at the moment it is opened, on the very address connected to.
public final class Client: Sendable {
    /// Starts the loop thread.
    ///
    /// - Throws: ``ClientError`` when the system gives no thread, descriptor or memory.
    public init(options: ClientOptions = ClientOptions()) throws(ClientError) {}

    /// Sends a request and reads its answer within the limits of the options. Never throws: a failure is a result.
    ///
    /// Cancelling the task aborts the transfer and closes its connection; the result is then
    /// ``OutboundFailure/Reason/cancelled``, though the peer may have acted on the request.
    ///
    /// A kept connection that turns out to be closed before a byte of the answer came is replaced and the request is
    /// sent again, so a receiver that closed in mid-request may see it twice.
    public func send(_ request: OutboundRequest) async -> OutboundResult {
        OutboundResult(failure: OutboundFailure(.cancelled, detail: "not started"))
    }

    /// Sends a request and hands over its answer as it comes, for event streams.
    ///
    /// Returns as soon as the header is complete; ``OutboundRequest/totalTimeout`` and the response limit do not apply.
    /// - Parameter idleTimeout: fails the stream when nothing arrives for this long while the reader keeps up.
    public func stream(
        _ request: OutboundRequest, idleTimeout: Duration
    ) async throws(OutboundFailure) -> OutboundStream {
        throw OutboundFailure(.cancelled, detail: "not started")
    }

    /// Ends every transfer as ``OutboundFailure/Reason/cancelled``, closes every connection and returns when the loop
    /// thread is done. Requests sent afterwards fail the same way. Idempotent.
    public func shutdown() async {}
}

/// Why a ``Client`` could not be started.
public struct ClientError: Error, Sendable, Equatable {
    /// What the system said, for the log.
    public var message: String
}
