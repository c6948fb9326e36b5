/// A position in a distributed trace (W3C Trace Context). A client sends it with a request, the gateway stores it with
/// the request's events, and each delivery attempt of these events forwards it.
///
/// A class, because every event has a property of this type, which is usually nil.
public final class TraceContext: Sendable {
    /// The trace of the current request; nil for a request that is not traced.
    @TaskLocal public static var current: TraceContext?

    /// The trace that the span belongs to.
    public let traceID: TraceID
    /// The id of the span that is the parent of further spans.
    public let spanID: UInt64
    /// True when spans of this trace are recorded.
    public let isSampled: Bool
    /// The header `tracestate`, with data of other vendors' tracers, passed on unchanged; nil without the header.
    public let state: String?

    /// Creates a position in a trace. `spanID` must not be zero.
    public init(traceID: TraceID, spanID: UInt64, isSampled: Bool, state: String? = nil) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
        self.state = state
    }

    /// The maximum size of `tracestate` in bytes. A longer value is dropped, as the specification allows.
    static let stateBytes = 512

    /// Parses the trace headers of a request. Nil when `traceparent` is invalid; the request then counts as not traced.
    ///
    /// - Parameters:
    ///   - traceparent: `00-<32 hex>-<16 hex>-<2 hex>`. In later versions of the format, further parts are ignored.
    ///   - state: the value of the header `tracestate`.
    public convenience init?(traceparent: String, state: String? = nil) {
        let parts = traceparent.split(separator: "-", maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count >= 4, let version = Self.number(parts[0], digits: 2), version != 0xFF,
            version != 0 || parts.count == 4, parts[1].utf8.count == 32,
            let high = Self.number(parts[1].prefix(16), digits: 16),
            let low = Self.number(parts[1].suffix(16), digits: 16),
            let span = Self.number(parts[2], digits: 16), span != 0,
            let flags = Self.number(parts[3], digits: 2), high | low != 0
        else { return nil }
        let kept = state.flatMap { !$0.isEmpty && $0.utf8.count <= Self.stateBytes && Self.isPlain($0) ? $0 : nil }
        self.init(traceID: TraceID(high: high, low: low), spanID: span, isSampled: flags & 1 == 1, state: kept)
    }

    /// The `traceparent` header to send, with this span as the parent.
    public var traceparent: String {
        "00-\(traceID)-\(TraceID.hex(spanID))-\(isSampled ? "01" : "00")"
    }

    /// A copy of this context in which `span` is the id of the parent span.
    public func child(_ span: UInt64) -> TraceContext {
        TraceContext(traceID: traceID, spanID: span, isSampled: isSampled, state: state)
    }

    /// Reads lower-case hexadecimal digits only. `UInt64` would also accept capitals and signs.
    private static func number(_ text: Substring, digits: Int) -> UInt64? {
        guard text.utf8.count == digits,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        return UInt64(text, radix: 16)
    }

    private static func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { (0x20...0x7E).contains($0) } }
}

extension TraceContext {
    /// The stored form: a line with `traceparent`, and a second line with `tracestate` if there is one.
    public var stored: String { state.map { traceparent + "\n" + $0 } ?? traceparent }

    /// Parses the form that ``stored`` returns.
    public convenience init?(stored: String) {
        let lines = stored.split(separator: "\n", maxSplits: 1)
        guard let first = lines.first else { return nil }
        self.init(traceparent: String(first), state: lines.count > 1 ? String(lines[1]) : nil)
    }
}

/// The id of a trace: 128 bits, not all of them zero.
public struct TraceID: Hashable, Sendable, CustomStringConvertible {
    /// The first 64 bits.
    let high: UInt64
    /// The last 64 bits.
    let low: UInt64

    /// Creates a trace id made of two halves. At least one of them must not be zero.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The id as 32 hexadecimal digits.
    public var description: String { Self.hex(high) + Self.hex(low) }

    /// A number as 16 lower-case hexadecimal digits, the form of span ids.
    public static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
