public import ChatModel
public import JSON
import JSONSchema

/// A draft of a schema that a person reviews and then declares.
public struct SchemaDraft: Sendable {
    /// A JSON Schema 2020-12 that accepts every event it was inferred from.
    public var schema: JSONText
    /// The number of events it was inferred from.
    public var events: Int
}

extension ChatAccess {
    /// The maximum number of events that a draft is inferred from.
    public static let draftEventsMost = 1000
    /// The maximum number of events of any type that are examined to find them.
    private static let lookedAtMost = 50_000

    /// Infers a schema from the last events of a type, stored or still in the replay buffer, on the channels this
    /// caller can read.
    ///
    /// - Parameters:
    ///   - count: 1 to `draftEventsMost`. Fewer are used when there are fewer, or when they are rare among other
    ///     events.
    ///   - closesObjects: true to refuse members that appeared in no event.
    /// - Throws: `.forbidden` without `read`, and to a user's credential; `.malformed` for a bad count; `.notFound`
    ///   when there is no such event; what `EventLog.events` throws.
    public func draftSchema(
        of name: String, last count: Int, closesObjects: Bool = false
    ) async throws(ChatError) -> SchemaDraft {
        try caller.require(.read)
        try caller.require(type: name)
        // A draft shows values from any of the channels.
        try caller.demandNoUser()
        guard (1...Self.draftEventsMost).contains(count) else {
            throw ChatError(.malformed, "a draft must be made from 1 to \(Self.draftEventsMost) events")
        }
        let events = try await lastEvents(of: name, count)
        guard !events.isEmpty else { throw ChatError(.notFound, "there is no event of the type '\(name)'") }
        return try await service.eventTypes.compileQueue.run(for: app) { () async throws(ChatError) in
            // An event stored before the type had a schema may contain numbers that cannot be validated.
            let values = events.compactMap { try? JSONDocument($0.data).root }
            let options = InferenceOptions(closesObjects: closesObjects)
            return SchemaDraft(schema: SchemaInference.draft(of: values, options: options), events: values.count)
        }
    }

    /// Returns events oldest first. The log can only be read forwards, so this reads backwards in windows, each ten
    /// times as long as the one after it.
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
