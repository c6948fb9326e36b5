public import ChatModel

/// A sequence of values made from live events. It connects when its iterator is created, and closes the connection when
/// the iterator is released.
///
/// The sequence ends when the chat is closed or when the connection cannot continue. `Chat.onConnectionStateChange`
/// reports the error.
public struct ChatStream<Element: Sendable>: AsyncSequence, Sendable {
    /// The sequence never throws; it ends when its connection cannot continue.
    public typealias Failure = Never
    typealias Transform = @Sendable (LiveEvent) async -> [Element]

    let chat: Chat
    let selection: EventSelection
    let transform: Transform

    /// Creates an iterator, which starts to connect.
    public func makeAsyncIterator() -> Iterator { Iterator(self, Listener(chat, selection)) }

    /// Reads the elements. Each iterator has its own connection.
    public struct Iterator: AsyncIteratorProtocol {
        private let transform: Transform
        private let listener: Listener
        private var events: ArraySlice<LiveEvent> = []
        private var values: ArraySlice<Element> = []
        private let wantsPresence: Bool

        init(_ stream: ChatStream, _ listener: Listener) {
            transform = stream.transform
            wantsPresence = stream.selection.hasPresence
            self.listener = listener
        }

        /// Waits for the connection. After this call has returned, every new event is delivered. The call consumes no
        /// value and may be repeated.
        ///
        /// - Parameter limit: the maximum time to wait. After that, the iterator still continues to connect.
        /// - Throws: the error that prevents the connection; `.unavailable` when `limit` has passed; `.gone` when the
        ///   chat is closed or the task is cancelled.
        public func open(within limit: Duration = .seconds(30)) async throws(ChatError) {
            try await listener.connected(within: limit)
        }

        /// Returns the next value, or nil when the sequence has ended.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
            while !Task.isCancelled {
                if let value = values.popFirst() { return value }
                if let event = events.popFirst() {
                    values = await transform(event)[...]
                    continue
                }
                guard let batch = await listener.events() else { return nil }
                events = (wantsPresence ? batch : batch.filter { !$0.event.isPresence })[...]
            }
            return nil
        }
    }
}

extension ChatStream {
    /// Calls a closure with each value until the returned listener is closed.
    ///
    /// - Parameter endsWithSubscriptions: true when ``Chat/unsubscribeAll()`` closes the listener.
    package func listen(
        endsWithSubscriptions: Bool = true, _ callback: @escaping @Sendable (Element) async -> Void
    ) -> AutoCloseable {
        let listener = Listener(chat, selection)
        let closeable = AutoCloseable(listener) {
            var values = Iterator(self, listener)
            while let value = await values.next() {
                // The listener was closed in the meantime and must not receive the value.
                if Task.isCancelled { return }
                await callback(value)
            }
        }
        if endsWithSubscriptions { chat.subscriptions.add(closeable) }
        return closeable
    }
}

extension Event {
    /// True for presence events. A subscription delivers them only when requested.
    var isPresence: Bool { BuiltInTypes.presence.contains(type) }
}
