public import ChatModel
public import JSON

/// The kind of a member's mark in a channel. The delivered mark is at the newest message that a device of the user has
/// received; the read mark is at the newest message that the user has read.
public enum ReceiptKind: Sendable, CaseIterable {
    case delivered, read

    func mark(of membership: MembershipRecord) -> Timetoken {
        switch self {
        case .delivered: membership.delivered
        case .read: membership.read
        }
    }

    /// Moves a mark forward; never moves it back. A message that was read also counts as delivered.
    func set(_ mark: Timetoken, on membership: inout MembershipRecord) {
        membership.delivered = max(membership.delivered, mark)
        if self == .read { membership.read = max(membership.read, mark) }
    }

    var eventType: String {
        switch self {
        case .delivered: "receipt.delivered"
        case .read: "receipt.read"
        }
    }

    /// The audience of the receipt. Invited users receive read receipts, but no delivery receipts.
    var audience: Audience {
        switch self {
        case .delivered: .rule(.joinedButOrigin)
        case .read: .rule(.membersButOrigin)
        }
    }
}

extension ChatAccess {
    /// Moves a member's mark forward to a message. A mark at or after the message does not move. So when several
    /// devices set marks, the mark stays at the newest message.
    ///
    /// - Parameters:
    ///   - timetoken: the timetoken of the message; nil for the newest message of the channel.
    ///   - named: the acting user that the request names, which must be `user`; nil when the request names none.
    /// - Throws: `.notFound` with the slug `no_such_member` for a user who has not joined the channel; `.malformed` for
    ///   a timetoken after the newest event; `.forbidden` for another user.
    public func mark(
        _ kind: ReceiptKind, _ user: String, in channel: String, at timetoken: Timetoken? = nil,
        by named: String? = nil
    ) async throws(ChatError) -> MembershipRecord {
        try requireReceipts(of: user, by: named)
        try requireRecord(of: channel)
        try await check(mark: timetoken)
        let mark = if let timetoken { timetoken } else { try await newestMessage(in: channel) }
        let decided = try await move(kind, of: user, in: channel, to: mark)
        return decided.record(MembershipRecord.key(user, channel, in: app)).flatMap(MembershipRecord.init)
            ?? decided.value
    }

    /// Moves a mark forward, and notifies the user of the new unread counts.
    ///
    /// - Parameter wire: the JSON of the event for the PubNub-compatible API; nil for the standard form.
    private func move(
        _ kind: ReceiptKind, of user: String, in channel: String, to mark: Timetoken, showing wire: JSONText? = nil
    ) async throws(ChatError) -> Decided<MembershipRecord> {
        let key = MembershipRecord.key(user, channel, in: app)
        let decided = try await counting { attempt throws(ChatError) in
            let audience = try await ReceiptMembers(kind, mark, in: self.channel(channel), self, attempt: attempt)
            return try await self.move(kind, of: key, in: channel, to: mark, audience, user, showing: wire)
        }
        if kind == .read { await service.unread.notify(UserID(user, in: app)) }
        return decided
    }

    private func move(
        _ kind: ReceiptKind, of key: RecordKey, in channel: String, to mark: Timetoken, _ members: ReceiptMembers,
        _ user: String, showing wire: JSONText?
    ) async throws(ChatError) -> Decided<MembershipRecord> {
        try await decide([key] + members.keys + [UserRecord.key(user, in: app)]) { snapshot throws(ChatError) in
            guard var membership = snapshot.membership(of: user, in: channel, app), membership.state == .joined
            else {
                throw ChatError(
                    .notFound, "user '\(user)' has not joined channel '\(channel)'", slug: "no_such_member")
            }
            guard kind.mark(of: membership) < mark else { return Decision(membership) }
            kind.set(mark, on: &membership)
            var events = events(
                of: kind, membership, behind: try members.behind(kind, mark, besides: key, snapshot), snapshot)
            events[0].wire = wire
            return Decision(
                membership, changes: [RecordChange(key, body: membership.body, parent: channel)], events: events)
        }
    }

    /// Runs `body`, which moves a mark and counts members in one commit. Runs `body` again when it fails with
    /// `.conflict` because members joined or left meanwhile.
    ///
    /// - Parameter body: its argument is the number of the attempt, from 0.
    private func counting<Value>(
        _ body: (_ attempt: Int) async throws(ChatError) -> Value
    ) async throws(ChatError) -> Value {
        for attempt in 0..<ReceiptMembers.attempts {
            do throws(ChatError) {
                return try await body(attempt)
            } catch {
                guard error.code == .conflict else { throw error }
            }
        }
        return try await body(ReceiptMembers.attempts)
    }

