public import ChatModel
import Locking

/// Decides what is traced, and holds finished spans until they are sent off. There is none where nobody wants them.
public final class Tracer: Sendable {
    private struct State {
        var waiting: [Span] = []
        var recorded: UInt64 = 0
        var dropped: UInt64 = 0
    }

    private let clock: WallClock
    private let ratio: Double
    private let capacity: Int
    private let state = Lock(State())
    /// Anybody can send a `traceparent` that says it is sampled.
    private let followed = RateMeter(RatePolicy(100, in: .seconds(1)))
    private let news = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - ratio: of requests that bring no trace of their own, how many begin one: 0 to 1. Of those that do and want to
    ///     be recorded, as many are at least, and a hundred a second.
    ///   - capacity: spans that may wait; beyond it new ones are dropped, and counted.
    public init(ratio: Double, capacity: Int = 8192, clock: WallClock = .system) {
        self.ratio = ratio
        self.capacity = capacity
        self.clock = clock
    }

    public var now: Timetoken { clock.now }

    /// Where the work for a request stands: in its sender's trace, in a new one, or in none.
    public func context(following incoming: TraceContext?) -> TraceContext? {
        let isDrawn = ratio >= 1 || Double.random(in: 0..<1) < ratio
        if let incoming {
            guard incoming.isSampled else { return incoming }
            if isDrawn || followed.take(1, at: now) == nil { return incoming.child(Self.spanID()) }
            return TraceContext(
                traceID: incoming.traceID, spanID: incoming.spanID, isSampled: false, state: incoming.state)
        }
        guard isDrawn else { return nil }
        let trace = TraceID(high: .random(in: 0...UInt64.max), low: .random(in: 1...UInt64.max))
        return TraceContext(traceID: trace, spanID: Self.spanID(), isSampled: true)
    }

    /// A name for a span.
    public static func spanID() -> UInt64 { .random(in: 1...UInt64.max) }

    public func record(_ span: Span) {
        let isFirst = state.withLock { state in
            guard state.waiting.count < capacity else {
                state.dropped += 1
                return false
            }
            state.recorded += 1
            state.waiting.append(span)
            return state.waiting.count == 1
        }
        if isFirst { news.continuation.yield() }
    }

    /// Says that spans were lost on their way out.
    public func noteDropped(_ count: Int) { state.withLock { $0.dropped += UInt64(count) } }

    /// Spans recorded since the start, and those of them and beside them that were dropped.
    public var counts: (recorded: UInt64, dropped: UInt64) { state.withLock { ($0.recorded, $0.dropped) } }

    /// Comes back when spans wait. For one reader; false when it was cancelled.
    public func hasSpans() async -> Bool {
        if state.withLock({ !$0.waiting.isEmpty }) { return true }
        for await _ in news.stream { return true }
        return false
    }

    /// Up to so many spans that wait, the oldest first.
    public func take(_ most: Int) -> [Span] {
        state.withLock { state in
            let taken = Array(state.waiting.prefix(most))
            state.waiting.removeFirst(taken.count)
            return taken
        }
    }
}

extension Tracer {
    /// Does a part of the work that is traced now, as a span of its own; only does it where nothing is traced.
    func traced<Value>(
        _ name: String, _ work: () async throws(ChatError) -> Value
    ) async throws(ChatError) -> Value {
        guard let parent = TraceContext.current, parent.isSampled else { return try await work() }
        let start = now
        do throws(ChatError) {
            let value = try await work()
            finish(name, parent, start, nil)
            return value
        } catch {
            finish(name, parent, start, error)
            throw error
        }
    }

    /// The same for work that does not wait.
    func traced<Value>(_ name: String, _ work: () throws(ChatError) -> Value) throws(ChatError) -> Value {
        guard let parent = TraceContext.current, parent.isSampled else { return try work() }
        let start = now
        do throws(ChatError) {
            let value = try work()
            finish(name, parent, start, nil)
            return value
        } catch {
            finish(name, parent, start, error)
            throw error
        }
    }

    private func finish(_ name: String, _ parent: TraceContext, _ start: Timetoken, _ error: ChatError?) {
        var span = Span(
            name, .work, at: parent.child(Self.spanID()), in: parent.spanID, from: start, to: now)
        span.failure = error.map { $0.slug ?? "\($0.code)" }
        record(span)
    }
}

/// A piece of work in a trace, when it is over.
public struct Span: Sendable {
    /// The numbers are OpenTelemetry's.
    public enum Kind: Int, Sendable { case work = 1, server = 2, client = 3 }

    public enum Value: Sendable, Equatable {
        case text(String)
        case integer(Int)
    }

    /// The span's own place.
    public var context: TraceContext
    /// The span it is part of; nil for the first of a trace.
    public var parent: UInt64?
    public var name: String
    public var kind: Kind
    public var start: Timetoken
    public var end: Timetoken
    /// Of our own tables and ids: never payloads, and no names that users chose.
    public var attributes: [(name: String, value: Value)] = []
    /// What went wrong, in a word; nil if nothing did.
    public var failure: String?
    /// Other traces this work belongs to as well.
    public var links: [TraceContext] = []

    public init(
        _ name: String, _ kind: Kind, at context: TraceContext, in parent: UInt64?, from start: Timetoken,
        to end: Timetoken
    ) {
        self.name = name
        self.kind = kind
        self.context = context
        self.parent = parent
        self.start = start
        self.end = end
    }
}
