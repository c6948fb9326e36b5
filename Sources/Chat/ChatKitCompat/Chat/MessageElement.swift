/// A part of the text of a message or a draft.
public enum MessageElement: Hashable, Sendable {
    /// A text without a link.
    case plainText(text: String)
    /// A text that mentions a user, names a channel or links to an address.
    case link(text: String, target: MentionTarget)

    /// The text that is shown to users.
    var text: String {
        switch self {
        case .plainText(let text), .link(let text, _): text
        }
    }

    /// The element in the form in which a message's text contains it. For a link: `[Ana](pn-user://ana)`.
    fileprivate var markdown: String {
        guard case .link(let text, let target) = self else { return text }
        return "[\(text.escaping("]"))](\(target.address.escaping(")")))"
    }
}

/// The target of a mention or link in a message.
public enum MentionTarget: Hashable, Sendable {
    case user(userId: String)
    case channel(channelId: String)
    case url(url: String)

    private static let user = "pn-user://"
    private static let channel = "pn-channel://"

    fileprivate var address: String {
        switch self {
        case .user(let id): Self.user + id
        case .channel(let id): Self.channel + id
        case .url(let url): url
        }
    }

    fileprivate init(address: String) {
        self =
            if address.hasPrefix(Self.user) {
                .user(userId: String(address.dropFirst(Self.user.count)))
            } else if address.hasPrefix(Self.channel) {
                .channel(channelId: String(address.dropFirst(Self.channel.count)))
            } else {
                .url(url: address)
            }
    }
}

extension [MessageElement] {
    /// Returns true when at least one element is a mention or link.
    public func containsAnyMention() -> Bool {
        contains { if case .link = $0 { true } else { false } }
    }

    /// The text of a message that has these elements.
    var markdown: String { map(\.markdown).joined() }

    /// Creates the elements from the text of a message.
    init(markdown text: String) {
        self = []
        var plain = ""
        var rest = text[...]
        while let first = rest.first {
            if first == "[", let link = Self.link(&rest) {
                if !plain.isEmpty { append(.plainText(text: plain)) }
                plain = ""
                append(link)
            } else {
                plain.append(first)
                rest.removeFirst()
            }
        }
        if !plain.isEmpty { append(.plainText(text: plain)) }
    }

    /// Removes a link from the beginning of a text and returns it. When the text does not begin with a link, returns
    /// nil and leaves the text unchanged.
    private static func link(_ text: inout Substring) -> MessageElement? {
        var rest = text.dropFirst()
        guard let shown = rest.removeEscaped(until: "]"), !shown.isEmpty, rest.first == "(" else { return nil }
        rest.removeFirst()
        guard let address = rest.removeEscaped(until: ")"), !address.isEmpty else { return nil }
        text = rest
        return .link(text: shown, target: MentionTarget(address: address))
    }
}

extension String {
    fileprivate func escaping(_ end: Character) -> String {
        reduce(into: "") { escaped, character in
            if character == "\\" || character == end { escaped.append("\\") }
            escaped.append(character)
        }
    }
}

extension Substring {
    /// Removes the text up to and including the first `end` that has no backslash before it. Returns the removed text
    /// without `end` and the escaping backslashes, or nil when every `end` has a backslash before it.
    fileprivate mutating func removeEscaped(until end: Character) -> String? {
        var (found, isEscaped) = ("", false)
        while let character = popFirst() {
            if isEscaped || (character != end && character != "\\") {
                found.append(character)
                isEscaped = false
            } else if character == end {
                return found
            } else {
                isEscaped = true
            }
        }
        return nil
    }
}

extension MessageImpl {
    /// Returns the parts of the text: plain texts and links.
    public func getMessageElements() -> [MessageElement] { [MessageElement](markdown: text) }
}

extension QuotedMessage {
    /// Returns the parts of the text: plain texts and links.
    public func getMessageElements() -> [MessageElement] { [MessageElement](markdown: text) }
}

/// A suggested user or channel for a word of a draft. The name of the user or channel begins with the word.
public struct SuggestedMention: Hashable, Sendable {
    /// The position of the word in the text, in UTF-16 code units.
    public let offset: Int
    /// The word with its leading `@` or `#`, such as `@Ana`.
    public let replaceFrom: String
    /// The name of the user or channel.
    public let replaceWith: String
    /// The user or channel.
    public let target: MentionTarget
}

extension [SuggestedMention] {
    /// Returns the suggestions for the word at a position, which is counted in UTF-16 code units.
    public func getSuggestionsFor(position: Int) -> [SuggestedMention] {
        filter { ($0.offset...$0.offset + $0.replaceFrom.utf16.count).contains(position) }
    }
}
