public import ChatModel

/// Who is where on a ``ChatBackend``, and who types. What is said, is said of the backend's user.
public protocol PresenceBackend: Sendable {
    func setTyping(_ isTyping: Bool, in channel: String) async throws(ChatError)
    /// The ids of the users who type now; the page's total is their number.
    func typists(of channel: String, limit: Int, cursor: String?) async throws(ChatError) -> Page<String>

    /// A sign of life.
    ///
    /// - Parameters:
    ///   - seconds: how long it counts; nil: as long as the gateway says.
    ///   - state: what the user shows there; nil leaves it.
    func appear(in channel: String, for seconds: Int?, state: AnyJSON?) async throws(ChatError)
    func disappear(from channel: String) async throws(ChatError)
    func show(_ state: AnyJSON, in channel: String) async throws(ChatError)
    /// Who is present, by name; the page's total is how many there are.
    func present(in channel: String, limit: Int, cursor: String?) async throws(ChatError) -> Page<PresentUser>
    /// Nil when the user is not there.
    func presence(of user: String, in channel: String) async throws(ChatError) -> PresentUser?
    /// The channels a user is present on.
    func presentChannels(of user: String) async throws(ChatError) -> [String]

    /// Goes into an open channel.
    ///
    /// - Returns: how many are inside now.
    func enter(_ channel: String) async throws(ChatError) -> Int
    func exit(_ channel: String) async throws(ChatError)
    /// Who is inside an open channel, by name; the page's total is how many there are.
    func participants(of channel: String, limit: Int, cursor: String?) async throws(ChatError) -> Page<String>
}

/// A user who is present on a channel.
public struct PresentUser: Sendable, Equatable {
    public let userId: String
    /// What the user shows there; an empty object is nothing.
    public let state: AnyJSON

    public init(userId: String, state: AnyJSON) {
        self.userId = userId
        self.state = state
    }
}
