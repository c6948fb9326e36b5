/// A part of the text of a message or a draft.
public enum MessageElement: Hashable, Sendable {
    /// A text without a link.
    case plainText(text: String)
    /// A text that mentions a user, names a channel or links to an address.
    case link(text: String, target: MentionTarget)

    /// The shown text.
    var text: String {
        switch self {
        case .plainText(let text), .link(let text, _): text
        }
    }

    /// The element as the text of a message contains it: `[Ana](pn-user://ana)` for a link.
    fileprivate var markdown: String {
        guard case .link(let text, let target) = self else { return text }
        return "[\(text.escaping("]"))](\(target.address.escaping(")")))"
    }
}

/// The target of a link in a message.
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
    /// True when an element is a link.
    public func containsAnyMention() -> Bool {
        contains { if case .link = $0 { true } else { false } }
    }

    /// The text of a message with these elements.
    var markdown: String { map(\.markdown).joined() }

    /// Reads the elements of the text of a message.
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

    /// Reads a link at the beginning; nil, and the text unchanged, when there is none.
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
    /// Removes the text up to and including a character that no backslash precedes, and returns it without the backslashes;
    /// nil when there is no such character.
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
    /// The parts of the text: plain texts and links.
    public func getMessageElements() -> [MessageElement] { [MessageElement](markdown: text) }
}

extension QuotedMessage {
    /// The parts of the text: plain texts and links.
    public func getMessageElements() -> [MessageElement] { [MessageElement](markdown: text) }
}

/// A user or channel whose name begins as a word of a draft.
public struct SuggestedMention: Hashable, Sendable {
    /// The position of the word in the text, in UTF-16 code units.
    public let offset: Int
    /// The word with its sign: `@Ana`.
    public let replaceFrom: String
    /// The name of the user or channel.
    public let replaceWith: String
    /// The user or channel.
    public let target: MentionTarget
}

extension [SuggestedMention] {
    /// The suggestions for the word at a position.
    public func getSuggestionsFor(position: Int) -> [SuggestedMention] {
        filter { ($0.offset...$0.offset + $0.replaceFrom.utf16.count).contains(position) }
    }
}