    /// The effect of a receipt that a PubNub client published.
    public enum PublishedReceipt: Sendable, Equatable {
        /// The mark moved. The event of the move has this timetoken.
        case moved(Timetoken)
        /// The mark did not move, because it was already at or after the message, or because the receipt names no
        /// message of the channel.
        case unmoved
        /// The user has not joined the channel, and so has no mark.
        case noMember
    }

    /// Processes a read receipt that a PubNub client published: moves the member's read mark forward to the message.
    ///
    /// - Parameter wire: the receipt as the client published it. PubNub clients receive it in this form.
    /// - Throws: `.forbidden` when the caller may not act as the user or may not use the channel; the errors of the
    ///   store.
    public func process(
        receiptOf user: String, in channel: String, at timetoken: Timetoken, showing wire: JSONText
    ) async throws(ChatError) -> PublishedReceipt {
        try requireReceipts(of: user, by: user)
        try requireRecord(of: channel)
        guard try await member(user, of: channel)?.state == .joined else { return .noMember }
        let message = try await log.event(at: timetoken, in: app)
        guard let message, message.channel == self.channel(channel), [.message, .file].contains(message.kind) else {
            return .unmoved
        }
        do throws(ChatError) {
            let decided = try await move(.read, of: user, in: channel, to: timetoken, showing: wire)
            return decided.events.first.map { .moved($0.timetoken) } ?? .unmoved
        } catch {
            // The user left the channel meanwhile.
            guard error.code == .notFound else { throw error }
            return .noMember
        }
    }

