/// The names that the Chat SDKs give channels of their own (`pubnub-wire.md` 21).
enum WireNames {
    static let moderationPrefix = "PUBNUB_INTERNAL_MODERATION_"
    static let userModerationPrefix = "PUBNUB_INTERNAL_MODERATION."
    private static let oldModeration = "PUBNUB_INTERNAL_ADMIN_CHANNEL"

    /// Whether reports about a channel are published here.
    static func isModeration(_ channel: String) -> Bool {
        channel == oldModeration || channel.hasPrefix(moderationPrefix)
    }

    /// Whom a restriction on this channel concerns: newer clients tell a channel beside the user's, older ones the user's.
    static func user(ofModeration channel: String) -> String? {
        guard channel.hasPrefix(userModerationPrefix) else { return channel }
        let user = channel.dropFirst(userModerationPrefix.count)
        return user.isEmpty ? nil : String(user)
    }

    /// The channel whose moderation channel this is; the name itself for any other.
    static func channel(ofModeration name: String) -> String { moderated(on: name) ?? name }

    /// The channel whose moderation channel this is; nil for any other.
    static func moderated(on name: String) -> String? {
        name.hasPrefix(moderationPrefix) && name.count > moderationPrefix.count
            ? String(name.dropFirst(moderationPrefix.count)) : nil
    }
}
