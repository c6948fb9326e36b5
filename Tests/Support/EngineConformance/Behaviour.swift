public import ChatModel
import JSON
public import Testing
public import TestSupport

/// One promise of the engine contract, as a test for any engine.
public struct Behaviour: Sendable, CustomTestStringConvertible {
    /// The promise, as a sentence.
    public let sentence: String
    /// True when the behaviour restarts the engine. It does not apply to an engine that stores nothing durably.
    public let needsRestart: Bool
    /// True when the behaviour uses the queue of deliveries beside the log or the directory.
    private let usesQueue: Bool
    private let limits: Limits
    private let body: @Sendable (Trial) async throws -> Void

    init(
        _ sentence: String, needsRestart: Bool = false, usesQueue: Bool = false, limits: Limits = Limits(),
        _ body: @escaping @Sendable (Trial) async throws -> Void
    ) {
        self.sentence = sentence
        self.needsRestart = needsRestart
        self.usesQueue = usesQueue
        self.limits = limits
        self.body = body
    }

    public var testDescription: String { sentence }

    /// Runs the behaviour against a new engine.
    public func run(_ make: EngineFactory) async throws {
        let clock = ManualClock()
        let subject = try await make(limits, clock)
        if !needsRestart || subject.survivesRestart {
            do {
                try await body(Trial(subject: subject, clock: clock))
            } catch {
                await subject.end()
                throw error
            }
        }
        await subject.end()
    }

    /// All behaviours of the contract.
    public static let all =
        log + past + names + reading + retention + directory + deciding + queue + ordering + pulling
        + redriving
        + life

    /// The behaviours that do not use the queue of deliveries.
    public static let ofLogAndDirectory = (log + past + names + reading + retention + directory + deciding + life)
        .filter { !$0.usesQueue }
}

/// An engine and its clock, with short forms of frequent operations.
struct Trial: Sendable {
    let subject: any EngineUnderTest
    let clock: ManualClock
    let app = AppID("app")

    var node: any Engine { get async { await subject.nodes[0] } }
    var otherNode: any Engine { get async { await subject.nodes.last! } }
    var log: any EventLog { get async { await node.log } }
    var directory: any Directory { get async { await node.directory } }
    var queue: any DeliveryQueue { get async { await node.deliveries } }

    func channel(_ name: String) -> ChannelID { ChannelID(name, in: app) }

    func draft(
        _ channel: String = "room", _ data: String = "{}", type: String = "t", kind: EventKind = .other,
        retention: Retention = .kept, key: String? = nil
    ) -> EventDraft {
        var draft = EventDraft(
            channel: self.channel(channel), type: type, kind: kind, retention: retention, data: json(data))
        draft.deduplicationKey = key
        return draft
    }

    func json(_ text: String) -> JSONText { JSONText(trusted: Array(text.utf8)) }

    @discardableResult
    func append(_ drafts: EventDraft...) async throws -> [Event] {
        try await log.append(drafts, claim: nil).events.map(\.event)
    }

    /// Returns everything after a position, page by page, as a reader with one cursor sees it.
    func readAll(
        _ channels: ChannelSet, after position: Timetoken = .zero, limit: Int = 500, from log: (any EventLog)? = nil
    ) async throws -> [Event] {
        let source = if let log { log } else { await self.log }
        var events: [Event] = []
        var position = position
        while true {
            let page = try await source.events(in: channels, after: position, limit: limit)
            #expect(page.items.count <= limit)
            #expect(page.position >= position)
            events += page.items
            guard page.hasMore else { return events }
            try #require(page.position > position, "a page that promises more must move on")
            position = page.position
        }
    }

    /// Returns the loss of a reader of some channels and types since a position.
    func loss(
        in channels: [String] = ["room"], types: [String] = ["*"], after position: Timetoken
    ) async throws -> Loss? {
        try await log.loss(
            in: ChannelSet(app: app, names: channels), types: types.compactMap { NamePattern($0) }, after: position)
    }

    func names(_ names: String...) -> ChannelSet { ChannelSet(app: app, names: names) }
    var everything: ChannelSet { ChannelSet(app: app, isAll: true) }

    func history(
        _ channel: String, after: Timetoken = .zero, before: Timetoken = .distantFuture,
        _ order: HistoryRequest.Order = .oldestFirst, limit: Int = 1000
    ) async throws -> [Event] {
        let request = HistoryRequest(
            channel: self.channel(channel), after: after, before: before, order: order, limit: limit)
        return try await log.history([request])[0].items
    }

    /// Expects the call to be rejected, and returns the error.
    @discardableResult
    func refusal(
        _ code: ChatError.Code, location: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async -> ChatError? {
        do {
            try await body()
            Issue.record("nothing was refused, expected \(code)", sourceLocation: location)
        } catch let error as ChatError {
            #expect(error.code == code, sourceLocation: location)
            return error
        } catch {
            Issue.record(error, sourceLocation: location)
        }
        return nil
    }
}

extension [Event] {
    var timetokens: [Timetoken] { map(\.timetoken) }
    var texts: [String] { map(\.data.description) }

    /// True when the elements are in order and without repeats.
    var isStrictlyIncreasing: Bool { zip(self, dropFirst()).allSatisfy { $0.timetoken < $1.timetoken } }
}

/// Runs `body` for 0..<count in several concurrent tasks.
func concurrently(_ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<count { group.addTask { try await body(number) } }
        try await group.waitForAll()
    }
}

/// An engine under test: its nodes, and operations that disturb it.
public protocol EngineUnderTest: Sendable {
    /// The nodes over the same store, one or several. "Another node" is the last one.
    var nodes: [any Engine] { get async }
    /// True when ``restart()`` keeps the stored data; false for an engine in memory.
    var survivesRestart: Bool { get }
    /// Closes every node in order and opens the store again.
    func restart() async throws
    /// Makes the store unable to commit until ``unblock()``. Returns false when that is not possible.
    func block() async throws -> Bool
    /// Lets a blocked store commit again.
    func unblock() async throws
    /// Removes everything that is past its retention at once.
    func removeOutlived() async throws
    /// Closes the nodes and removes their files.
    func end() async
}

/// Creates an empty engine under test with these limits and this clock.
public typealias EngineFactory = @Sendable (Limits, ManualClock) async throws -> any EngineUnderTest

extension ManualClock {
    /// The current time of day.
    public var now: Timetoken { Timetoken(ticks) }
    public var wallClock: WallClock { WallClock { self.now } }
}
