public import ChatModel
import Locking

/// The sampling of traces, and the buffer of finished spans until they are exported. Absent when tracing is off.
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
    /// The limit of foreign traces that are recorded: any client can send a `traceparent` that requests sampling.
    private let followed = RateMeter(RatePolicy(100, in: .seconds(1)))
    private let changeSignal = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - ratio: the share of requests without their own trace that begin one, 0 to 1. Of requests with a trace that
    ///     requests recording, at least this share is recorded, and up to a hundred per second.
    ///   - capacity: the maximum number of waiting spans; beyond it new spans are dropped and counted.
    public init(ratio: Double, capacity: Int = 8192, clock: WallClock = .system) {
        self.ratio = ratio
        self.capacity = capacity
        self.clock = clock
    }

    /// The current time, from the tracer's clock.
    public var now: Timetoken { clock.now }

    /// The trace context of a request: in its sender's trace, in a new one, or nil.
    public func context(following incoming: TraceContext?) -> TraceContext? {
        let isDrawn = ratio >= 1 || Double.random(in: 0..<1) < ratio
        if let incoming {
            guard incoming.isSampled else { return incoming }
            if isDrawn || followed.consume(1, at: now) == nil { return incoming.child(Self.spanID()) }
            return TraceContext(
                traceID: incoming.traceID, spanID: incoming.spanID, isSampled: false, state: incoming.state)
        }
        guard isDrawn else { return nil }
        let trace = TraceID(high: .random(in: 0...UInt64.max), low: .random(in: 1...UInt64.max))
        return TraceContext(traceID: trace, spanID: Self.spanID(), isSampled: true)
    }

    /// A new random id for a span.
    public static func spanID() -> UInt64 { .random(in: 1...UInt64.max) }

    /// Buffers a finished span; when the buffer is full, the span is dropped and counted.
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
        if isFirst { changeSignal.continuation.yield() }
    }

    /// Counts spans that were lost during export.
    public func countDropped(_ count: Int) { state.withLock { $0.dropped += UInt64(count) } }

    /// The number of spans recorded since the start, and the number dropped before or during export.
    public var counts: (recorded: UInt64, dropped: UInt64) { state.withLock { ($0.recorded, $0.dropped) } }

    /// Waits until spans are available. For one reader; false when it was cancelled.
    public func hasSpans() async -> Bool {
        if state.withLock({ !$0.waiting.isEmpty }) { return true }
        for await _ in changeSignal.stream { return true }
        return false
    }

    /// Removes and returns up to `most` waiting spans, oldest first.
    public func drain(_ most: Int) -> [Span] {
        state.withLock { state in
            let taken = Array(state.waiting.prefix(most))
            state.waiting.removeFirst(taken.count)
            return taken
        }
    }
}

extension Tracer {
    /// Runs a part of the current traced work as a span of its own. Without a trace, it only runs it.
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

    /// The same for synchronous work.
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

/// A finished span of a trace.
public struct Span: Sendable {
    /// The kind of a span; the raw values are OpenTelemetry's.
    public enum Kind: Int, Sendable { case work = 1, server = 2, client = 3 }

    /// The value of an attribute.
    public enum Value: Sendable, Equatable {
        case text(String)
        case integer(Int)
    }

    /// The trace context of the span itself.
    public var context: TraceContext
    /// The parent span; nil for the first span of a trace.
    public var parent: UInt64?
    /// The name of the work, the same for all spans of the same work.
    public var name: String
    /// The kind, which tools that draw a trace show.
    public var kind: Kind
    /// The time at which the work began.
    public var start: Timetoken
    /// The time at which the work ended.
    public var end: Timetoken
    /// Attributes from the gateway's own names and ids; never payloads or names that users chose.
    public var attributes: [(name: String, value: Value)] = []
    /// A short description of the error; nil on success.
    public var failure: String?
    /// Other traces that this work belongs to.
    public var links: [TraceContext] = []

    /// A finished span without attributes.
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
