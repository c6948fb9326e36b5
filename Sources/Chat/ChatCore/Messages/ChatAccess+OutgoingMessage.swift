public import ChatModel
import JSON

/// A message with links to other messages or users. The value is prepared before the decision that stores the message.
private struct LinkedPost: Sendable {
    let draft: EventDraft
    let links: MessageLinks
    /// The first message of the thread; nil for a message that is not a reply.
    let root: Event?
    let channelKey: RecordKey
    let rootKey: RecordKey?
    /// The keys of the records that determine whether the author may write in the channel.
    let rightsKeys: [RecordKey]

    var channel: String { draft.channel.name }
    /// The keys of the user records that the event `thread.updated` contains: the authors of replies in the thread.
    let authorKeys: [RecordKey]

    var keys: [RecordKey] {
        [channelKey, MemberCounts.key(channel, in: draft.channel.app)] + (rootKey.map { [$0] } ?? []) + rightsKeys
            + memberships + authorKeys
    }

    /// The keys of the records that determine which mentioned users are notified.
    private var memberships: [RecordKey] {
        guard !links.mentioned.isEmpty else { return [] }
        let app = draft.channel.app
        return [CascadeDeletionRecord.key(channel, in: app)]
            + links.mentioned.flatMap {
                [MembershipRecord.key($0, channel, in: app), RestrictionRecord.key($0, channel, in: app)]
            }
    }
}

extension ChatAccess {
    /// Sends a message that quotes a message, replies to a message, or mentions users. The events `user.mentioned` and
    /// `thread.updated` are stored in the same commit.
    ///
    /// - Throws: the errors of `emit`; `.notFound` when the quoted message or the first message of the thread does not
    ///   exist; `.gone` when either of these messages is deleted; `.conflict` when the first message of the thread is
    ///   itself a reply.
    public func post(
        _ draft: EventDraft, _ links: MessageLinks, claim: Claim? = nil
    ) async throws(ChatError) -> AppendOutcome {
        do throws(ChatError) {
            if let claim, let earlier = try await earlier(claim) { return outcome(ofPost: earlier, draft) }
            let post = try await linked(draft, links)
            if let meters = caller.meters { try meters.admit(events: 1, at: service.clock.now) }
            let decided = try await decide(post.keys) { snapshot throws(ChatError) in
                var decision = try self.posting(post, snapshot)
                decision.claim = claim
                // The version is stored with the claim, so that a repeated call returns the same version.
                if let etag = decision.value { decision.claim?.note = JSONText(string: etag) }
                return decision
            }
            var outcome = AppendOutcome(events: [Appended(event: decided.events[0], isDuplicate: false)])
            outcome.messageETag = decided.value
            return outcome
        } catch {
            // A concurrent call with the same claim was committed first: return its outcome.
            guard error.code == .conflict, let claim, let earlier = try await earlier(claim) else { throw error }
            return outcome(ofPost: earlier, draft)
        }
    }

    private func outcome(ofPost earlier: RepeatedAppend, _ draft: EventDraft) -> AppendOutcome {
        var outcome = outcome(of: earlier, asking: [draft])
        outcome.messageETag = try? JSONDocument(earlier.note).root.string
        return outcome
    }

    private func linked(_ draft: EventDraft, _ links: MessageLinks) async throws(ChatError) -> LinkedPost {
        try links.check(limits)
        // Rights are checked first, because a user who may not write here must not see the quoted message.
        var draft = try await prepare(draft)
        let channel = draft.channel.name
        var quoted: Message?
        if let quote = links.quote { quoted = try await linked(to: quote, in: channel) }
        var root: Message?
        if let threadOf = links.threadOf { root = try await linked(to: threadOf, in: channel) }
        let meta = try links.meta(beside: draft.meta, quoting: quoted, names: try await names(of: links.mentioned))
        try Self.check(meta, "meta", limits.metaBytes)
        draft.meta = meta
        return LinkedPost(
            draft: draft, links: links, root: root?.event, channelKey: ChannelRecord.key(channel, in: app),
            rootKey: root.map { MessageRecord.key(channel, $0.timetoken, in: app) },
            rightsKeys: rightsKeys(of: draft.user, in: channel),
            authorKeys: root.map { threadAuthorKeys($0.record, replying: draft.user) } ?? [])
    }

    private func linked(to timetoken: Timetoken, in channel: String) async throws(ChatError) -> Message {
        let message = try await messages(of: [try await sent(timetoken, in: channel)])[0]
        guard !message.isDeleted else { throw ChatError(.gone, "the message \(timetoken) is deleted") }
        return message
    }

    private func names(of users: [String]) async throws(ChatError) -> [ExactText: String] {
        guard !users.isEmpty else { return [:] }
        var names: [ExactText: String] = [:]
        for record in try await directory.read(users.map { UserRecord.key($0, in: app) }) {
            guard let user = record.flatMap({ UserRecord($0) }) else { continue }
            names[ExactText(user.id)] = user.name
        }
        return names
    }

