/// What a route wants done with a request's body.
public enum BodyPolicy: Sendable, Equatable {
    /// The route takes no body: a request with one is answered with 400.
    case none
    /// Read to the end before the handler runs; ``RequestBody/bytes`` holds it. More than `limit` bytes is 413.
    case collected(limit: Int)
    /// Handed to the handler piece by piece while it arrives. A slow handler slows the client down; more than
    /// `limit` bytes throws a 413 from the sequence.
    case streamed(limit: Int)

    /// The most bytes of body, counted after decompression.
    public var limit: Int {
        switch self {
        case .none: 0
        case .collected(let limit), .streamed(let limit): limit
        }
    }
}

/// The body of a request: an asynchronous sequence of pieces, which is one piece when it was collected.
///
/// Iterate a streamed body once. The sequence throws a ``Problem`` (408, 413, 400) when the body cannot be read to
/// its end, and `CancellationError` when the client is gone.
public struct RequestBody: Sendable, AsyncSequence {
    public typealias Element = [UInt8]
    public typealias Failure = any Error

    private enum Source: Sendable {
        case collected([UInt8])
        case streamed(BodyPump)
    }

    private let source: Source

    /// A body that is here already.
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

    /// The pieces in order, never empty.
    public func makeAsyncIterator() -> Iterator {
        switch source {
        case .collected(let bytes): Iterator(collected: bytes.isEmpty ? nil : bytes, pump: nil)
        case .streamed(let pump): Iterator(collected: nil, pump: pump)
        }
    }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var collected: [UInt8]?
        fileprivate let pump: BodyPump?

        public mutating func next() async throws -> [UInt8]? {
            if let pump { return try await pump.next() }
            defer { collected = nil }
            return collected
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> [UInt8]? {
            if let pump { return try await pump.next() }
            defer { collected = nil }
            return collected
        }
    }
}
