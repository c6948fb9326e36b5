public import ChatModel

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
