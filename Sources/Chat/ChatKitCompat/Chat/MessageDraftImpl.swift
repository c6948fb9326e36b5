import ChatKit
import ChatModel
import Locking

/// The source of the users that a draft suggests.
public enum UserSuggestionSource: Sendable {
    /// All users of the app.
    case global
    /// The members of the channel.
    case channel
}

/// A message that is being written, with mentions of users, names of channels and links.
///
/// Positions and lengths count UTF-16 code units, as those of text views do. A position outside the text counts as its
/// nearest end.
public final class MessageDraftImpl: Sendable {
    private struct State: Sendable {
        var text = DraftText()
        var quoted: MessageImpl?
    }

    /// The channel to which the message is sent; for a draft of a reply, the channel above the thread.
    public let channel: ChannelImpl
    /// True when changes of the text start and stop the typing of the chat's user.
    public let isTypingIndicatorTriggered: Bool
    /// The source of the suggested users.
    public let userSuggestionSource: UserSuggestionSource
    /// The maximum number of suggested users for a word.
    public let userLimit: Int
    /// The maximum number of suggested channels for a word.
    public let channelLimit: Int
    private let thread: ThreadChannelImpl?
    private let state = Lock(State())
    private let listeners = Lock<[Handover<any MessageDraftChangeListener>]>([])

    init(
        _ channel: ChannelImpl, thread: ThreadChannelImpl? = nil, _ source: UserSuggestionSource, isTyping: Bool,
        _ userLimit: Int, _ channelLimit: Int
    ) {
        self.channel = channel
        self.thread = thread
        userSuggestionSource = source
        isTypingIndicatorTriggered = isTyping
        self.userLimit = userLimit
        self.channelLimit = channelLimit
    }

    /// The message to quote; not for replies.
    public var quotedMessage: MessageImpl? {
        get { state.withLock { $0.quoted } }
        set { state.withLock { $0.quoted = newValue } }
    }

    /// Inserts a text. A mention around the position becomes plain text.
    public func insertText(offset: Int, text: String) { change { $0.insert(text, at: offset) } }

    /// Removes a part of the text. Mentions that lose a part of their text become plain text.
    public func removeText(offset: Int, length: Int) { change { $0.remove(length, at: offset) } }

    /// Replaces the whole text. Mentions outside the changed part stay.
    public func update(text: String) { change { $0.replace(with: text) } }

    /// Makes a part of the text a mention or link, in the place of those that it overlaps.
    public func addMention(offset: Int, length: Int, target: MentionTarget) {
        change { $0.add(target, length, at: offset) }
    }

    /// Makes the mention or link that begins at a position plain text.
    public func removeMention(offset: Int) { change { $0.removeLink(at: offset) } }

    /// Replaces the word of a suggestion by a mention. Does nothing when the text has another word there.
    ///
    /// - Parameter text: the text of the mention, such as `replaceWith` of the suggestion.
    public func insertSuggestedMention(mention: SuggestedMention, text: String) {
        change { draft in
            guard draft.holds(mention.replaceFrom, at: mention.offset) else { return }
            draft.remove(mention.replaceFrom.utf16.count, at: mention.offset)
            draft.insert(text, at: mention.offset)
            draft.add(mention.target, text.utf16.count, at: mention.offset)
        }
    }

    /// Adds a listener for changes of the draft.
    public func addChangeListener(_ listener: any MessageDraftChangeListener) {
        let listener = Handover(listener)
        listeners.withLock { $0.append(listener) }
    }

    /// Removes a listener.
    public func removeChangeListener(_ listener: any MessageDraftChangeListener) {
        let id = ObjectIdentifier(listener)
        listeners.withLock { $0.removeAll { ObjectIdentifier($0.value) == id } }
    }

    /// Sends the message, and returns its timetoken. Every mentioned user receives a mention.
    @discardableResult
    public func send(params: SendTextParams = SendTextParams()) async throws -> Timetoken {
        let (elements, quoted) = state.withLock { ($0.text.elements, $0.quoted) }
        var users: [String] = []
        for case .link(_, .user(let id)) in elements where !users.contains(id) { users.append(id) }
        guard let thread else {
            return try await channel.sendText(
                text: elements.markdown, meta: params.meta, shouldStore: params.shouldStore, ttl: params.ttl,
                quotedMessage: quoted, usersToMention: users)
        }
        guard quoted == nil else {
            throw PubNubError(.invalidArguments, details: ["a reply cannot quote a message; set quotedMessage to nil"])
        }
        return try await thread.sendText(text: elements.markdown, params: params, usersToMention: users)
    }

    /// Sends the message. Every mentioned user receives a mention.
    ///
    /// - Parameter completion: receives the timetoken.
    public func send(params: SendTextParams = SendTextParams(), completion: ChatCompletion<Timetoken>? = nil) {
        channel.chat.run(completion) { try await self.send(params: params) }
    }

