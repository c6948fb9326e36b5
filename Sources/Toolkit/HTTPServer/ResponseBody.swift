import Synchronization

/// The body of a response.
public enum ResponseBody: Sendable {
    case empty
    /// Bytes, copied once into the response.
    case bytes([UInt8])
    /// Bytes of the program itself, sent without copying.
    case fixed(StaticBytes)
    /// A chunked body that is produced while it is sent, for bodies too large to hold in memory. The next piece is
    /// requested when the client has room. An error cuts the connection, so that the client does not take the part for
    /// the whole.
    case pieces(Pieces)
    /// A live stream; see ``StreamOpening``.
    case stream(StreamOpening)
    /// A deferred response, whose status and header fields are given with it later. See ``DeferredStart``.
    case deferred(DeferredStart)

    /// Creates a body from any asynchronous sequence of byte arrays.
    public static func pieces<S: AsyncSequence & Sendable>(_ sequence: S) -> ResponseBody where S.Element == [UInt8] {
        .pieces(Pieces(sequence))
    }

    /// A type-erased source of pieces.
    public struct Pieces: Sendable {
        let forEach: @Sendable (_ send: ([UInt8]) async throws -> Void) async throws -> Void

        /// Wraps a sequence of pieces.
        public init<S: AsyncSequence & Sendable>(_ sequence: S) where S.Element == [UInt8] {
            forEach = { send in
                for try await piece in sequence { try await send(piece) }
            }
        }
    }
}

/// The start of a live stream: the header fields to send, and the closure that receives the stream.
///
/// The status is `200`, without `Content-Length`. The body is chunked, with one chunk per block; for HTTP/1.0 it ends
/// with the connection. The connection carries no second request.
public struct StreamOpening: Sendable {
    /// The header fields to send after those that the server adds.
    public let headers: [(name: String, value: String)]
    private let handover: OneShotTransfer<StreamConnection>

    /// Exactly one of the two closures is called.
    ///
    /// - Parameters:
    ///   - onOpen: runs on the loop once the header has been queued, before anything else can happen to the
    ///     connection.
    ///   - onDrop: runs on any thread when no stream was opened, because the server refused it or the client
    ///     disconnected before.
    public init(
        headers: [(name: String, value: String)] = [], onOpen: @escaping @Sendable (StreamConnection) -> Void,
        onDrop: @escaping @Sendable () -> Void = {}
    ) {
        self.headers = headers
        handover = OneShotTransfer(onOpen: onOpen, onDrop: onDrop)
    }

    func open(_ connection: StreamConnection) { handover.open(connection) }

    /// The header fields of a Server-Sent Events response (WHATWG HTML, 9.2). `no-transform` and `X-Accel-Buffering`
    /// keep proxies from holding events back.
    public static let eventStreamHeaders: [(name: String, value: String)] = [
        ("Content-Type", "text/event-stream; charset=utf-8"),
        ("Cache-Control", "no-cache, no-transform"),
        ("X-Accel-Buffering", "no"),
    ]
}

/// A value that is transferred once or dropped: exactly one of the two closures is called.
final class OneShotTransfer<Value>: Sendable {
    private let onOpen: @Sendable (Value) -> Void
    private let onDrop: @Sendable () -> Void
    private let isOpen = Atomic(false)

    /// - Parameter onDrop: called on any thread when the last reference is released without a transfer.
    init(onOpen: @escaping @Sendable (Value) -> Void, onDrop: @escaping @Sendable () -> Void) {
        self.onOpen = onOpen
        self.onDrop = onDrop
    }

    deinit {
        if !isOpen.load(ordering: .relaxed) { onDrop() }
    }

    func open(_ taken: Value) {
        isOpen.store(true, ordering: .relaxed)
        onOpen(taken)
    }
}

/// Bytes that are part of the program: they never change and live as long as the process.
public struct StaticBytes: @unchecked Sendable {
    // Safe to share: the bytes are never written.
    /// The bytes.
    public let buffer: UnsafeRawBufferPointer

    /// - Parameter start: the first byte. The bytes must outlive every use of this value.
    public init(start: UnsafeRawPointer, count: Int) { buffer = UnsafeRawBufferPointer(start: start, count: count) }

    /// Creates the UTF-8 bytes of a literal.
    public init(_ text: StaticString) { self.init(start: text.utf8Start, count: text.utf8CodeUnitCount) }
}
