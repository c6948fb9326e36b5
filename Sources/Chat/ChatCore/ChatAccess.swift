public import ChatModel
import JSON

/// One app as one caller may use it. Every method checks the caller's rights and then does its work.
///
/// A value type; make one per request with `ChatService.chat(for:)`.
public struct ChatAccess: Sendable {
    /// The service that the access works on.
    public let service: ChatService
    /// The caller whose rights are checked.
    public let caller: Caller
    /// The device that the request came from, if it named one. The device's own streams do not receive the events of
    /// its own calls.
    public var device: String?
    /// The id of the request. All events of one call share it.
    public var cause: String?
    /// True to include the data of messages marked as deleted in events, for clients that evaluate the mark themselves.
    public var showsDeletedTexts = false
    /// True to announce no changes. For imported records.
    var isQuiet = false

    init(service: ChatService, caller: Caller) {
        self.service = service
        self.caller = caller
    }

    /// The caller's app.
    public var app: AppID { caller.app }
    /// The current limits.
    public var limits: Limits { service.limits }
    var log: any EventLog { service.engine.log }
    var directory: any Directory { service.engine.directory }

    func channel(_ name: String) -> ChannelID { ChannelID(name, in: app) }
}

extension ChatAccess {
    /// Changes records and announces the change in one commit. When there are several events they share a cause, and
    /// they name the device of the request.
    ///
    /// - Parameter body: see `Directory.decide`. Check rights that do not depend on the records before. The first event
    ///   is the operation itself, and the others follow from it.
    /// - Throws: `.forbidden` when the caller's patterns do not cover the type of the first event.
    func decide<Value: Sendable>(
        _ keys: [RecordKey],
        _ body: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) async throws(ChatError) -> Decided<Value> {
        let (caller, cause, device, trace, isQuiet) = (caller, cause, device, TraceContext.current, isQuiet)
        return try await service.decide(keys) { snapshot throws(ChatError) in
            var decision = try body(snapshot)
            if let operation = decision.events.first { try caller.require(type: operation.type) }
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

    /// A draft of a catalogue event on a channel of this app, with the kind and retention of the catalogue.
    ///
    /// - Parameter user: the user who caused it; nil for an operator of the app.
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
