public import JSON

/// The state of a membership.
public enum MemberState: String, Sendable, CaseIterable { case invited, joined }

/// The role of a member in its channel.
public enum MemberRole: String, Sendable, CaseIterable { case member = "none", `operator` }

/// The messages of a channel for which a member wants push notifications. The gateway sends none: it stores the
/// preference for a service that does.
public enum PushPreference: String, Sendable, CaseIterable {
    case all
    /// Messages that mention the member.
    case mentions
    case never = "none"
}

/// The membership of a user in a channel.
///
/// Its id is `user/channel` and its parent is the channel, so that it can be listed by user and by channel.
public struct MembershipRecord: Sendable, Equatable {
    /// The state of a channel that is hidden from the user's list.
    public struct Hiding: Sendable, Equatable {
        /// The time of hiding.
        public var since: Timetoken
        /// True when messages up to `since` are not shown again.
        public var hidesHistory: Bool
        /// True when a message after `since` shows the channel again.
        public var endsWithMessage: Bool

        /// The state of a channel that was hidden at a time.
        public init(since: Timetoken, hidesHistory: Bool, endsWithMessage: Bool) {
            self.since = since
            self.hidesHistory = hidesHistory
            self.endsWithMessage = endsWithMessage
        }
    }

    /// The member.
    public var user: String
    /// The channel's name.
    public var channel: String
    /// Whether the user has joined or is only invited.
    public var state: MemberState
    /// The user's role in the channel.
    public var role = MemberRole.member
    /// The user who invited this one; nil without an invitation.
    public var inviter: String?
    /// The time of the invitation; zero without one.
    public var invited: Timetoken = .zero
    /// The time of joining; zero while invited.
    public var joined: Timetoken = .zero
    /// A type, as free text of the app.
    public var type: String?
    /// A state, as free text of the app.
    public var status: String?
    /// An object of the app; numbers keep their digits.
    public var custom: JSONText?
    /// The newest message that the user has read; zero for none.
    public var read: Timetoken = .zero
    /// The newest message that has reached a device of the user.
    public var delivered: Timetoken = .zero
    /// Set while the channel is hidden from the user's list.
    public var hiding: Hiding?
    /// The messages for which the user wants push notifications.
    public var push = PushPreference.all
    /// The time of the last change.
    public var updated: Timetoken = .zero
    /// The version of the record; changes with every change.
    public var etag = ""

    /// A membership without further values.
    public init(user: String, channel: String, state: MemberState) {
        self.user = user
        self.channel = channel
        self.state = state
    }

    /// The id of its record, `user/channel`.
    var id: String { RecordKey.id([user, channel]) }

    /// The key under which the store keeps the record.
    public static func key(_ user: String, _ channel: String, in app: AppID) -> RecordKey {
        RecordKey(.membership, parts: [user, channel], in: app)
    }

    /// The prefix of the ids of a user's memberships.
    public static func prefix(of user: String) -> String { RecordKey.prefix([user]) }

    /// Prints the whole membership, as the REST API shows it to API keys and to the membership's user.
    public func show(to writer: inout JSONWriter) {
        writer.record(id: id, created: created, etag: etag, updated: updated) { writer in
            printMembers(to: &writer)
            writer.member("push", push.rawValue)
        }
    }

    /// Prints the membership as the REST API shows it to a caller.
    public func show(to caller: Caller, _ writer: inout JSONWriter) {
        let isOthers = caller.user.map { ExactText($0) != ExactText(user) } ?? false
        if isOthers { showToMembers(to: &writer) } else { show(to: &writer) }
    }

    /// Prints the membership as events contain it (`$defs/membership` of the catalogue), and as other users see it:
    /// without `hidden` and `push`, which only its user sees.
    public func showToMembers(to writer: inout JSONWriter) {
        writer.record(id: id, created: created, etag: etag, updated: updated) { printSharedMembers(to: &$0) }
    }

    /// The time at which the user was invited, or joined without an invitation.
    public var created: Timetoken { invited == .zero ? joined : invited }

    /// Prints the members of the whole membership, including how its user hides the channel.
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

    /// The record in the form that the store keeps.
    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            printMembers(to: &writer)
            writer.member("push", push.rawValue)
            writer.endObject()
        }
    }

    /// Reads the form that the store or the REST API has.
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

    /// Nil for a record of another form.
    public init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root else { return nil }
        self.init(root, record.body)
        updated = record.updated
        etag = record.etag
    }
}
