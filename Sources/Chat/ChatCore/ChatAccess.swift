public import ChatModel
import JSON

/// The operations of one app, performed for one caller. Every method first checks the caller's rights.
///
/// A value type. For each request, call ``ChatService/chat(for:device:cause:)`` to get a value.
public struct ChatAccess: Sendable {
    /// The service that performs the operations.
    public let service: ChatService
    /// The caller whose rights are checked.
    public let caller: Caller
    /// The id of the device that sent the request; nil when the request named no device. The device's own streams do
    /// not receive the events that its requests cause.
    public var device: String?
    /// The id of the request. When one call causes several events, they all carry this id. Nil for calls without a
    /// request.
    public var cause: String?
    /// True to return the data of messages that are marked as deleted; false to return null as their data. True for
    /// clients that evaluate the deletion mark themselves.
    public var showsDeletedTexts = false
    /// True to store changes without announcing them as events. Used to import records.
    var isQuiet = false

    /// The caller's app.
    public var app: AppID { caller.app }
    /// The current limits.
    public var limits: Limits { service.limits }
    var log: any EventLog { service.log }
    var directory: any Directory { service.engine.directory }

    func channel(_ name: String) -> ChannelID { ChannelID(name, in: app) }
}

extension ChatAccess {
    /// Changes records and appends the events that announce the change, in one commit. All events carry the id of the
    /// request's device. If there are several events, they also carry the id of the request (``cause``).
    ///
    /// - Parameter body: see `Directory.decide`. The first returned event describes the operation itself; the other
    ///   events are its consequences. Before this call, check the rights that do not depend on the records.
    /// - Throws: `.forbidden` when the caller's type patterns do not match the type of the first event; the errors of
    ///   `body` and of the store.
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

    /// Creates a draft of a built-in event on a channel of this app. The catalogue of built-in types gives the
    /// retention.
    ///
    /// - Parameters:
    ///   - user: the user who caused the event; nil for an operator of the app.
    ///   - print: prints the members of the event's data.
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
