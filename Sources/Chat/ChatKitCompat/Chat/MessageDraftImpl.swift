import ChatKit
import ChatModel
import Locking

/// The set of users from which a draft takes its suggestions.
public enum UserSuggestionSource: Sendable {
    /// All users of the app.
    case global
    /// The members of the channel.
    case channel
}

/// A message that a user is writing, with mentions of users, names of channels and links.
///
/// Positions and lengths are counted in UTF-16 code units, as in text views. A position outside the text is replaced by
/// the nearest end of the text.
public final class MessageDraftImpl: Sendable {
    private struct State: Sendable {
        var text = DraftText()
        var quoted: MessageImpl?
    }

    /// The channel to which the message is sent. For a draft of a reply, this is the channel of the parent message.
    public let channel: ChannelImpl
    /// True when each change of the text shows the chat's user as typing. The property has no effect for a reply.
    public let isTypingIndicatorTriggered: Bool
    /// The set of users from which the draft takes its suggestions.
    public let userSuggestionSource: UserSuggestionSource
    /// The maximum number of suggested users for each word.
    public let userLimit: Int
    /// The maximum number of suggested channels for each word.
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

    /// The message to quote; nil for none. A reply cannot quote a message.
    public var quotedMessage: MessageImpl? {
        get { state.withLock { $0.quoted } }
        set { state.withLock { $0.quoted = newValue } }
    }

    /// Inserts a text at an offset. A mention that contains the offset becomes plain text.
    public func insertText(offset: Int, text: String) { change { $0.insert(text, at: offset) } }

    /// Removes a part of the text. A mention that loses a part of its text becomes plain text.
    public func removeText(offset: Int, length: Int) { change { $0.remove(length, at: offset) } }

    /// Replaces the whole text. Mentions outside the changed part of the text remain.
    public func update(text: String) { change { $0.replace(with: text) } }

    /// Turns a part of the text into a mention or link. Replaces the mentions and links that overlap this part.
    ///
    /// - Parameters:
    ///   - offset: the start of the part, in UTF-16 code units.
    ///   - length: the length of the part, in UTF-16 code units.
    ///   - target: the user, channel or address.
    public func addMention(offset: Int, length: Int, target: MentionTarget) {
        change { $0.add(target, length, at: offset) }
    }

    /// Turns the mention or link that begins at an offset into plain text. Does nothing when no mention or link begins
    /// at the offset.
    public func removeMention(offset: Int) { change { $0.removeLink(at: offset) } }

    /// Inserts a suggested mention in place of the word for which it was suggested. Does nothing when the text has
    /// changed and contains another word at this position.
    ///
    /// - Parameters:
    ///   - mention: the suggestion.
    ///   - text: the shown text of the mention, such as ``SuggestedMention/replaceWith``.
    public func insertSuggestedMention(mention: SuggestedMention, text: String) {
        change { draft in
            guard draft.holds(mention.replaceFrom, at: mention.offset) else { return }
            draft.remove(mention.replaceFrom.utf16.count, at: mention.offset)
            draft.insert(text, at: mention.offset)
            draft.add(mention.target, text.utf16.count, at: mention.offset)
        }
    }

    /// Adds a listener for changes of the draft. The draft retains the listener.
    public func addChangeListener(_ listener: any MessageDraftChangeListener) {
        let listener = Handover(listener)
        listeners.withLock { $0.append(listener) }
    }

    /// Removes a listener. Does nothing when the listener was not added.
    public func removeChangeListener(_ listener: any MessageDraftChangeListener) {
        let id = ObjectIdentifier(listener)
        listeners.withLock { $0.removeAll { ObjectIdentifier($0.value) == id } }
    }

    /// Sends the message. Every mentioned user receives a mention.
    ///
    /// - Returns: the timetoken of the message.
    /// - Throws: `invalidArguments` for a reply that quotes a message; otherwise the errors of
    ///   ``ChannelImpl/sendText(text:params:)``.
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
    /// - Parameter completion: receives the timetoken of the message.
    public func send(params: SendTextParams = SendTextParams(), completion: ChatCompletion<Timetoken>? = nil) {
        channel.chat.run(completion) { try await self.send(params: params) }
    }

    /// Changes the text and calls the listeners on the caller's thread.
    private func change(_ edit: (inout DraftText) -> Void) {
        let (text, isTextChanged) = state.withLock { state in
            let before = state.text.text
            edit(&state.text)
            return (state.text, state.text.text != before)
        }
        if isTextChanged, isTypingIndicatorTriggered, thread == nil {
            // Errors are ignored: the typing state does not affect the message.
            if text.text.isEmpty { channel.stopTyping(completion: nil) } else { channel.startTyping(completion: nil) }
        }
        let suggestions = SuggestedMentions(draft: self, words: text.words)
        for listener in listeners.withLock({ $0 }) {
            listener.value.onChange(messageElements: text.elements, suggestedMentions: suggestions)
        }
    }

    /// Reads the users and channels whose names begin with the given words.
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

/// An object that receives the changes of a draft.
public protocol MessageDraftChangeListener: AnyObject {
    /// Called after each change.
    ///
    /// - Parameters:
    ///   - messageElements: the parts of the text.
    ///   - suggestedMentions: the suggested users and channels for the words that consist of `@` or `#` and at least
    ///     three more letters, digits or hyphens. The suggestions are read only when the program requests them.
    func onChange(messageElements: [MessageElement], suggestedMentions: any FutureObject<[SuggestedMention]>)
}

/// A listener that passes the changes of a draft to a closure.
public final class ClosureMessageDraftChangeListener: MessageDraftChangeListener {
    private let closure: ([MessageElement], any FutureObject<[SuggestedMention]>) -> Void

    /// Creates a listener with a closure.
    public init(onChange: @escaping ([MessageElement], any FutureObject<[SuggestedMention]>) -> Void) {
        closure = onChange
    }

    public func onChange(messageElements: [MessageElement], suggestedMentions: any FutureObject<[SuggestedMention]>) {
        closure(messageElements, suggestedMentions)
    }
}

/// A value that is read only when the program requests it.
public protocol FutureObject<T> {
    /// The type of the value.
    associatedtype T
    /// Reads the value and passes it to the closure on the main queue.
    func async(completion: @escaping (Result<T, any Error>) -> Void)
    /// Reads and returns the value.
    ///
    /// - Throws: ``PubNubError``.
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
    /// Creates an empty draft of a message.
    ///
    /// - Parameters:
    ///   - userSuggestionSource: the set of users from which the draft takes its suggestions.
    ///   - isTypingIndicatorTriggered: true when each change of the text shows the chat's user as typing.
    ///   - userLimit: the maximum number of suggested users for each word.
    ///   - channelLimit: the maximum number of suggested channels for each word.
    public func createMessageDraft(
        userSuggestionSource: UserSuggestionSource = .channel, isTypingIndicatorTriggered: Bool = true,
        userLimit: Int = 10, channelLimit: Int = 10
    ) -> MessageDraftImpl {
        MessageDraftImpl(
            self, userSuggestionSource, isTyping: isTypingIndicatorTriggered, userLimit, channelLimit)
    }
}

extension ThreadChannelImpl {
    /// Creates an empty draft of a reply. The parameters are those of
    /// ``ChannelImpl/createMessageDraft(userSuggestionSource:isTypingIndicatorTriggered:userLimit:channelLimit:)``;
    /// `isTypingIndicatorTriggered` has no effect.
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
    /// Creates an empty draft of a reply to the message.
    ///
    /// - Parameter completion: receives the draft.
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
