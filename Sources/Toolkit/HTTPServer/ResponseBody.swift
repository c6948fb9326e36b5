import Synchronization

/// The body of a response.
public enum ResponseBody: Sendable {
    case empty
    /// Bytes in memory. The server copies them once.
    case bytes([UInt8])
    /// Bytes that are part of the program. The server sends them without copying them.
    case fixed(StaticBytes)
    /// A chunked body that is produced while it is sent, for bodies too large to hold in memory. The server requests
    /// the next piece when the client can receive more. An error closes the connection, so that the client notices that
    /// the body is incomplete.
    case pieces(Pieces)
    /// A live stream; see ``StreamOpening``.
    case stream(StreamOpening)
    /// A deferred response. Its status, header fields and body are provided later; see ``DeferredStart``.
    case deferred(DeferredStart)

    /// Creates a body from any asynchronous sequence of byte arrays.
    public static func pieces<S: AsyncSequence & Sendable>(_ sequence: S) -> ResponseBody where S.Element == [UInt8] {
        .pieces(Pieces(sequence))
    }

    /// A type-erased source of pieces.
    public struct Pieces: Sendable {
        let forEach: @Sendable (_ send: ([UInt8]) async throws -> Void) async throws -> Void

        /// Creates a source from a sequence of pieces.
        public init<S: AsyncSequence & Sendable>(_ sequence: S) where S.Element == [UInt8] {
            forEach = { send in
                for try await piece in sequence { try await send(piece) }
            }
        }
    }
}

/// The start of a live stream: the header fields to send, and the closure that receives the stream.
///
/// The response has the status `200` and no `Content-Length`. The body is chunked, with one chunk for each block of
/// bytes. For an HTTP/1.0 client, the body is not chunked and ends when the connection closes. The connection accepts
/// no second request.
public struct StreamOpening: Sendable {
    /// The header fields to send after the header fields that the server adds.
    public let headers: [(name: String, value: String)]
    private let handover: OneShotTransfer<StreamConnection>

    /// Creates the start of a live stream. Exactly one of the two closures is called.
    ///
    /// - Parameters:
    ///   - onOpen: runs on the loop once the header has been queued, before anything else can happen to the connection.
    ///   - onDrop: runs on any thread when no stream is opened, because the server has rejected the stream or the
    ///     client has disconnected.
    public init(
        headers: [(name: String, value: String)] = [], onOpen: @escaping @Sendable (StreamConnection) -> Void,
        onDrop: @escaping @Sendable () -> Void = {}
    ) {
        self.headers = headers
        handover = OneShotTransfer(onOpen: onOpen, onDrop: onDrop)
    }

    func open(_ connection: StreamConnection) { handover.open(connection) }

    /// The header fields of a Server-Sent Events response (WHATWG HTML, 9.2). `no-transform` and `X-Accel-Buffering`
    /// prevent proxies from buffering events.
    public static let eventStreamHeaders: [(name: String, value: String)] = [
        ("Content-Type", "text/event-stream; charset=utf-8"),
        ("Cache-Control", "no-cache, no-transform"),
        ("X-Accel-Buffering", "no"),
    ]
}

/// Transfers a value to its receiver at most once. Calls exactly one of two closures: `onOpen` with the value, or
/// `onDrop` when the value is never transferred.
final class OneShotTransfer<Value>: Sendable {
    private let onOpen: @Sendable (Value) -> Void
    private let onDrop: @Sendable () -> Void
    private let isOpen = Atomic(false)

    /// Creates a transfer that has not happened yet.
    ///
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

/// Bytes that are part of the program. They never change and remain valid until the process ends.
public struct StaticBytes: @unchecked Sendable {
    // `@unchecked Sendable` is safe, because the bytes are never written.
    /// The bytes.
    public let buffer: UnsafeRawBufferPointer

    /// Creates a value that refers to bytes of the program.
    ///
    /// - Parameter start: the first byte. The bytes must outlive every use of this value.
    public init(start: UnsafeRawPointer, count: Int) { buffer = UnsafeRawBufferPointer(start: start, count: count) }

    /// Creates a value that refers to the UTF-8 bytes of a string literal.
    public init(_ text: StaticString) { self.init(start: text.utf8Start, count: text.utf8CodeUnitCount) }
}
