public import ChatModel
import JSON

extension ChatAccess {
    /// Where what is reported of a channel's messages goes; chat clients of other gateways know it by this name.
    static func moderationChannel(of channel: String) -> String { moderationPrefix + channel }

    /// The channel whose reports go to this one; nil for any other channel.
    static func channel(moderatedOn name: String) -> String? {
        // By bytes: a mark that combines with what it follows would hide the prefix from a comparison of characters.
        guard name.utf8.starts(with: moderationPrefix.utf8) else { return nil }
        return String(decoding: name.utf8.dropFirst(moderationPrefix.utf8.count), as: UTF8.self)
    }

    private static let moderationPrefix = "PUBNUB_INTERNAL_MODERATION_"

    /// Tells the channel's moderators of a message. The same user's report of the same message within a day counts once.
    ///
    /// - Throws: `.notFound`, `.malformed`; `.gone` when the message is deleted.
    public func report(
        _ timetoken: Timetoken, in channel: String, for reason: String, by named: String?
    ) async throws(ChatError) -> Event {
        guard (1...1000).contains(reason.utf8.count) else {
            throw ChatError(.malformed, "reason must be 1 to 1000 bytes long")
        }
        let scene = try await scene(timetoken, in: channel, for: "report.created", by: named, .hearing)
        let decided = try await decide([scene.key]) { situation throws(ChatError) in
            let record = try scene.present(situation)
            var report = self.report(of: scene, saying: record.edit?.data ?? scene.event.data, reason)
            report.deduplicationKey = "report/\(timetoken)/\(scene.actor.user ?? "")"
            return Decision((), events: [report])
        }
        return decided.events[0]
    }

    private func report(of scene: MessageScene, saying data: JSONText, _ reason: String) -> EventDraft {
        draft("report.created", on: Self.moderationChannel(of: scene.channel), by: scene.actor.user) { writer in
            writer.member("reason", reason)
            if let text = data.saying { writer.member("text", text) } else { writer.nullMember("text") }
            writer.member("message_timetoken", scene.timetoken.description)
            writer.member("reported_message_channel_id", scene.channel)
            if let author = scene.event.user {
                writer.member("reported_user_id", author)
            } else {
                writer.nullMember("reported_user_id")
            }
        }
    }

    /// The reports of a channel's messages: for who moderates it.
    ///
    /// - Parameter request: of the channel itself.
    /// - Throws: `.forbidden`, `.malformed`.
    public func reports(_ request: HistoryRequest, by named: String?) async throws(ChatError) -> Page<Event> {
        let name = request.channel.name
        try caller.demand(.read)
        let actor = try acting(named, in: name, for: "report.created")
        try actor.demandOperator(
            of: try await directory.read(ChannelRecord.key(name, in: space)).flatMap { ChannelRecord($0) })
        guard (1...limits.pageMost).contains(request.limit) else {
            throw ChatError(.malformed, "limit must be 1 to \(limits.pageMost)")
        }
        var request = request
        request.channel = self.channel(Self.moderationChannel(of: name))
        request.types = [.exact("report.created")]
        return try await log.history([request])[0]
    }
}
