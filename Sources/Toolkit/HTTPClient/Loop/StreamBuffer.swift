internal import Locking

/// The buffer between the loop, which adds bytes of a stream, and the task that reads the stream.
///
/// The buffer contains at most ``limitBytes`` and one more piece. At this limit, the loop pauses the transfer. The
/// reader later makes the loop resume the transfer.
final class StreamBuffer: Sendable {
    static let limitBytes = 64 * 1024

    struct Head: Sendable {
        let status: Int
        let headers: HeaderFields
    }

    /// The result of a read: bytes, the end of the stream, or a failure. `mustResume` is true if the transfer is paused
    /// and the reader must make the loop resume it.
    enum Outcome: Sendable {
        case bytes([UInt8], mustResume: Bool)
        case end
        case failed(OutboundFailure)
    }

    private struct State {
        var head: Head?
        var bytes: [UInt8] = []
        var isPaused = false
        /// The end of the stream: `nil` before the end, `.some(nil)` after a regular end, and otherwise the failure.
        var ending: OutboundFailure??
        var headWaiter: CheckedContinuation<Result<Head, OutboundFailure>, Never>?
        var reader: CheckedContinuation<Outcome, Never>?
    }

    private let state = Lock(State())

    // MARK: The loop's side

    func deliver(_ head: Head) {
        let waiter = state.withLock { state in
            state.head = head
            return state.headWaiter.consume()
        }
        waiter?.resume(returning: .success(head))
    }

    /// Adds bytes to the buffer. Returns false if the buffer is full. The transfer is then paused, and libcurl delivers
    /// the same bytes again later.
    func offer(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let piece = [UInt8](bytes)
        let (accepted, reader) = state.withLock { state in
            if let reader = state.reader.consume() { return (true, Optional(reader)) }
            guard state.bytes.count < Self.limitBytes else {
                state.isPaused = true
                return (false, nil)
            }
            state.bytes.append(contentsOf: piece)
            return (true, nil)
        }
        reader?.resume(returning: .bytes(piece, mustResume: false))
        return accepted
    }

    /// Ends the stream, with a failure or regularly (`nil`). The reader receives the buffered bytes first.
    func finish(_ failure: OutboundFailure?) {
        let (headWaiter, reader) = state.withLock { state in
            state.ending = .some(failure)
            return (state.headWaiter.consume(), state.reader.consume())
        }
        let early = OutboundFailure(.responseInvalid, detail: "the connection ended without a response")
        headWaiter?.resume(returning: .failure(failure ?? early))
        reader?.resume(returning: failure.map { .failed($0) } ?? .end)
    }

    // MARK: The reader's side

    func awaitHead(then post: () -> Bool) async -> Result<Head, OutboundFailure> {
        await withCheckedContinuation { continuation in
            state.withLock { $0.headWaiter = continuation }
            if !post() { finish(OutboundFailure(.cancelled, detail: "the HTTP client was shut down")) }
        }
    }

    func read() async -> Outcome {
        await withCheckedContinuation { continuation in
            let outcome: Outcome? = state.withLock { state in
                precondition(state.reader == nil, "only one task may read from a stream")
                if !state.bytes.isEmpty {
                    let bytes = state.bytes
                    state.bytes = []
                    defer { state.isPaused = false }
                    return .bytes(bytes, mustResume: state.isPaused)
                }
                if let ending = state.ending { return ending.map { .failed($0) } ?? .end }
                state.reader = continuation
                return nil
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }
}

extension Optional {
    /// Returns the value and sets this optional to `nil`.
    fileprivate mutating func consume() -> Wrapped? {
        defer { self = nil }
        return self
    }
}