    /// Changes the text, and tells the listeners on the caller's thread.
    private func change(_ edit: (inout DraftText) -> Void) {
        let (text, isTextChanged) = state.withLock { state in
            let before = state.text.text
            edit(&state.text)
            return (state.text, state.text.text != before)
        }
        if isTextChanged, isTypingIndicatorTriggered, thread == nil {
            // A lost sign of typing has no effect on the message.
            if text.text.isEmpty { channel.stopTyping(completion: nil) } else { channel.startTyping(completion: nil) }
        }
        let suggestions = SuggestedMentions(draft: self, words: text.words)
        for listener in listeners.withLock({ $0 }) {
            listener.value.onChange(messageElements: text.elements, suggestedMentions: suggestions)
        }
    }

    /// Reads the users and channels whose names begin as the words.
    fileprivate func suggestions(for words: [DraftText.Word]) async throws -> [SuggestedMention] {
        var found: [SuggestedMention] = []
        for word in words {
            func add(_ name: String?, _ target: MentionTarget) {
                guard let name else { return }
                found.append(
                    SuggestedMention(offset: word.offset, replaceFrom: word.text, replaceWith: name, target: target))
            }
            if word.text.hasPrefix("#") {
                for channel in try await channel.chat.getChannelSuggestions(text: word.text, limit: channelLimit) {
                    add(channel.name, .channel(channelId: channel.id))
                }
            } else if userSuggestionSource == .global {
                for user in try await channel.chat.getUserSuggestions(text: word.text, limit: userLimit) {
                    add(user.name, .user(userId: user.id))
                }
            } else {
                for member in try await channel.getUserSuggestions(text: word.text, limit: userLimit) {
                    add(member.user.name, .user(userId: member.user.id))
                }
            }
        }
        return found
    }
}

/// A receiver of the changes of a draft.
public protocol MessageDraftChangeListener: AnyObject {
    /// Called after each change.
    ///
    /// - Parameters:
    ///   - messageElements: the parts of the text.
    ///   - suggestedMentions: users and channels for the words that begin with `@` or `#` and have three letters more. They
    ///     are read when they are requested.
    func onChange(messageElements: [MessageElement], suggestedMentions: any FutureObject<[SuggestedMention]>)
}

/// A receiver of the changes of a draft with a closure.
public final class ClosureMessageDraftChangeListener: MessageDraftChangeListener {
    private let closure: ([MessageElement], any FutureObject<[SuggestedMention]>) -> Void

    /// Creates a receiver.
    public init(onChange: @escaping ([MessageElement], any FutureObject<[SuggestedMention]>) -> Void) {
        closure = onChange
    }

    public func onChange(messageElements: [MessageElement], suggestedMentions: any FutureObject<[SuggestedMention]>) {
        closure(messageElements, suggestedMentions)
    }
}

/// A value that is read when it is requested.
public protocol FutureObject<T> {
    associatedtype T
    /// Reads the value, and passes it to the closure on the main queue.
    func async(completion: @escaping (Result<T, any Error>) -> Void)
    /// Reads the value.
    func async() async throws -> T
}

private struct SuggestedMentions: FutureObject {
    let draft: MessageDraftImpl
    let words: [DraftText.Word]

    func async(completion: @escaping (Result<[SuggestedMention], any Error>) -> Void) {
        draft.channel.chat.run(completion) { try await self.async() }
    }

    func async() async throws -> [SuggestedMention] { try await draft.suggestions(for: words) }
}

// MARK: - Creating

extension ChannelImpl {
    /// Creates the draft of a message.
    public func createMessageDraft(
        userSuggestionSource: UserSuggestionSource = .channel, isTypingIndicatorTriggered: Bool = true,
        userLimit: Int = 10, channelLimit: Int = 10
    ) -> MessageDraftImpl {
        MessageDraftImpl(
            self, userSuggestionSource, isTyping: isTypingIndicatorTriggered, userLimit, channelLimit)
    }
}

extension ThreadChannelImpl {
    /// Creates the draft of a reply. Replies show no typing.
    public func createMessageDraft(
        userSuggestionSource: UserSuggestionSource = .channel, isTypingIndicatorTriggered: Bool = true,
        userLimit: Int = 10, channelLimit: Int = 10
    ) -> MessageDraftImpl {
        let channel = ChannelImpl(chat, parentMessage.message.channel)
        return MessageDraftImpl(
            channel, thread: self, userSuggestionSource, isTyping: isTypingIndicatorTriggered, userLimit, channelLimit)
    }
}

extension MessageImpl {
    /// Passes the draft of a reply to the closure.
    public func createThreadMessageDraft(
        userSuggestionSource: UserSuggestionSource = .channel, isTypingIndicatorTriggered: Bool = true,
        userLimit: Int = 10, channelLimit: Int = 10, completion: ChatCompletion<MessageDraftImpl>? = nil
    ) {
        chat.run(completion) {
            ThreadChannelImpl(self).createMessageDraft(
                userSuggestionSource: userSuggestionSource, isTypingIndicatorTriggered: isTypingIndicatorTriggered,
                userLimit: userLimit, channelLimit: channelLimit)
        }
    }
}
