public import ChatModel

/// What users of a ``ChatBackend`` have read, and what they have not.
public protocol ReceiptBackend: Sendable {
    /// Moves a member's mark forward; nobody does that for others.
    ///
    /// - Parameter timetoken: up to which message; nil: the newest.
    func mark(
        _ mark: ReceiptMark, of user: String, in channel: String, at timetoken: Timetoken?
    ) async throws(ChatError)
    /// Marks everything read, and says in which channels there was something.
    func markAllRead() async throws(ChatError) -> [String]
    func unread(of user: String, in channel: String) async throws(ChatError) -> Int
    /// Of the backend's user, in all channels.
    func unread() async throws(ChatError) -> UnreadCount
}

/// The two marks of a member: up to which message a device of the user has got, and up to which the user has read.
public enum ReceiptMark: Sendable { case delivered, read }

/// How many messages a user has not read.
public struct UnreadCount: Sendable, Equatable {
    public let total: Int
    /// By the channels' custom types; those of channels without one are in the total alone.
    public let byCustomType: [String: Int]

    public init(total: Int, byCustomType: [String: Int]) {
        self.total = total
        self.byCustomType = byCustomType
    }
}
