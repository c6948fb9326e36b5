import ChatCore
import ChatModel
import JSON

/// Determines the event type of a publish or a signal from its label and the `type` of its payload.
///
/// Typed chat events get the data of the built-in types, so that webhooks, schemas and native readers see the same
/// events as from any other API. PubNub readers get the original text. A payload that names a type but lacks required
/// members becomes an ordinary message. Rejecting it would break a client that works with PubNub.
struct WireEventMapper {
    let channel: String
    let payload: WirePayload
    let user: String?
    let label: String?
    var meta: JSONText?

    init(channel: String, _ payload: WirePayload, user: String?, label: String?) {
        self.channel = channel
        self.payload = payload
        self.user = user
        self.label = label
    }

    private var claimed: String? { payload.type }

    func publish() -> EventDraft {
        if let event = typedEvent {
            var draft = typed(event, .message, .kept)
            // Only PubNub readers receive this event. The client also writes the restriction, and that write creates
            // the event for all other readers.
            if claimed == "moderation" { draft.audience = .wire }
            return draft
        }
        if let label, claimed != "text", !Self.labelsOfMessages.contains(label) { return custom(label, .message) }
        if claimed == "custom" { return custom(BuiltInTypes.custom, .message) }
        var draft = EventDraft.message(channel: channel, data: payload.text, user: user, meta: meta)
        draft.customType = label
        // The original text is stored in addition to the data. Otherwise PubNub readers would get the text in the
        // format of a native message.
        if VisiblePayload.isNativeText(payload.text) { draft.wire = payload.text }
        return draft
    }

    /// Labels that do not become event types: the labels of Chat SDKs, and names that are reserved for other events.
    private static let labelsOfMessages = BuiltInTypes.eventSourceNames.union(["text", "text-message"])

    func signal() -> EventDraft {
        if let event = typedSignal { return typed(event, .signal, .passing) }
        var draft = EventDraft.signal(channel: channel, data: payload.text, user: user)
        draft.customType = label
        return draft
    }

    /// The change of state that a signal requests.
    enum SignalEffect {
        /// True when the user starts typing, false when the user stops.
        case typing(Bool)
        /// The user has read all messages up to and including this timetoken.
        case read(Timetoken)
    }

    var signalFact: SignalEffect? {
        switch claimed {
        case "typing": payload.value["value"]?.boolean.map { .typing($0) }
        case "receipt": text("messageTimetoken").flatMap { Timetoken(exactly: $0) }.map { .read($0) }
        default: nil
        }
    }

    /// The channel to which an invitation invites a user. The invitation is published on the user's own channel. Nil
    /// for other payloads.
    var invitedTo: String? { claimed == "invite" ? text("channelId") : nil }

    private func custom(_ type: String, _ kind: EventKind) -> EventDraft {
        var draft = EventDraft.event(channel: channel, type: type, data: payload.text, user: user, meta: meta)
        draft.kind = kind
        // The label of an app's own type is the type's name. An event of the type `custom` stores its label separately.
        if type == BuiltInTypes.custom { draft.customType = label }
        return draft
    }

    private func typed(_ event: TypedEvent, _ kind: EventKind, _ retention: Retention) -> EventDraft {
        var draft = EventDraft.event(
            channel: channel, type: event.type, data: event.data, user: user, meta: meta, retention: retention)
        draft.kind = kind
        draft.wire = payload.text
        draft.customType = label
        draft.allowsBuiltInType = true
        return draft
    }
}

// MARK: - Typed events of the chat

/// A built-in event type with its data.
private struct TypedEvent {
    let type: String
    let data: JSONText

    init(_ type: String, _ print: (inout JSONWriter) -> Void) {
        self.type = type
        data = JSONText { writer in
            writer.beginObject()
            print(&writer)
            writer.endObject()
        }
    }
}

