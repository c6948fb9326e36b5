public import ChatModel

/// What comes out of a followed selection.
public enum LiveUpdate: Sendable {
    /// Everything behind the position comes from now on. With a gap, events before it are lost.
    case connected(at: Timetoken, hasGap: Bool)
    /// At least one event; following could continue behind the cursor.
    case events([Event], cursor: Timetoken)
    /// The connection is lost and will be made again, from where it was lost.
    case interrupted(ChatError)
}

/// A followed selection: opened when its iterator is made or at the first `next`, closed when its iterator goes.
///
/// Ends when the chat is closed; throws when following is over for good, for instance because the channel may not be read.
public struct LiveEvents: AsyncSequence, Sendable {
    public typealias Element = LiveUpdate
    public typealias Failure = ChatError
    public typealias Next = @Sendable () async throws(ChatError) -> LiveUpdate?

    private let open: @Sendable () -> Next

    /// - Parameter open: called once per iterator; what it returns gives the news one by one.
    public init(_ open: @escaping @Sendable () -> Next) { self.open = open }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(nextNews: open()) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let nextNews: Next

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(ChatError) -> LiveUpdate? {
            try await nextNews()
        }
    }
}
