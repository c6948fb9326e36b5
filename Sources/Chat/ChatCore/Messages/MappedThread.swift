public import ChatModel

/// The channel that clients of another service give a thread: of its name, which holds the message replied to and that
/// message's channel. Natively the replies are in the message's channel.
public struct MappedThread: Sendable, Equatable {
    /// The channel of the message replied to.
    public let parent: String
    /// The message replied to.
    public let root: Timetoken

    public init(parent: String, root: Timetoken) {
        self.parent = parent
        self.root = root
    }

    /// Nil for the name of another channel.
    public init?(_ name: String) {
        // By bytes: a mark that combines with what it follows would hide the prefix from a comparison of characters.
        let bytes = name.utf8
        guard bytes.starts(with: Self.prefix.utf8), let end = bytes.lastIndex(of: UInt8(ascii: "_")),
            let root = Timetoken(text: name[bytes.index(after: end)...]), root.description.utf8.count == 17
        else { return nil }
        let start = bytes.index(bytes.startIndex, offsetBy: Self.prefix.utf8.count)
        guard start < end, bytes[start] != UInt8(ascii: "$") else { return nil }
        parent = String(name[start..<end])
        self.root = root
    }

    public var name: String { "\(Self.prefix)\(parent)_\(root)" }

    /// What the names of all of them begin with.
    public static let prefix = "PUBNUB_INTERNAL_THREAD_"
}