extension WireEventMapper {
    private func text(_ name: String) -> String? {
        payload.value[name]?.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A timetoken in the payload, as a string of digits; nil for other values.
    private func timetoken(_ name: String) -> String? { text(name).flatMap { Timetoken(text: $0)?.description } }

    private var typedSignal: TypedEvent? {
        switch claimed {
        case "typing": typingEvent
        case "receipt": receiptEvent
        default: nil
        }
    }

    private var typedEvent: TypedEvent? {
        switch claimed {
        case "mention": mention
        case "invite": invitation
        case "report" where WireNames.isModeration(channel): report
        case "moderation": restriction
        default: nil
        }
    }

    private var typingEvent: TypedEvent? {
        guard let isTyping = payload.value["value"]?.boolean else { return nil }
        return TypedEvent(isTyping ? "typing.started" : "typing.stopped") { writer in
            guard let user else { return }
            writer.key("user")
            UserRecord(id: user).printReference(to: &writer)
        }
    }

    private var receiptEvent: TypedEvent? {
        guard let user, let timetoken = timetoken("messageTimetoken") else { return nil }
        return TypedEvent("receipt.read") { writer in
            writer.key("user")
            UserRecord(id: user).printReference(to: &writer)
            writer.member("read_timetoken", timetoken)
        }
    }

    private var mention: TypedEvent? {
        guard let timetoken = timetoken("messageTimetoken"), let place = text("channel") else { return nil }
        let thread = MappedThread(place)
        return TypedEvent("user.mentioned") { writer in
            writer.key("message")
            writer.beginObject()
            writer.member("timetoken", timetoken)
            writer.member("channel", thread?.parent ?? place)
            writer.member("user", orNull: user)
            if let thread { writer.member("thread_of", thread.root.description) }
            writer.endObject()
        }
    }

    private var invitation: TypedEvent? {
        guard let place = text("channelId") else { return nil }
        return TypedEvent("member.invited") { writer in
            writer.key("channel")
            writer.beginObject()
            writer.member("id", place)
            writer.member("kind", orNull: text("channelType"))
            writer.endObject()
            guard let user else { return writer.nullMember("inviter") }
            writer.key("inviter")
            UserRecord(id: user).printReference(to: &writer)
        }
    }

    private var report: TypedEvent? {
        guard let reason = payload.value["reason"]?.string else { return nil }
        return TypedEvent("report.created") { writer in
            writer.member("reason", reason)
            writer.member("text", orNull: payload.value["text"]?.string)
            let author = text("reportedUserId")
            if let timetoken = timetoken("reportedMessageTimetoken"), let place = text("reportedMessageChannelId") {
                writer.key("message")
                writer.beginObject()
                writer.member("timetoken", timetoken)
                writer.member("channel", place)
                writer.member("user", orNull: author)
                writer.endObject()
            }
            for (name, id) in [("author", author), ("user", user)] {
                guard let id else { continue }
                writer.key(text: name)
                UserRecord(id: id).printReference(to: &writer)
            }
            if let rule = text("autoModerationId") { writer.member("auto_moderation_id", rule) }
        }
    }

    private var restriction: TypedEvent? {
        guard let place = text("channelId"), let word = text("restriction"),
            let whom = WireNames.user(ofModeration: channel), let type = Self.restrictions[word]
        else { return nil }
        return TypedEvent(type) { writer in
            writer.key("restriction")
            writer.beginObject()
            writer.member("user", whom)
            writer.member("channel", WireNames.channel(ofModeration: place))
            writer.member("ban", word == "banned")
            writer.member("mute", word == "muted")
            writer.member("reason", orNull: payload.value["reason"]?.string)
            writer.endObject()
        }
    }

    private static let restrictions = ["banned": "user.banned", "muted": "user.muted", "lifted": "user.unbanned"]
}

extension JSONWriter {
    fileprivate mutating func member(_ name: StaticString, orNull value: String?) {
        if let value { member(name, value) } else { nullMember(name) }
    }
}

/// State that Chat SDKs change by a publish or a signal. The native API uses the same state.
extension PubNubAPI {
    /// Changes the typing state or the read mark of a user, if a signal requests this.
    ///
    /// - Returns: a timetoken up to which subscribers have received the change. Nil when the signal changes neither
    ///   state, names no user, or is a read receipt of a user who is not a member of the channel.
    func applySignal(_ signal: WireEventMapper, _ chat: ChatAccess) async throws -> Timetoken? {
        guard let user = signal.user else { return nil }
        let (channel, text) = (signal.channel, signal.payload.text)
        switch signal.signalFact {
        case .typing(true):
            try await chat.startTyping(user, on: channel, showing: text)
            return try await chat.watermark()
        case .typing(false):
            try await chat.stopTyping(user, on: channel, showing: text)
            return try await chat.watermark()
        case .read(let timetoken):
            switch try await chat.process(receiptOf: user, in: channel, at: timetoken, showing: text) {
            case .moved(let place): return place
            case .unmoved:
                var draft = signal.signal()
                draft.audience = .wire
                return try await chat.emit(draft).event.timetoken
            case .noMember: return nil
            }
        case nil: return nil
        }
    }

    /// Returns true when native readers already have the event of a publish, because the client has changed a record
    /// before. For example, an SDK that invites a user first writes the membership and then publishes the invitation.
    func isKnown(_ publish: WireEventMapper, _ chat: ChatAccess) async throws(ChatError) -> Bool {
        guard let place = publish.invitedTo else { return false }
        do throws(ChatError) {
            return try await chat.member(publish.channel, of: place) != nil
        } catch {
            // The text in the payload is not a valid user or channel name.
            guard error.code == .malformed else { throw error }
            return false
        }
    }
}
