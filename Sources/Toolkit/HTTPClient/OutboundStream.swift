/// An answer whose body is read as it comes.
///
/// For one reader. At most 64 KiB and one read of the socket wait in memory; beyond that the connection is not read,
/// and TCP slows the sender down. Dropping the stream or ending its iteration aborts the transfer.
public struct OutboundStream: Sendable, AsyncSequence {
    public typealias Element = [UInt8]
    public typealias Failure = OutboundFailure

    /// The status of the answer.
    public let status: Int
    /// The header fields of the answer.
    public let headers: HeaderFields

    public func makeAsyncIterator() -> Iterator { Iterator() }

    public struct Iterator: AsyncIteratorProtocol {
        /// The bytes that came since the last call, at least one; `nil` when the answer is complete.
        public mutating func next() async throws(OutboundFailure) -> [UInt8]? { nil }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(OutboundFailure) -> [UInt8]? {
            nil
        }
    }
}
