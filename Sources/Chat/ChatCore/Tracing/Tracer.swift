public import ChatModel
import Locking

/// Decides which requests are traced, and buffers finished spans until they are exported. There is no tracer when
/// tracing is disabled.
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
    /// The rate limit for traces that clients start, because any client can send a `traceparent` header that requests
    /// sampling.
    private let followed = RateMeter(RatePolicy(100, in: .seconds(1)))
    private let changeSignal = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// Creates a tracer.
    ///
    /// - Parameters:
    ///   - ratio: the share of requests to trace, from 0 to 1. A request with a `traceparent` that
    ///     asks for sampling is traced even if this share does not select it, up to 100 such requests per second.
    ///   - capacity: the maximum number of buffered spans. Further spans are dropped and counted.
    public init(ratio: Double, capacity: Int = 8192, clock: WallClock = .system) {
        self.ratio = ratio
        self.capacity = capacity
        self.clock = clock
    }

    /// The current time of the tracer's clock.
    public var now: Timetoken { clock.now }

    /// Returns the trace context of a request. For a traced request, it is a new span, in the sender's trace or in a
    /// new trace. For any other request, it is the sender's context marked as not sampled; nil when the sender has sent
    /// none.
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

    /// Returns a new random id for a span.
    public static func spanID() -> UInt64 { .random(in: 1...UInt64.max) }

    /// Adds a finished span to the buffer. If the buffer is full, the span is dropped and counted.
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

    /// Adds the number of spans that were lost during an export to the count of dropped spans.
    public func countDropped(_ count: Int) { state.withLock { $0.dropped += UInt64(count) } }

    /// The number of spans recorded since the start, and the number of spans dropped before or during an export.
    public var counts: (recorded: UInt64, dropped: UInt64) { state.withLock { ($0.recorded, $0.dropped) } }

    /// Waits until there are spans in the buffer. Returns false when the task was cancelled. Only one task may wait.
    public func hasSpans() async -> Bool {
        if state.withLock({ !$0.waiting.isEmpty }) { return true }
        for await _ in changeSignal.stream { return true }
        return false
    }

    /// Removes and returns at most `most` spans, oldest first.
    public func drain(_ most: Int) -> [Span] {
        state.withLock { state in
            let taken = Array(state.waiting.prefix(most))
            state.waiting.removeFirst(taken.count)
            return taken
        }
    }
}

extension Tracer {
    /// Runs a part of the current request, and records it as a span. If the request is not traced, runs the part
    /// without recording a span.
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

    /// Runs a synchronous part of the current request, and records it as a span.
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

extension ChatService {
    /// Runs a synchronous part of the current request. If tracing is enabled and the request is traced, records the
    /// part as a span.
    func traced<Value>(_ name: String, _ work: () throws(ChatError) -> Value) throws(ChatError) -> Value {
        guard let tracer else { return try work() }
        return try tracer.traced(name, work)
    }
}

/// A finished span of a trace.
public struct Span: Sendable {
    /// The kind of a span. OpenTelemetry defines the raw values.
    public enum Kind: Int, Sendable { case work = 1, server = 2, client = 3 }

    /// The value of an attribute.
    public enum Value: Sendable, Equatable {
        case text(String)
        case integer(Int)
    }

    /// The trace context of this span.
    public var context: TraceContext
    /// The id of the parent span; nil for the first span of a trace.
    public var parent: UInt64?
    /// The name of the kind of work. All spans of the same kind of work have the same name.
    public var name: String
    /// The kind of the span, which tracing tools display.
    public var kind: Kind
    /// The time at which the work began.
    public var start: Timetoken
    /// The time at which the work ended.
    public var end: Timetoken
    /// The attributes. They contain only ids and names of the gateway, never payloads or names that users chose.
    public var attributes: [(name: String, value: Value)] = []
    /// A short description of the error; nil on success.
    public var failure: String?
    /// The contexts of other traces to which this work also belongs.
    public var links: [TraceContext] = []

    /// Creates a finished span without attributes.
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
