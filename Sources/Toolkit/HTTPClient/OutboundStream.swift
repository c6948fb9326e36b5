/// A response whose body is read while it arrives.
///
/// Only one task may read the body. About 64 KiB are buffered in memory. While the buffer is full, the client does not
/// read from the connection, and TCP flow control stops the sender. Releasing the stream and its iterator aborts the
/// transfer.
public struct OutboundStream: Sendable, AsyncSequence {
    /// A piece of the body.
    public typealias Element = [UInt8]
    /// The failure that ended the stream.
    public typealias Failure = OutboundFailure

    /// The status of the response.
    public let status: Int
    /// The header fields of the response.
    public let headers: HeaderFields
    let reader: StreamReader

    /// Returns the iterator over the pieces of the body.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

    /// Aborts the transfer. A waiting reader receives ``OutboundFailure/Reason/cancelled``. Further calls have no
    /// effect.
    public func cancel() { reader.cancel() }

    /// Iterates over the pieces of the body.
    public struct Iterator: AsyncIteratorProtocol {
        let reader: StreamReader

        /// Waits for bytes and returns all bytes that have arrived since the last call, at least one; `nil` when the
        /// response is complete.
        ///
        /// Cancelling the task aborts the transfer.
        ///
        /// - Throws: ``OutboundFailure`` when the response ends early, a deadline passes or the transfer is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(OutboundFailure) -> [UInt8]? {
            try await reader.next()
        }
    }
}

/// The reader of a stream. When the last reference to it is released, the transfer is aborted.
final class StreamReader: Sendable {
    private let transfer: Transfer
    private let buffer: StreamBuffer
    private let mailbox: Mailbox

    init(transfer: Transfer, buffer: StreamBuffer, mailbox: Mailbox) {
        self.transfer = transfer
        self.buffer = buffer
        self.mailbox = mailbox
    }

    deinit { cancel() }

    func cancel() { transfer.cancel(through: mailbox) }

    func next() async throws(OutboundFailure) -> [UInt8]? {
        let outcome = await withTaskCancellationHandler {
            await buffer.read()
        } onCancel: {
            cancel()
        }
        switch outcome {
        case .bytes(let bytes, let mustResume):
            // The mailbox rejects the command only when the client is shutting down. The stream then ends anyway.
            if mustResume { _ = mailbox.post([.resume(transfer)]) }
            return bytes
        case .end: return nil
        case .failed(let failure): throw failure
        }
    }
}
