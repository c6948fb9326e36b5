import ChatCore
import ChatModel
import JSON

/// From the wire to a type (`events.md` 5): what a publish or a signal is, by its label and its payload's `type`.
///
/// Typed events of the chat get the fields of the catalogue, so that webhooks, schemas and native readers see them like
/// those of any other way in; beside them the sent text is kept for this wire's readers. A payload that claims to be one
/// and lacks what it needs is a message like any other: refusing it would break a client the service takes.
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

    private var claimed: String? { payload.value["type"]?.string }

    func publish() -> Emission {
        if let event = typedEvent {
            var emission = typed(event, .message, .kept)
            // The client writes the restriction's record as well, which makes the event for all other readers.
            if claimed == "moderation" { emission.audience = .wire }
            return emission
        }
        if let label, claimed != "text", !Self.labelsOfMessages.contains(label) { return custom(label, .message) }
        if claimed == "custom" { return custom(BuiltInTypes.custom, .message) }
        var emission = Emission.message(channel: channel, data: payload.text, user: user, meta: meta)
        emission.value = payload.value
        emission.customType = label
        // Its readers would otherwise get what a native message's text is shown as.
        if VisiblePayload.isNativeText(payload.text) { emission.wire = payload.text }
        return emission
    }

    /// Labels that are no types: the Chat SDKs' own, and names that no event of an app can have.
    private static let labelsOfMessages = BuiltInTypes.eventSourceNames.union(["text", "text-message"])

    func signal() -> Emission {
        if let event = typedSignal { return typed(event, .signal, .passing) }
        if claimed == "custom" {
            var emission = custom(BuiltInTypes.custom, .signal)
            emission.retention = .passing
            return emission
        }
        var emission = Emission.signal(channel: channel, data: payload.text, user: user)
        emission.value = payload.value
        emission.customType = label
        return emission
    }

    /// A fact that a signal changes.
    enum SignalEffect {
        /// Whether the user types.
        case typing(Bool)
        /// The user has read everything up to there.
        case read(Timetoken)
    }

    var signalFact: SignalEffect? {
        switch claimed {
        case "typing": payload.value["value"]?.boolean.map { .typing($0) }
        case "receipt": text("messageTimetoken").flatMap { Timetoken(exactly: $0) }.map { .read($0) }
        default: nil
        }
    }

    /// The channel that a publish invites its own channel's user to.
    var invitedTo: String? { claimed == "invite" ? text("channelId") : nil }

    private func custom(_ type: String, _ kind: EventKind) -> Emission {
        var emission = Emission(channel: channel, type: type, data: payload.text, user: user, meta: meta)
        emission.kind = kind
        emission.value = payload.value
        // A type of an app's own is its label; `custom` stands for none.
        if type == BuiltInTypes.custom { emission.customType = label }
        return emission
    }

    private func typed(_ event: TypedEvent, _ kind: EventKind, _ retention: Retention) -> Emission {
        var emission = Emission(
            channel: channel, type: event.type, data: event.data, user: user, meta: meta, retention: retention)
        emission.kind = kind
        emission.wire = payload.text
        emission.customType = label
        emission.allowsBuiltInType = true
        return emission
    }
}

// MARK: - Typed events of the chat

/// A type of the catalogue and the fields it has.
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

    /// A position in a payload is a string of digits; nil for anything else.
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

/// Facts of the chat that Chat SDKs state by a publish or a signal, and that the native interface shares.
extension PubNubAPI {
    /// Takes a signal of typing or a receipt into the fact that it states.
    ///
    /// - Returns: a place in the log at which subscribers have it; nil for a signal like any other.
    func take(_ signal: WireEventMapper, _ chat: ChatAccess) async throws -> Timetoken? {
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
            switch try await chat.take(receiptOf: user, in: channel, at: timetoken, showing: text) {
            case .moved(let place): return place
            case .unmoved:
                var emission = signal.signal()
                emission.audience = .wire
                return try await chat.emit(emission).event.timetoken
            case .noMember: return nil
            }
        case nil: return nil
        }
    }

    /// Whether a publish repeats what native readers have from a record: an SDK that invites a user writes the membership
    /// first and publishes the invitation then.
    func isKnown(_ publish: WireEventMapper, _ chat: ChatAccess) async throws(ChatError) -> Bool {
        guard let place = publish.invitedTo else { return false }
        do throws(ChatError) {
            return try await chat.member(publish.channel, of: place) != nil
        } catch {
            // No user, or no channel, has such a name.
            guard error.code == .malformed else { throw error }
            return false
        }
    }
}
