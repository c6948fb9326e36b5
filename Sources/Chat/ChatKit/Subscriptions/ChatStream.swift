import ChatModel

/// Values made of live events, one after the other. Opened by its iterator's first step, closed when the iterator goes.
///
/// Ends when the chat is closed or following has failed for good, which `Chat.onConnectionStateChange` tells.
public struct ChatStream<Element: Sendable>: AsyncSequence, Sendable {
    public typealias Failure = Never
    typealias Transform = @Sendable (Event) async -> [Element]

    let chat: Chat
    let selection: EventSelection
    let transform: Transform

    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    public struct Iterator: AsyncIteratorProtocol {
        private let chat: Chat
        private let transform: Transform
        private var news: LiveEvents.AsyncIterator
        private var events: [Event] = []
        private var values: [Element] = []
        private var isOver = false
        private let wantsPresence: Bool

        init(_ stream: ChatStream) {
            chat = stream.chat
            transform = stream.transform
            wantsPresence = stream.selection.hasPresence
            news = stream.chat.backend.events(stream.selection).makeAsyncIterator()
        }

        /// Connects, if `next` has not yet: what happens from then on comes.
        public mutating func open(isolation actor: isolated (any Actor)? = #isolation) async {
            while !isOver, await !step(isolation: actor) {}
        }

        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
            while !Task.isCancelled {
                if !values.isEmpty { return values.removeFirst() }
                if !events.isEmpty {
                    values = await transform(events.removeFirst())
                } else if isOver {
                    return nil
                } else {
                    _ = await step(isolation: actor)
                }
            }
            return nil
        }

        /// Takes one piece of news; true when it is connected.
        private mutating func step(isolation actor: isolated (any Actor)?) async -> Bool {
            do throws(ChatError) {
                switch try await news.next(isolation: actor) {
                case .connected(_, let hasGap):
                    chat.states.tell(.connected(hasGap: hasGap))
                    return true
                case .events(let batch, _):
                    events = wantsPresence ? batch : batch.filter { !$0.isPresence }
                    return true
                case .interrupted(let error): chat.states.tell(.reconnecting(error))
                case nil: isOver = true
                }
            } catch {
                chat.states.tell(.failed(error))
                isOver = true
            }
            return false
        }
    }
}

extension ChatStream {
    /// Calls a closure with each value until it is closed.
    func listen(_ callback: @escaping @Sendable (Element) async -> Void) -> AutoCloseable {
        AutoCloseable { opened in
            var values = makeAsyncIterator()
            await values.open()
            opened()
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
    var isPresence: Bool { type.hasPrefix("presence.") }
}
