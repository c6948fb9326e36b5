public import ChatModel
public import JSON
import JSONSchema

/// A draft of a schema, inferred from events. A person should review it before declaring it.
public struct SchemaDraft: Sendable {
    /// A JSON Schema 2020-12 that accepts every event from which it was inferred.
    public var schema: JSONText
    /// The number of events from which the schema was inferred.
    public var events: Int
}

extension ChatAccess {
    /// The maximum number of events that a draft is inferred from.
    public static let draftEventsMost = 1000
    /// The maximum number of events of all types that are read to find the events of one type.
    private static let lookedAtMost = 50_000

    /// Infers a schema from the last events of a type. Reads stored events and the replay buffer, on the channels that
    /// the caller may read.
    ///
    /// - Parameters:
    ///   - count: the maximum number of events to infer from: 1 to `draftEventsMost`. Fewer events are used when the
    ///     type has fewer events among the 50,000 events that are read.
    ///   - closesObjects: true for a schema that rejects members that appeared in no event.
    /// - Throws: `.forbidden` without the scope `read`, and for a user's credential; `.malformed` for a `count` out of
    ///   range; `.notFound` when no event of the type was found; the errors of `EventLog.events`.
    public func draftSchema(
        of name: String, last count: Int, closesObjects: Bool = false
    ) async throws(ChatError) -> SchemaDraft {
        try caller.require(.read)
        try caller.require(type: name)
        // A draft may show values from any channel of the caller, so users' own credentials are rejected.
        try caller.demandNoUser()
        guard (1...Self.draftEventsMost).contains(count) else {
            throw ChatError(.malformed, "a schema can be inferred from 1 to \(Self.draftEventsMost) events")
        }
        let events = try await lastEvents(of: name, count)
        guard !events.isEmpty else {
            throw ChatError(.notFound, "no event of the type '\(name)' is stored, so no schema can be inferred")
        }
        return try await service.eventTypes.compileQueue.run(for: app) { () async throws(ChatError) in
            // Events that cannot be parsed are left out. An event stored before the type had a schema may contain
            // numbers that the parser rejects.
            let values = events.compactMap { try? JSONDocument($0.data).root }
            let options = InferenceOptions(closesObjects: closesObjects)
            return SchemaDraft(schema: SchemaInference.draft(of: values, options: options), events: values.count)
        }
    }

    /// Returns the last events of a type, oldest first. The event log can only be read forwards. Therefore this method
    /// reads adjacent windows of time, the newest window first, until `count` events are found or 50,000 events of all
    /// types are read. Each window starts ten times as far back from the end of the log as the previous window.
    private func lastEvents(of name: String, _ count: Int) async throws(ChatError) -> [Event] {
        let channels = ChannelSet(app: app, patterns: caller.channels)
        let watermark = try await log.watermark(of: app)
        var found: [Event] = []
        var upper = watermark
        var age: UInt64 = 60 * Timetoken.ticksPerSecond
        var left = Self.lookedAtMost
        while found.count < count, left > 0, upper > .zero {
            let lower = Timetoken(watermark.rawValue > age ? watermark.rawValue - age : 0)
            var window: [Event] = []
            var position = lower
            while position < upper, left > 0 {
                let page = try await log.events(in: channels, after: position, limit: 500)
                left -= page.items.count
                window += page.items.filter { $0.type == name && $0.timetoken <= upper }
                guard page.hasMore, page.position > position else { break }
                position = page.position
            }
            found = window.suffix(count - found.count) + found
            upper = lower
            age = age.multipliedReportingOverflow(by: 10).overflow ? .max : age * 10
        }
        return found
    }
}
