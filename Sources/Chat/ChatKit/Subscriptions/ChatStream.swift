public import ChatModel

/// Values made of live events, one after the other. It connects when its iterator is made, and closes when that goes.
///
/// Ends when the chat is closed or following has failed for good, which `Chat.onConnectionStateChange` tells.
public struct ChatStream<Element: Sendable>: AsyncSequence, Sendable {
    public typealias Failure = Never
    typealias Transform = @Sendable (Event) async -> [Element]

    let chat: Chat
    let selection: EventSelection
    let transform: Transform

    /// Begins to connect.
    public func makeAsyncIterator() -> Iterator { Iterator(self, Listener(chat, selection)) }

    public struct Iterator: AsyncIteratorProtocol {
        private let transform: Transform
        private let listener: Listener
        private var events: ArraySlice<Event> = []
        private var values: ArraySlice<Element> = []
        private let wantsPresence: Bool

        init(_ stream: ChatStream, _ listener: Listener) {
            transform = stream.transform
            wantsPresence = stream.selection.hasPresence
            self.listener = listener
        }

        /// Returns when it is connected: what happens from then on comes. Consumes nothing, and may be called again.
        ///
        /// - Parameter limit: how long to wait at most; the iterator goes on connecting afterwards.
        /// - Throws: why it cannot be connected; `.unavailable` when it is not in time; `.gone` when the chat is closed or
        ///   the task cancelled.
        public func open(within limit: Duration = .seconds(30)) async throws(ChatError) {
            try await listener.connected(within: limit)
        }

        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
            while !Task.isCancelled {
                if let value = values.popFirst() { return value }
                if let event = events.popFirst() {
                    values = await transform(event)[...]
                    continue
                }
                guard let batch = await listener.events() else { return nil }
                events = (wantsPresence ? batch : batch.filter { !$0.isPresence })[...]
            }
            return nil
        }
    }
}

extension ChatStream {
    /// Calls a closure with each value until it is closed.
    func listen(_ callback: @escaping @Sendable (Element) async -> Void) -> AutoCloseable {
        let listener = Listener(chat, selection)
        return AutoCloseable(listener) {
            var values = Iterator(self, listener)
            while let value = await values.next() {
                // Closed meanwhile: it must not hear of it any more.
                if Task.isCancelled { return }
                await callback(value)
            }
        }
    }
}

extension Event {
    /// Presence is heard only by who asks for it.
    var isPresence: Bool { BuiltInTypes.presence.contains(type) }
}
