public import ChatModel
import JSON

/// One app as one caller may use it: every verb checks the caller's rights, then does its work.
///
/// A value; make one per request with `ChatService.chat(for:)`.
public struct ChatAccess: Sendable {
    public let service: ChatService
    public let caller: Caller
    /// The device the request came from, if it named one: its own streams are spared what it did itself
    /// (`sendbird.md` 1.2).
    public var device: String?
    /// What the events of one call share: the request's id.
    public var cause: String?
    /// Whether events show what messages said that are marked as deleted: for clients that judge by the mark themselves.
    public var showsDeletedTexts = false
    /// Nobody is told of what is changed: for records that are moved here from elsewhere.
    var isQuiet = false

    init(service: ChatService, caller: Caller) {
        self.service = service
        self.caller = caller
    }

    public var app: AppID { caller.app }
    public var limits: Limits { service.limits }
    var log: any EventLog { service.engine.log }
    var directory: any Directory { service.engine.directory }

    func channel(_ name: String) -> ChannelID { ChannelID(name, in: app) }
}

extension ChatAccess {
    /// Decides about records and says what has happened, as one call: its events share a cause where there are several,
    /// and know the device it came from.
    ///
    /// - Parameter body: see `Directory.decide`; rights that do not depend on the records are checked before. Its first event
    ///   is the deed itself, the others follow from it.
    /// - Throws: `.forbidden` for a deed whose type the caller does not reach.
    func decide<Value: Sendable>(
        _ keys: [RecordKey],
        _ body: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) async throws(ChatError) -> Decided<Value> {
        let (caller, cause, device, trace, isQuiet) = (caller, cause, device, TraceContext.current, isQuiet)
        return try await service.decide(keys) { snapshot throws(ChatError) in
            var decision = try body(snapshot)
            if let deed = decision.events.first { try caller.demand(type: deed.type) }
            if isQuiet { decision.events = [] }
            let isSeveral = decision.events.count { $0.audience != .wire } > 1
            for index in decision.events.indices {
                if isSeveral { decision.events[index].cause = cause }
                decision.events[index].originDevice = device
                decision.events[index].trace = trace
            }
            return decision
        }
    }

    /// A draft of an event of the catalogue on a channel of this app, of the class and retention that the catalogue says.
    ///
    /// - Parameter user: who caused it; nil when an operator of the app did.
    func draft(
        _ type: String, on channel: String, kind: EventKind = .other, by user: String?,
        audience: Audience = .subscribers,
        _ print: (inout JSONWriter) -> Void
    ) -> EventDraft {
        let data = JSONText { writer in
            writer.beginObject()
            print(&writer)
            writer.endObject()
        }
        var draft = EventDraft(
            channel: self.channel(channel), type: type, kind: kind,
            retention: BuiltInCatalogue.retention(of: type), data: data, user: user)
        draft.audience = audience
        return draft
    }

    func key(_ kind: RecordKind, _ parts: String...) -> RecordKey { RecordKey(kind, parts: parts, in: app) }
}
