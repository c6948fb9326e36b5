public import ChatModel
public import JSON
import JSONSchema

/// A first draft of a schema, for somebody to read and to declare.
public struct SchemaDraft: Sendable {
    /// JSON Schema 2020-12; accepts every event it was drawn from.
    public var schema: JSONText
    /// How many events that were.
    public var events: Int
}

extension ChatAccess {
    /// The most events a draft is drawn from.
    public static let draftEventsMost = 1000
    /// Events of any type that are looked at to find them.
    private static let lookedAtMost = 50_000

    /// Draws a schema from the last events of a type, stored or still to be caught up, on the channels this caller
    /// reaches.
    ///
    /// - Parameters:
    ///   - count: 1 to `draftEventsMost`; fewer are taken when there are fewer, or when they are rare among others.
    ///   - closesObjects: whether members that appeared in no event are refused.
    /// - Throws: `.forbidden` without `read`, and to a user's own credential; `.notFound` when there is no such event; what `EventLog.events` throws.
    public func draftSchema(
        of name: String, last count: Int, closesObjects: Bool = false
    ) async throws(ChatError) -> SchemaDraft {
        try caller.demand(.read)
        try caller.demand(type: name)
        // A draft shows values of whatever channels there are.
        try caller.demandNoUser()
        guard (1...Self.draftEventsMost).contains(count) else {
            throw ChatError(.malformed, "a draft is drawn from 1 to \(Self.draftEventsMost) events")
        }
        let events = try await lastEvents(of: name, count)
        guard !events.isEmpty else { throw ChatError(.notFound, "there is no event of the type '\(name)'") }
        return try await service.eventTypes.compileQueue.run(for: app) { () async throws(ChatError) in
            // What was stored before the type had a schema may hold numbers that none can be held against.
            let values = events.compactMap { try? JSONDocument($0.data).root }
            let options = InferenceOptions(closesObjects: closesObjects)
            return SchemaDraft(schema: SchemaInference.draft(of: values, options: options), events: values.count)
        }
    }

    /// Oldest first. The log is read forwards only, so backwards in windows, each ten times as long as the one after it.
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
