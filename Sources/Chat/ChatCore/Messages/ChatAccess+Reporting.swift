public import ChatModel
import JSON

extension ChatAccess {
    /// Returns the name of the channel that receives the reports of a channel's messages. PubNub chat clients use the
    /// same name.
    static func moderationChannel(of channel: String) -> String { moderationPrefix + channel }

    /// Returns the name of the channel on which PubNub chat clients receive the restrictions of a user.
    static func moderationChannel(ofUser user: String) -> String { "PUBNUB_INTERNAL_MODERATION." + user }

    /// Returns the channel whose reports are on the channel `name`; nil when `name` is not a channel of reports.
    static func channel(moderatedOn name: String) -> String? {
        // Compares bytes, because a combining mark after the prefix would change its last character.
        guard name.utf8.starts(with: moderationPrefix.utf8) else { return nil }
        return String(decoding: name.utf8.dropFirst(moderationPrefix.utf8.count), as: UTF8.self)
    }

    private static let moderationPrefix = "PUBNUB_INTERNAL_MODERATION_"

    /// Reports a message to the operators of its channel. Repeated reports of a message by the same user within a day
    /// count once.
    ///
    /// - Parameter rule: the id of the automatic moderation that reports the message, 1 to 255 characters long; nil for
    ///   a report by a user.
    /// - Throws: `.notFound` when the message does not exist; `.malformed` for a reason that is not 1 to 1000 bytes
    ///   long; `.gone` when the message is deleted.
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
            // The record lists a limited number of reports, so that they can be removed with the message. Further
            // reports do not contain the text of the message.
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

    /// Returns the key of the record that lists the reports of a message. The record has the type of a message record:
    /// its channel is the channel of the reports, and its timetoken is the timetoken of the reported message.
    func reportsKey(_ timetoken: Timetoken, _ channel: String) -> RecordKey {
        MessageRecord.key(Self.moderationChannel(of: channel), timetoken, in: app)
    }

    private func reports(_ key: RecordKey, _ snapshot: RecordSnapshot) -> MessageRecord? {
        snapshot[key].flatMap { MessageRecord($0) }
    }

    /// Adds to a decision the removal of all reports of a message, because reports contain the text of the message.
    func removeReports<Value>(
        of timetoken: Timetoken, in channel: String, _ snapshot: RecordSnapshot, _ decision: inout Decision<Value>
    ) {
        let key = reportsKey(timetoken, channel)
        guard let reports = reports(key, snapshot) else { return }
        let place = self.channel(Self.moderationChannel(of: channel))
        decision.removals += reports.copies.map { (place, $0) }
        decision.changes.append(RecordChange(key, body: nil))
    }

    /// Creates the event of a report.
    ///
    /// - Parameter isNoted: true when the report will be removed together with the message. Otherwise the event does
    ///   not contain the text of the message.
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

    /// Returns the reports of a channel's messages, for the channel's operators.
    ///
    /// - Parameter request: a history request for the channel of the reported messages.
    /// - Throws: `.forbidden` when the caller is not an operator of the channel; `.malformed` for a limit out of range.
    public func reports(_ request: HistoryRequest, by named: String?) async throws(ChatError) -> Page<Event> {
        let name = request.channel.name
        try caller.require(.read)
        let actor = try acting(named, in: name, for: "report.created")
        try actor.requireOperator(
            of: try await directory.read(ChannelRecord.key(name, in: app)).flatMap { ChannelRecord($0) })
        guard (1...limits.pageMost).contains(request.limit) else {
            throw ChatError(.malformed, "'limit' must be 1 to \(limits.pageMost)")
        }
        var request = request
        request.channel = self.channel(Self.moderationChannel(of: name))
        request.types = [.exact("report.created")]
        return try await log.history([request])[0]
    }
}
