/// An answer whose body is read as it comes.
///
/// For one reader. At most 64 KiB and one read of the socket wait in memory; beyond that the connection is not read,
/// and TCP slows the sender down. Letting go of the stream and its iterator aborts the transfer.
public struct OutboundStream: Sendable, AsyncSequence {
    public typealias Element = [UInt8]
    public typealias Failure = OutboundFailure

    /// The status of the answer.
    public let status: Int
    /// The header fields of the answer.
    public let headers: HeaderFields
    let reader: StreamReader

    public func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

    /// Aborts the transfer; the reader, if it waits, gets ``OutboundFailure/Reason/cancelled``. Idempotent.
    public func cancel() { reader.cancel() }

    public struct Iterator: AsyncIteratorProtocol {
        let reader: StreamReader

        /// The bytes that came since the last call, at least one; `nil` when the answer is complete.
        ///
        /// Cancelling the task aborts the transfer.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(OutboundFailure) -> [UInt8]? {
            try await reader.next()
        }
    }
}

/// The reading end; when the last holder lets go, the transfer is aborted.
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
            // Refused only when the client is shutting down, and then the ending is on its way.
            if mustResume { _ = mailbox.post([.resume(transfer)]) }
            return bytes
        case .end: return nil
        case .failed(let failure): throw failure
        }
    }
}