    /// Creates the decision that stores the message together with the events that it causes.
    ///
    /// - Returns: the decision. Its value is the etag of the message's record; nil when no record is stored with the
    ///   message.
    private func posting(_ post: LinkedPost, _ snapshot: RecordSnapshot) throws(ChatError) -> Decision<String?> {
        try require(.writing, of: post.draft.user, in: post.channel, snapshot)
        let channel = snapshot[post.channelKey].flatMap { ChannelRecord($0) }
        var message = post.draft
        message.thread = post.root?.timetoken
        if message.audience == .subscribers {
            message.audience = channel.audience(members: .joinedButOrigin, inside: .participantsButOrigin)
        }
        var decision = Decision(String?.none, events: [message])
        decision.requires = [post.links.quote, post.links.threadOf].compactMap(\.self).map { (message.channel, $0) }
        var record = MessageRecord(channel: post.channel, timetoken: snapshot.next)
        record.threadOf = post.root?.timetoken ?? .zero
        mention(post, message, &record, in: channel, snapshot, &decision)
        try reply(post, in: channel, snapshot, &decision)
        if record != MessageRecord(channel: post.channel, timetoken: snapshot.next) {
            decision.changes.append(record.change(in: app))
            decision.value = snapshot.etag
        }
        return decision
    }

    /// Adds a `user.mentioned` event on the own channel of each mentioned user who is a member of the channel, or who
    /// is inside the channel if the channel is open. If the channel has no record, every mentioned user who is not
    /// banned gets the event. If the message mentions all users in the channel, adds one `user.mentioned` event on the
    /// message's channel.
    private func mention(
        _ post: LinkedPost, _ draft: EventDraft, _ record: inout MessageRecord, in channel: ChannelRecord?,
        _ snapshot: RecordSnapshot, _ decision: inout Decision<String?>
    ) {
        let everybody = post.links.mentions.map { if case .channel = $0 { true } else { false } } ?? false
        let told = post.links.mentioned.filter { user in
            switch channel?.kind {
            case .direct, .group, .public: snapshot.membership(of: user, in: post.channel, app) != nil
            case .open: service.presence.isInside(user, self.channel(post.channel))
            case nil:
                !snapshot.rights(of: user, in: post.channel, app).access(at: snapshot.now).contains(.banned)
            }
        }
        let targets: [(channel: String, audience: Audience)] =
            everybody
            ? [(post.channel, channel.audience(members: .joinedButOrigin, inside: .participants))]
            : told.map { user in
                let rule = channel?.kind == .open ? AudienceRule.mentioned : .mentionedButOrigin
                return (user, .rule(rule, subjects: [user]))
            }
        // An ephemeral message is not in the log. A later deletion could not find the copies of its text, so the copies
        // contain only a reference.
        let isKept = draft.retention == .kept
        if isKept {
            for (index, target) in targets.enumerated() {
                record.mentions.append(.init(channel: target.channel, timetoken: snapshot.place(of: 1 + index)))
            }
        }
        var shown = record
        (shown.etag, shown.updated) = (snapshot.etag, snapshot.next)
        let message = Message(Event(timetoken: snapshot.next, draft: draft), shown)
        for target in targets {
            // A user who is only invited may not read the channel's messages, and gets a reference to the message.
            let mayRead =
                everybody
                || snapshot.rights(of: target.channel, in: post.channel, app).access(at: snapshot.now)
                    .mayReceive(channel?.kind)
            var event = self.draft(
                "user.mentioned", on: target.channel, by: post.draft.user, audience: target.audience
            ) { writer in
                writer.key("message")
                if isKept, mayRead { message.print(to: &writer) } else { message.printReference(to: &writer) }
                if everybody { writer.member("mentions", "channel") } else { writer.member("mentions", told) }
                printChannel(channel, snapshot, to: &writer)
            }
            event.end(with: draft)
            decision.events.append(event)
        }
    }

    private func reply(
        _ post: LinkedPost, in channel: ChannelRecord?, _ snapshot: RecordSnapshot, _ decision: inout Decision<String?>
    ) throws(ChatError) {
        guard let key = post.rootKey, let event = post.root else { return }
        var root =
            snapshot[key].flatMap { MessageRecord($0) }
            ?? MessageRecord(channel: post.channel, timetoken: event.timetoken)
        guard root.deletion == nil else { throw ChatError(.gone, "the message \(root.timetoken) is deleted") }
        guard root.threadOf == .zero else {
            throw ChatError(
                .conflict,
                "a message cannot reply to a reply; set 'thread_of' to the reply's parent message, \(root.threadOf)")
        }
        root.thread.root = event.user
        root.thread.add(by: post.draft.user, at: snapshot.next)
        let naming = root.threadNamings == 0 ? self.naming(of: &root, by: post.draft.user, at: snapshot.next) : nil
        decision.changes +=
            [root.change(in: app)] + (naming.map { [RecordChange($0.key(in: app), body: $0.body)] } ?? [])
        decision.events.append(
            threadUpdated(
                root, .replyCreated, snapshot.next, by: post.draft.user, in: channel, snapshot,
                action: naming))
    }

    /// Creates the action that tells PubNub clients the name of the thread's channel. The user of the action is the
    /// author of the first reply.
    private func naming(of root: inout MessageRecord, by user: String?, at place: Timetoken) -> MessageActionRecord {
        let name = MappedThread(parent: root.channel, root: root.timetoken).name
        var action = MessageActionRecord(
            channel: root.channel, message: root.timetoken, type: BuiltInAction.threadRootId.rawValue, value: name,
            user: user ?? "")
        action.timetoken = place
        root.thread.channel = name
        root.threadNamings = 1
        root.actions += 1
        return action
    }
}
