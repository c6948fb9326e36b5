import ChatModel

/// A channel that streams of users have named, as of the hub's position: one for all who have named it, so that what
/// becomes of the channel is noted once, however many there are.
///
/// Safe to share: it is read and changed on the hub's executor only.
final class SubscribedChannel: @unchecked Sendable {
    /// Whether it is for its members only.
    var isPrivate: Bool

    init(isPrivate: Bool) { self.isPrivate = isPrivate }
}
