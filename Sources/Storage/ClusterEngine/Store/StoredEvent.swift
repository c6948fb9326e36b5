import ChatModel
import JSON
import StorageCore

/// An event as columns of simple values, the form in which it is stored and sent to other nodes.
struct StoredEvent: Sendable {
    var timetoken: Timetoken
    var channel: ChannelID
    var kind: Int
    var type: String
    var user: String?
    var data: [UInt8]
    var meta: [UInt8]?
    var expires: Timetoken?
    var customType: String?
    var schemaType: String?
    var schemaVersion: Int?
    var cause: String?
    var audience: String?
    /// The sender's device, or ``importedOrigin``.
    var origin: String?
    var wire: [UInt8]?
    var trace: String?
    var isEndedByType: Bool
    var thread: Timetoken?
    /// The echoes, each on its own line; nil for none.
    var echoes: String?
    var isPassing: Bool

    /// The value that marks an imported event in `origin`. A device's name is never empty.
    static let importedOrigin = ""
}

extension StoredEvent {
    init(_ event: Event) {
        let draft = event.draft
        self.init(
            timetoken: event.timetoken, channel: draft.channel, kind: draft.kind.rawValue, type: draft.type,
            user: draft.user, data: draft.data.bytes, meta: draft.meta?.bytes, expires: draft.expires,
            customType: draft.customType, schemaType: draft.schema?.type, schemaVersion: draft.schema?.version,
            cause: draft.cause, audience: draft.audience.stored,
            origin: draft.past == nil ? draft.originDevice : Self.importedOrigin, wire: draft.wire?.bytes,
            trace: draft.trace?.stored, isEndedByType: draft.isEndedByType, thread: draft.thread,
            echoes: draft.echoes.isEmpty ? nil : draft.echoes.joined(separator: "\n"),
            isPassing: draft.retention == .passing)
    }

    var event: Event {
        var draft = EventDraft(
            channel: channel, type: type, kind: EventKind(rawValue: kind) ?? .other,
            retention: isPassing ? .passing : .kept, data: JSONText(trusted: data), user: user,
            meta: meta.map { JSONText(trusted: $0) })
        draft.expires = expires
        draft.customType = customType
        if let schemaType { draft.schema = SchemaReference(type: schemaType, version: schemaVersion ?? 0) }
        draft.cause = cause
        draft.audience = Audience(stored: audience)
        if origin == Self.importedOrigin { draft.past = timetoken } else { draft.originDevice = origin }
        draft.wire = wire.map { JSONText(trusted: $0) }
        draft.trace = trace.flatMap { TraceContext(stored: $0) }
        draft.isEndedByType = isEndedByType
        draft.thread = thread
        if let echoes { draft.echoes = echoes.split(separator: "\n").map(String.init) }
        return Event(timetoken: timetoken, draft: draft)
    }
}
