public import ChatModel
import JSON

extension ChatAccess {
    /// Moves a member's mark forward to a message. A mark that is there already, or further, stays: however many
    /// devices mark at once, the newest message wins.
    ///
    /// - Parameters:
    ///   - timetoken: the message; nil: the newest of the channel.
    ///   - named: who does it, where the credential may name somebody; nobody marks for others.
    /// - Throws: `.notFound`, slug `no_such_member`, for who has not joined; `.malformed` for a position nothing has.
    public func mark(
        _ kind: ReceiptKind, _ user: String, in channel: String, at timetoken: Timetoken? = nil,
        by named: String? = nil
    ) async throws(ChatError) -> MembershipRecord {
        let actor = try receiptActor(user, named)
        try demandRecord(of: channel)
        try await check(mark: timetoken)
        let mark = if let timetoken { timetoken } else { try await newestMessage(in: channel) }
        let key = MembershipRecord.key(user, channel, in: space)
        let decided = try await decide([key, SweepRecord.key(channel, in: space)]) { situation throws(ChatError) in
            guard var membership = situation.membership(of: user, in: channel, space), membership.state == .joined
            else {
                throw ChatError(
                    .notFound, "user '\(user)' has not joined channel '\(channel)'", slug: "no_such_member")
            }
            guard kind.mark(of: membership) < mark else { return Decision(membership) }
            kind.set(mark, on: &membership)
            return Decision(
                membership, changes: [RecordChange(key, body: membership.body, parent: channel)],
                events: [receipt(kind, membership, by: actor)])
        }
        if kind == .read { await service.unread.tell(UserID(user, in: space)) }
        return decided.record(key).flatMap(MembershipRecord.init) ?? decided.value
    }

    /// Marks everything read in the channels a user has joined, as of now.
    ///
    /// - Parameter channels: in these only; nil: in all where something is unread.
    /// - Returns: in which channels the mark moved.
    public func markAllRead(
        by user: String, in channels: [String]? = nil, named: String? = nil
    ) async throws(ChatError) -> [String] {
        let actor = try receiptActor(user, named)
        for channel in channels ?? [] { try demandRecord(of: channel) }
        let mark = try await log.watermark(of: space)
        var moved: [String] = []
        let unread = try await service.unread.channels(of: UserID(user, in: space))
        let wanted = channels.map { Set($0.map { ExactText($0) }) }
        var rest = unread.filter { wanted?.contains(ExactText($0)) ?? caller.reaches(channel: $0) }[...]
        while !rest.isEmpty {
            moved += try await markRead(Array(rest.prefix(Self.marksAtOnce)), user, at: mark, by: actor)
            rest = rest.dropFirst(Self.marksAtOnce)
        }
        await service.unread.tell(UserID(user, in: space))
        return moved
    }

    /// Steps are small, so that others write between them.
    private static let marksAtOnce = 100

    private func markRead(
        _ channels: [String], _ user: String, at mark: Timetoken, by actor: Actor
    ) async throws(ChatError) -> [String] {
        let keys = channels.map { MembershipRecord.key(user, $0, in: space) }
        let sweeps = channels.map { SweepRecord.key($0, in: space) }
        return try await decide(keys + sweeps) { situation throws(ChatError) in
            var decision = Decision<[String]>([])
            for (channel, key) in zip(channels, keys) {
                guard var membership = situation.membership(of: user, in: channel, space),
                    membership.state == .joined, membership.read < mark
                else { continue }
                ReceiptKind.read.set(mark, on: &membership)
                decision.value.append(channel)
                decision.changes.append(RecordChange(key, body: membership.body, parent: channel))
                decision.events.append(receipt(.read, membership, by: actor))
            }
            return decision
        }.value
    }

    private func receiptActor(_ user: String, _ named: String?) throws(ChatError) -> Actor {
        try Names.check(user: user)
        let actor = try actor(named)
        try actor.demand(self: user)
        return actor
    }

    /// A mark ahead of everything would take messages for read that nobody has written yet.
    private func check(mark timetoken: Timetoken?) async throws(ChatError) {
        guard let timetoken, try await log.watermark(of: space) < timetoken else { return }
        throw ChatError(
            .malformed, "timetoken \(timetoken) lies ahead of every message; send that of the message that was read",
            slug: "bad_member")
    }

    private func newestMessage(in channel: String) async throws(ChatError) -> Timetoken {
        var request = HistoryRequest(channel: self.channel(channel), order: .newestFirst, limit: 1)
        request.types = [.exact(BuiltInTypes.messageCreated)]
        while true {
            let page = try await log.history([request])[0]
            if let message = page.items.first { return message.timetoken }
            // Much else may have happened since.
            guard let rest = request.rest(behind: page) else { return .zero }
            request = rest
        }
    }

    private func receipt(_ kind: ReceiptKind, _ membership: MembershipRecord, by actor: Actor) -> EventDraft {
        let mark = kind.mark(of: membership)
        return draft(kind.eventType, on: membership.channel, by: membership.user, audience: kind.audience) { writer in
            writer.member("user_id", membership.user)
            switch kind {
            case .delivered:
                writer.member("delivered_ts", mark.milliseconds)
                writer.member("last_delivered_timetoken", mark.description)
            case .read: writer.member("last_read_timetoken", mark.description)
            }
        }
    }
}
