import Synchronization

/// What follows the header of an answer.
public enum ResponseBody: Sendable {
    case empty
    /// Copied once, into the answer.
    case bytes([UInt8])
    /// Bytes of the program itself, sent from where they lie.
    case fixed(StaticBytes)
    /// A body made while it is sent, chunked, for what should not be held whole. The next piece is asked for when the
    /// client has room. An error cuts the connection, so that nobody takes the part for the whole.
    case pieces(Pieces)
    /// A live stream; see ``StreamOpening``.
    case stream(StreamOpening)
    /// An answer that is not known yet: its status and header fields come with it. See ``DeferredStart``.
    case late(DeferredStart)

    /// A body made from any asynchronous sequence of byte arrays.
    public static func pieces<S: AsyncSequence & Sendable>(_ sequence: S) -> ResponseBody where S.Element == [UInt8] {
        .pieces(Pieces(sequence))
    }

    /// A type-erased source of pieces.
    public struct Pieces: Sendable {
        let forEach: @Sendable (_ send: ([UInt8]) async throws -> Void) async throws -> Void

        public init<S: AsyncSequence & Sendable>(_ sequence: S) where S.Element == [UInt8] {
            forEach = { send in
                for try await piece in sequence { try await send(piece) }
            }
        }
    }
}

/// How a live stream begins: the header fields to send, and who takes the connection over.
///
/// The answer is `200` without `Content-Length`: chunked, one chunk per block, or for HTTP/1.0 ended by its connection.
/// The connection carries no second request.
public struct StreamOpening: Sendable {
    /// Header fields after those the server adds by itself.
    public let headers: [(name: String, value: String)]
    private let handover: OneShotTransfer<StreamConnection>

    /// Exactly one of both is called.
    ///
    /// - Parameters:
    ///   - onOpen: runs on the loop once the header is on its way, before anything else can happen to the connection.
    ///   - onDrop: no stream came of it, because the server refused it or its client went before; from any thread.
    public init(
        headers: [(name: String, value: String)] = [], onOpen: @escaping @Sendable (StreamConnection) -> Void,
        onDrop: @escaping @Sendable () -> Void = {}
    ) {
        self.headers = headers
        handover = OneShotTransfer(onOpen: onOpen, onDrop: onDrop)
    }

    func open(_ connection: StreamConnection) { handover.open(connection) }

    /// The fields of a Server-Sent Events answer (WHATWG HTML, 9.2; `no-transform` and `X-Accel-Buffering` keep
    /// proxies from holding events back).
    public static let eventStreamHeaders: [(name: String, value: String)] = [
        ("Content-Type", "text/event-stream; charset=utf-8"),
        ("Cache-Control", "no-cache, no-transform"),
        ("X-Accel-Buffering", "no"),
    ]
}

/// What is handed over once, or dropped: exactly one of both closures is called.
final class OneShotTransfer<Taken>: Sendable {
    private let onOpen: @Sendable (Taken) -> Void
    private let onDrop: @Sendable () -> Void
    private let isOpen = Atomic(false)

    /// - Parameter onDrop: called when nobody holds it any more and it was never opened; from any thread.
    init(onOpen: @escaping @Sendable (Taken) -> Void, onDrop: @escaping @Sendable () -> Void) {
        self.onOpen = onOpen
        self.onDrop = onDrop
    }

    deinit {
        if !isOpen.load(ordering: .relaxed) { onDrop() }
    }

    func open(_ taken: Taken) {
        isOpen.store(true, ordering: .relaxed)
        onOpen(taken)
    }
}

/// Bytes that are part of the program: they never change and live as long as the process.
public struct StaticBytes: @unchecked Sendable {
    // Safe to share: nobody writes them.
    public let buffer: UnsafeRawBufferPointer

    /// - Parameter start: the first of bytes that outlive every use of this value.
    public init(start: UnsafeRawPointer, count: Int) { buffer = UnsafeRawBufferPointer(start: start, count: count) }

    /// The UTF-8 of a literal.
    public init(_ text: StaticString) { self.init(start: text.utf8Start, count: text.utf8CodeUnitCount) }
}
