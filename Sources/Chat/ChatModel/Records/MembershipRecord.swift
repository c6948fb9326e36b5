public import JSON

/// The state of a membership.
public enum MemberState: String, Sendable, CaseIterable { case invited, joined }

/// The role of a member in a channel.
public enum MemberRole: String, Sendable, CaseIterable { case member = "none", `operator` }

/// The messages of a channel for which a member wants push notifications. The gateway sends no push notifications. It
/// stores the preference for another service.
public enum PushPreference: String, Sendable, CaseIterable {
    case all
    /// Messages that mention the member.
    case mentions
    case never = "none"
}

/// The record of a user's membership in a channel.
///
/// The record's id is `user/channel` and its parent is the channel, so that memberships can be listed by user and by
/// channel.
public struct MembershipRecord: Sendable, Equatable {
    /// The way in which a member hides the channel in the member's list of channels.
    public struct Hiding: Sendable, Equatable {
        /// The time at which the channel was hidden.
        public var since: Timetoken
        /// True when messages up to `since` stay hidden after the channel is shown again.
        public var hidesHistory: Bool
        /// True when a message after `since` shows the channel again.
        public var endsWithMessage: Bool

        /// Creates the hiding of a channel since a time.
        public init(since: Timetoken, hidesHistory: Bool, endsWithMessage: Bool) {
            self.since = since
            self.hidesHistory = hidesHistory
            self.endsWithMessage = endsWithMessage
        }
    }

    /// The name of the member.
    public var user: String
    /// The channel's name.
    public var channel: String
    /// The state of the membership: joined, or only invited.
    public var state: MemberState
    /// The user's role in the channel.
    public var role = MemberRole.member
    /// The user who invited the member; nil without an invitation.
    public var inviter: String?
    /// The time of the invitation; zero without one.
    public var invited: Timetoken = .zero
    /// The time of joining; zero while invited.
    public var joined: Timetoken = .zero
    /// A type that the app defines, as free text.
    public var type: String?
    /// A status that the app defines, as free text.
    public var status: String?
    /// The app's own data, a JSON object. Numbers keep their digits.
    public var custom: JSONText?
    /// The timetoken of the newest message that the user has read; zero for none.
    public var read: Timetoken = .zero
    /// The timetoken of the newest message that was delivered to a device of the user; zero for none.
    public var delivered: Timetoken = .zero
    /// The way in which the user hides the channel in the user's list of channels; nil while the channel is not hidden.
    public var hiding: Hiding?
    /// The messages for which the user wants push notifications.
    public var push = PushPreference.all
    /// The time of the last change.
    public var updated: Timetoken = .zero
    /// The version of the record; changes with every change.
    public var etag = ""

    /// Creates a membership without optional values.
    public init(user: String, channel: String, state: MemberState) {
        self.user = user
        self.channel = channel
        self.state = state
    }

    /// The id of the record, `user/channel`.
    var id: String { RecordKey.id([user, channel]) }

    /// The key of the record of a user's membership in a channel.
    public static func key(_ user: String, _ channel: String, in app: AppID) -> RecordKey {
        RecordKey(.membership, parts: [user, channel], in: app)
    }

    /// The prefix of the ids of a user's memberships.
    public static func prefix(of user: String) -> String { RecordKey.prefix([user]) }

    /// Prints the whole membership, as the REST API shows it to API keys and to the user of the membership.
    public func show(to writer: inout JSONWriter) {
        writer.record(id: id, created: created, etag: etag, updated: updated) { writer in
            printMembers(to: &writer)
            writer.member("push", push.rawValue)
        }
    }

    /// Prints the membership as the REST API shows it to a caller: without `hidden` and `push` for a user other than
    /// the member.
    public func show(to caller: Caller, _ writer: inout JSONWriter) {
        let isOthers = caller.user.map { ExactText($0) != ExactText(user) } ?? false
        if isOthers { showToMembers(to: &writer) } else { show(to: &writer) }
    }

    /// Prints the membership as events contain it (`$defs/membership` of the catalogue) and as other users see it:
    /// without `hidden` and `push`, which are private.
    public func showToMembers(to writer: inout JSONWriter) {
        writer.record(id: id, created: created, etag: etag, updated: updated) { printSharedMembers(to: &$0) }
    }

    /// The time at which the user was invited, or joined when there was no invitation.
    public var created: Timetoken { invited == .zero ? joined : invited }

    /// Prints the JSON members of the membership, including `hidden`, into an object that the caller has begun.
    public func printMembers(to writer: inout JSONWriter) {
        printSharedMembers(to: &writer)
        printHiding(to: &writer)
    }

    private func printSharedMembers(to writer: inout JSONWriter) {
        writer.member("user", user)
        writer.member("channel", channel)
        writer.member("state", state.rawValue)
        writer.member("role", role.rawValue)
        writer.nullable("inviter", inviter)
        writer.nullable("invited_timetoken", invited)
        writer.nullable("joined_timetoken", joined)
        writer.nullable("type", type)
        writer.nullable("status", status)
        writer.nullable("custom", custom)
        writer.nullable("read_timetoken", read)
        writer.nullable("delivered_timetoken", delivered)
    }

    private func printHiding(to writer: inout JSONWriter) {
        guard let hiding else { return writer.nullMember("hidden") }
        writer.key("hidden")
        writer.beginObject()
        writer.member("since_timetoken", hiding.since.description)
        writer.member("hide_previous_messages", hiding.hidesHistory)
        writer.member("allow_auto_unhide", hiding.endsWithMessage)
        writer.endObject()
    }

    /// The JSON body of the stored record.
    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            printMembers(to: &writer)
            writer.member("push", push.rawValue)
            writer.endObject()
        }
    }

    /// Reads the JSON object of a membership, as the store or the REST API writes it; nil when the object does not
    /// contain a membership.
    public init?(_ value: JSONValue, _ text: JSONText) {
        guard let user = value.text("user"), let channel = value.text("channel"),
            let state = value.text("state").flatMap(MemberState.init(rawValue:))
        else { return nil }
        self.init(user: user, channel: channel, state: state)
        role = value.text("role").flatMap(MemberRole.init(rawValue:)) ?? .member
        inviter = value.text("inviter")
        invited = value.timetoken("invited_timetoken")
        joined = value.timetoken("joined_timetoken")
        type = value.text("type")
        status = value.text("status")
        custom = text.part("custom")
        read = value.timetoken("read_timetoken")
        delivered = value.timetoken("delivered_timetoken")
        push = value.text("push").flatMap(PushPreference.init(rawValue:)) ?? .all
        guard let hidden = value["hidden"], hidden.kind == .object else { return }
        hiding = Hiding(
            since: hidden.timetoken("since_timetoken"), hidesHistory: hidden.flag("hide_previous_messages"),
            endsWithMessage: hidden.flag("allow_auto_unhide"))
    }

    /// Reads a stored record; nil when the record does not contain a membership.
    public init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root else { return nil }
        self.init(root, record.body)
        updated = record.updated
        etag = record.etag
    }
}
