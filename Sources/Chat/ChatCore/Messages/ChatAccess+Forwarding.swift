public import ChatModel
import JSON

extension ChatAccess {
    /// Sends what a message says to another channel, with where it comes from in `meta`.
    ///
    /// - Parameter claim: makes it repeatable; see `emit(_:claim:)`.
    /// - Throws: as `message` and `emit`; `.gone` when the message is deleted.
    public func forward(
        _ timetoken: Timetoken, in channel: String, to target: String, by named: String?, claim: Claim? = nil
    ) async throws(ChatError) -> AppendOutcome {
        let message = try await message(timetoken, in: channel)
        guard !message.isDeleted else { throw ChatError(.gone, "the message is deleted") }
        var emission = Emission.message(
            channel: target, data: message.data, user: named, meta: Self.origin(of: message))
        emission.customType = message.event.customType
        return try await emit([emission], claim: claim)
    }

    /// What the message itself quoted, mentioned or answered stays behind.
    private static func origin(of message: Message) -> JSONText {
        let left = [
            "quotedMessage", "mentionedUsers", "mentionType", "threadOf", "originalPublisher", "originalChannelId",
        ]
        let kept = (message.event.meta?.rawMembers() ?? []).filter { !left.contains($0.name) }
        return JSONText { writer in
            writer.beginObject()
            for (name, value) in kept {
                writer.key(text: name)
                writer.raw(value)
            }
            if let user = message.event.user { writer.member("originalPublisher", user) }
            writer.member("originalChannelId", message.event.channel.name)
            writer.endObject()
        }
    }
}
