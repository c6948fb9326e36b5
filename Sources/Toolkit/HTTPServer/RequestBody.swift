/// The handling of request bodies on a route.
public enum BodyPolicy: Sendable, Equatable {
    /// The route takes no body. A request with a body is rejected with status 400.
    case none
    /// The body is read to its end before the handler runs; ``RequestBody/bytes`` contains it. A body of more than
    /// `limit` bytes is rejected with status 413.
    case collected(limit: Int)
    /// The handler receives the body piece by piece while it arrives. A slow handler slows the client down. After more
    /// than `limit` bytes, the sequence throws a ``Problem`` with status 413.
    case streamed(limit: Int)

    /// The maximum length of a body in bytes, counted after decompression.
    public var limit: Int {
        switch self {
        case .none: 0
        case .collected(let limit), .streamed(let limit): limit
        }
    }
}

/// The body of a request, as an asynchronous sequence of pieces. A collected body is a sequence of one piece.
///
/// Iterate a streamed body once. The sequence throws a ``Problem`` (400, 408 or 413) when the body cannot be read to
/// its end, and `CancellationError` when the client has disconnected.
public struct RequestBody: Sendable, AsyncSequence {
    /// A piece of the body.
    public typealias Element = [UInt8]
    /// A ``Problem`` or a `CancellationError`.
    public typealias Failure = any Error

    private enum Source: Sendable {
        case collected([UInt8])
        case streamed(BodyPump)
    }

    private let source: Source

    /// Creates a body that is completely in memory.
    public init(bytes: [UInt8]) {
        source = .collected(bytes)
    }

    init(pump: BodyPump) {
        source = .streamed(pump)
    }

    /// The collected body; empty for a route that streams it.
    public var bytes: [UInt8] {
        switch source {
        case .collected(let bytes): bytes
        case .streamed: []
        }
    }

    /// Returns an iterator over the pieces, which are in order and never empty.
    public func makeAsyncIterator() -> Iterator {
        switch source {
        case .collected(let bytes): Iterator(collected: bytes.isEmpty ? nil : bytes, pump: nil)
        case .streamed(let pump): Iterator(collected: nil, pump: pump)
        }
    }

    /// Iterates over the pieces of a body.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var collected: [UInt8]?
        fileprivate let pump: BodyPump?

        /// Returns the next piece; `nil` at the end of the body.
        ///
        /// - Throws: ``Problem`` when the body is too large or arrives too slowly; `CancellationError` when the client
        ///   disconnects; another error when the body was already read once.
        public mutating func next() async throws -> [UInt8]? {
            if let pump { return try await pump.next() }
            defer { collected = nil }
            return collected
        }

        /// Returns the next piece; `nil` at the end of the body.
        ///
        /// - Throws: the same errors as ``next()``.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> [UInt8]? {
            if let pump { return try await pump.next() }
            defer { collected = nil }
            return collected
        }
    }
}
