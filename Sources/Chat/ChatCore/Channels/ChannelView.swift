public import ChatModel
public import JSON
import Signing

/// A channel's record with its member counts.
public struct ChannelView: Sendable {
    /// The channel's record.
    public let channel: ChannelRecord
    /// The numbers of members; zero for open channels, which have no members.
    public let counts: MemberCounts

    /// Prints the channel in the form of the REST API and of events.
    public func show(to writer: inout JSONWriter) { channel.show(counts, to: &writer) }
}

extension ChatAccess {
    /// The maximum number of attempts to create a distinct channel while other requests create a channel for the same
    /// users.
    private static let distinctAttempts = 8

    /// Creates the distinct channel of a set of users, or returns the existing one. There is at most one distinct
    /// channel for a set of users.
    ///
    /// - Parameter users: the first members besides the creator.
    func make(
        distinct channel: ChannelRecord, _ users: [String], by actor: Actor
    ) async throws(ChatError) -> Written<ChannelView> {
        guard channel.kind == .group else {
            throw ChatError(
                .malformed, "only a channel of kind 'group' can be distinct; leave 'distinct' out", slug: "bad_member",
                field: "distinct")
        }
        let members = (actor.user.map { [$0] } ?? []) + users
        guard !members.isEmpty else {
            throw ChatError(
                .malformed, "'users' must name the members of a distinct channel", slug: "bad_member", field: "users")
        }
        var channel = channel
        let key = ChannelRecord.key(of: members)
        (channel.isDistinct, channel.distinctKey) = (true, key)
        try requireRecord(of: channel.id)
        try await requireUnused(channel, by: actor)
        let place = DistinctChannelRecord.key(key, in: app)
        for _ in 0..<Self.distinctAttempts {
            let present = try await directory.read(place).flatMap(DistinctChannelRecord.init)
            if let made = try await make(channel, users, at: place, unless: present, by: actor) { return made }
        }
        throw ChatError(
            .overloaded, "another request is changing the distinct channel of these users; repeat the request",
            retryAfter: .seconds(1))
    }

    /// Creates the distinct channel of a set of users, or returns the existing one.
    ///
    /// - Parameters:
    ///   - place: the key of the record that contains the id of the distinct channel of these users.
    ///   - present: the record with the key `place`, as it was read; nil when there is none.
    /// - Returns: nil when the record has changed after it was read.
    private func make(
        _ channel: ChannelRecord, _ users: [String], at place: RecordKey, unless present: DistinctChannelRecord?,
        by actor: Actor
    ) async throws(ChatError) -> Written<ChannelView>? {
        if let present { try requireRecord(of: present.channel) }
        let key = ChannelRecord.key(channel.id, in: app)
        let members = (actor.user.map { [$0] } ?? []) + users
        var keys = MemberChange.keys(of: channel.id, users: members, by: actor, in: app) + [place]
        if let present {
            keys += [ChannelRecord.key(present.channel, in: app), MemberCounts.key(present.channel, in: app)]
        }
        let decided = try await decide(keys) { snapshot throws(ChatError) -> Decision<Written<ChannelView>?> in
            guard snapshot[place].flatMap(DistinctChannelRecord.init) == present else { return Decision(nil) }
            if let present {
                let found = try existing(present.channel, in: snapshot)
                let counts = MemberCounts(snapshot[MemberCounts.key(found.id, in: app)])
                return Decision(Written(record: ChannelView(channel: found, counts: counts), isNew: false))
            }
            if let record = snapshot[key] { throw .channelExists(record) }
            let first = try first(channel, users, snapshot, by: actor)
            let found = RecordChange(place, body: DistinctChannelRecord(channel: channel.id).body)
            return Decision(first.value, changes: first.changes + [found], events: first.events)
        }
        guard let made = decided.value else { return nil }
        return Written(record: made.record.stamped(decided.record(key)), isNew: made.isNew)
    }
}

extension ChannelRecord {
    /// Returns a key for a set of users that does not depend on their order.
    ///
    /// The key contains the lengths of the names, so that `ab` and `c` have another key than `a` and `bc`.
    static func key(of users: [String]) -> String {
        let text = users.sorted { ExactText($0) < ExactText($1) }.map { "\($0.utf8.count):\($0)" }.joined()
        return Base64.encodeURL(Array(sha256(Array(text.utf8)).prefix(16)))
    }

    /// Returns the record changes to add to a commit that replaces the channel by `next`, or deletes the channel when
    /// `next` is nil. If the commit makes the channel no longer distinct, the changes remove the record that maps the
    /// channel's first members to its id. Otherwise the result is empty.
    func endingDistinct(before next: ChannelRecord?, in app: AppID) -> [RecordChange] {
        guard isDistinct, next?.isDistinct != true, let distinctKey else { return [] }
        return [RecordChange(DistinctChannelRecord.key(distinctKey, in: app), body: nil)]
    }
}