    /// Marks all messages as read in the channels that a user has joined.
    ///
    /// - Parameter channels: the channels to mark; nil for all channels with unread messages.
    /// - Returns: the channels whose mark moved.
    /// - Throws: `.forbidden` when the caller does not act for the user, or may not use one of the channels;
    ///   `.malformed` for a bad name; the errors of the store.
    public func markAllRead(
        by user: String, in channels: [String]? = nil, named: String? = nil
    ) async throws(ChatError) -> [String] {
        try requireReceipts(of: user, by: named)
        for channel in channels ?? [] { try requireRecord(of: channel) }
        let mark = try await log.watermark(of: app)
        var moved: [String] = []
        let unread = try await service.unread.channels(of: UserID(user, in: app))
        let wanted = channels.map { Set($0.map { ExactText($0) }) }
        var rest = unread.filter { wanted?.contains(ExactText($0)) ?? caller.reaches(channel: $0) }[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(Self.marksAtOnce))
            moved += try await counting { attempt throws(ChatError) in
                var members: [ReceiptMembers] = []
                for channel in part {
                    members.append(
                        try await ReceiptMembers(.read, mark, in: self.channel(channel), self, attempt: attempt))
                }
                return try await self.markRead(zip(part, members).map { ($0, $1) }, user, at: mark)
            }
            rest = rest.dropFirst(Self.marksAtOnce)
        }
        await service.unread.notify(UserID(user, in: app))
        return moved
    }

    /// The maximum number of marks to move in one commit. Small, so that other writes run between the commits.
    private static let marksAtOnce = 10

    private func markRead(
        _ channels: [(name: String, members: ReceiptMembers)], _ user: String, at mark: Timetoken
    ) async throws(ChatError) -> [String] {
        let keys = channels.map { MembershipRecord.key(user, $0.name, in: app) }
        let shown = channels.flatMap(\.members.keys) + [UserRecord.key(user, in: app)]
        return try await decide(keys + shown) { snapshot throws(ChatError) in
            var decision = Decision<[String]>([])
            for ((channel, members), key) in zip(channels, keys) {
                guard var membership = snapshot.membership(of: user, in: channel, app),
                    membership.state == .joined, membership.read < mark
                else { continue }
                ReceiptKind.read.set(mark, on: &membership)
                decision.value.append(channel)
                decision.changes.append(RecordChange(key, body: membership.body, parent: channel))
                decision.events += events(
                    of: .read, membership, behind: try members.behind(.read, mark, besides: key, snapshot), snapshot)
            }
            return decision
        }.value
    }

    /// Requires that the actor is the user, because users may move only their own marks.
    private func requireReceipts(of user: String, by named: String?) throws(ChatError) {
        try Names.check(user: user)
        try actor(named).require(self: user)
    }

    /// Requires that a mark is not after the app's newest event. Otherwise, messages would count as read before they
    /// are sent. Nil is always accepted.
    private func check(mark timetoken: Timetoken?) async throws(ChatError) {
        guard let timetoken, try await log.watermark(of: app) < timetoken else { return }
        throw ChatError(
            .malformed,
            "timetoken \(timetoken) is later than every stored event; send the timetoken of the message that was read",
            slug: "bad_member", field: "timetoken")
    }

    private func newestMessage(in channel: String) async throws(ChatError) -> Timetoken {
        var request = HistoryRequest(channel: self.channel(channel), order: .newestFirst, limit: 1)
        request.types = [.exact(BuiltInTypes.messageCreated)]
        while true {
            let page = try await log.history([request])[0]
            if let message = page.items.first { return message.timetoken }
            // A page may be empty although the channel has more events: continue with the rest.
            guard let rest = request.rest(behind: page) else { return .zero }
            request = rest
        }
    }

    private func events(
        of kind: ReceiptKind, _ membership: MembershipRecord, behind: Int?, _ snapshot: RecordSnapshot
    ) -> [EventDraft] {
        let receipt = receipt(kind, membership, behind: behind, snapshot)
        guard kind == .read else { return [receipt] }
        return [receipt] + wireEvents(of: membership, by: membership.user, at: snapshot.next)
    }

    /// Creates the event of a moved mark.
    ///
    /// - Parameters:
    ///   - behind: the number of other members whose marks are before the new mark; nil to leave the number out.
    ///   - snapshot: contains the records of the user, the channel and the channel's member counts.
    func receipt(
        _ kind: ReceiptKind, _ membership: MembershipRecord, behind: Int?, _ snapshot: RecordSnapshot
    ) -> EventDraft {
        let mark = kind.mark(of: membership)
        return draft(kind.eventType, on: membership.channel, by: membership.user, audience: kind.audience) { writer in
            writer.key("user")
            snapshot.user(membership.user, in: app).printReference(to: &writer)
            switch kind {
            case .delivered:
                writer.member("delivered_timetoken", mark.description)
                writer.member("delivered_at", mark.timestamp)
                if let behind { writer.member("undelivered_member_count", behind) }
            case .read:
                writer.member("read_timetoken", mark.description)
                writer.member("read_at", mark.timestamp)
                if let behind { writer.member("unread_member_count", behind) }
            }
            let channel = snapshot[ChannelRecord.key(membership.channel, in: app)].flatMap { ChannelRecord($0) }
            printChannel(channel, snapshot, to: &writer)
        }
    }
}

extension ChatAccess {
    /// Returns a user's unread counts. Messages of other users after the read mark count, in joined channels that the
    /// user has not hidden permanently.
    ///
    /// - Throws: `.forbidden` when a user's credential requests the counts of another user.
    public func unread(of user: String) async throws(ChatError) -> Unread {
        try requireUnread(of: user)
        return try await service.unread.unread(of: UserID(user, in: app))
    }

    /// Returns the number of unread messages of a user in one channel.
    ///
    /// - Throws: `.notFound` with the slug `no_such_member` when the user is not a member.
    public func unread(of user: String, in name: String) async throws(ChatError) -> Int {
        try requireUnread(of: user)
        try requireRecord(of: name)
        guard let unread = try await service.unread.unread(of: UserID(user, in: app), in: channel(name)) else {
            throw ChatError(.notFound, "user '\(user)' is not a member of channel '\(name)'", slug: "no_such_member")
        }
        return unread
    }

    private func requireUnread(of user: String) throws(ChatError) {
        try caller.require(.read)
        try Names.check(user: user)
        try caller.require(self: user)
        if caller.user == nil { try caller.require(channel: user) }
    }
}

extension ChatService {
    /// Starts or stops notifications of a user's unread counts. While they are on, each change is sent as an
    /// `unread_count.updated` event on the user's own channel. Calls are counted: notifications stop when there were as
    /// many calls with `isOn: false` as with `isOn: true`.
    public func watchUnread(of user: UserID, isOn: Bool) async {
        if isOn { await unread.watch(user) } else { await unread.unwatch(user) }
    }
}
