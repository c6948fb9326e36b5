public import ChatModel
import JSON

extension ChatAccess {
    /// The channel for reports of a channel's messages. Chat clients of other gateways use this name.
    static func moderationChannel(of channel: String) -> String { moderationPrefix + channel }

    /// The channel on which chat clients of other gateways receive restrictions of this user.
    static func moderationChannel(ofUser user: String) -> String { "PUBNUB_INTERNAL_MODERATION." + user }

    /// The channel whose reports are on this one; nil for any other channel.
    static func channel(moderatedOn name: String) -> String? {
        // Compares bytes: a combining mark after the prefix would hide it from a comparison of characters.
        guard name.utf8.starts(with: moderationPrefix.utf8) else { return nil }
        return String(decoding: name.utf8.dropFirst(moderationPrefix.utf8.count), as: UTF8.self)
    }

    private static let moderationPrefix = "PUBNUB_INTERNAL_MODERATION_"

    /// Reports a message to the channel's moderators. Repeated reports of a message by one user within a day count
    /// once.
    ///
    /// - Parameter rule: the id of the automatic moderation that reports, 1 to 255 characters; nil when a user does.
    /// - Throws: `.notFound` when there is no such message; `.malformed` for a reason that is not 1 to 1000 bytes long;
    ///   `.gone` when the message is deleted.
    public func report(
        _ timetoken: Timetoken, in channel: String, for reason: String, rule: String? = nil, by named: String?
    ) async throws(ChatError) -> Event {
        guard (1...1000).contains(reason.utf8.count) else {
            throw ChatError(.malformed, "reason must be 1 to 1000 bytes long", field: "reason")
        }
        if let rule { try Self.check(rule, "auto_moderation_id", 1...255, field: "auto_moderation_id") }
        let context = try await context(timetoken, in: channel, for: "report.created", by: named, .receiving)
        let key = reportsKey(timetoken, channel)
        let users = [context.event.user, context.actor.user].compactMap(\.self).map { UserRecord.key($0, in: app) }
        let decided = try await decide(context, [key] + users) { snapshot throws(ChatError) in
            let record = try context.present(snapshot)
            // A report that could not be found when the message is removed contains none of its text.
            var reports =
                self.reports(key, snapshot)
                ?? MessageRecord(
                    channel: Self.moderationChannel(of: channel), timetoken: timetoken)
            let isNoted = reports.copies.count < MessageRecord.copiesMost
            if isNoted { _ = reports.recordCopy(at: snapshot.next) }
            var report = self.report(of: context, record, isNoted: isNoted, for: (reason, rule), snapshot)
            report.deduplicationKey = "report/\(timetoken)/\(context.actor.user ?? "")"
            return Decision((), changes: [reports.change(in: self.app)], events: [report])
        }
        return decided.events[0]
    }

    /// The key of the record that lists the reports of a message, which contain its text. It is the record of a message
    /// with the same timetoken on the channel of the reports.
    func reportsKey(_ timetoken: Timetoken, _ channel: String) -> RecordKey {
        MessageRecord.key(Self.moderationChannel(of: channel), timetoken, in: app)
    }

    private func reports(_ key: RecordKey, _ snapshot: RecordSnapshot) -> MessageRecord? {
        snapshot[key].flatMap { MessageRecord($0) }
    }

    /// Adds the removal of a message's reports to a decision.
    func removeReports<Value>(
        of timetoken: Timetoken, in channel: String, _ snapshot: RecordSnapshot, _ decision: inout Decision<Value>
    ) {
        let key = reportsKey(timetoken, channel)
        guard let reports = reports(key, snapshot) else { return }
        let place = self.channel(Self.moderationChannel(of: channel))
        decision.removals += reports.copies.map { (place, $0) }
        decision.changes.append(RecordChange(key, body: nil))
    }

    /// - Parameter isNoted: true when the report is removed with the message; otherwise it contains none of the
    ///   message's text.
    private func report(
        of context: MessageContext, _ record: MessageRecord, isNoted: Bool, for cause: (reason: String, rule: String?),
        _ snapshot: RecordSnapshot
    ) -> EventDraft {
        let message = Message(context.event, record)
        var report = draft(
            "report.created", on: Self.moderationChannel(of: context.channel), by: context.actor.user
        ) { writer in
            writer.member("reason", cause.reason)
            if let rule = cause.rule { writer.member("auto_moderation_id", rule) }
            writer.key("message")
            if isNoted { message.print(to: &writer) } else { message.printReference(to: &writer) }
            if let author = context.event.user {
                writer.key("author")
                snapshot.user(author, in: app).printReference(to: &writer)
            }
            if let reporter = context.actor.user {
                writer.key("user")
                snapshot.user(reporter, in: app).printReference(to: &writer)
            }
            printChannel(context.channelRecord(snapshot), snapshot, to: &writer)
        }
        context.limit(&report)
        return report
    }

    /// The reports of a channel's messages, for the channel's moderators.
    ///
    /// - Parameter request: a request for the channel itself.
    /// - Throws: `.forbidden` when the caller may not moderate the channel; `.malformed` for a limit out of range.
    public func reports(_ request: HistoryRequest, by named: String?) async throws(ChatError) -> Page<Event> {
        let name = request.channel.name
        try caller.require(.read)
        let actor = try acting(named, in: name, for: "report.created")
        try actor.requireOperator(
            of: try await directory.read(ChannelRecord.key(name, in: app)).flatMap { ChannelRecord($0) })
        guard (1...limits.pageMost).contains(request.limit) else {
            throw ChatError(.malformed, "limit must be 1 to \(limits.pageMost)")
        }
        var request = request
        request.channel = self.channel(Self.moderationChannel(of: name))
        request.types = [.exact("report.created")]
        return try await log.history([request])[0]
    }
}
