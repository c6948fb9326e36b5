/// Passes a streamed body from the connection to the handler, piece by piece.
///
/// Buffers little: when it is full, the connection is suspended, and TCP makes the client wait.
final class BodyPump: @unchecked Sendable {
    // Safe to share: used only on the loop's thread; `next` switches to it first.

    /// The number of bytes that may be buffered before the connection has to wait.
    static let capacity = 64 * 1024

    private let loop: Loop
    private var pieces: [UInt8] = []
    private var outcome: Result<Void, any Error>?
    private var waiting: CheckedContinuation<[UInt8]?, any Error>?
    /// Called when there is room again after the buffer was full.
    var onWritable: (() -> Void)?

    init(loop: Loop) {
        self.loop = loop
    }

    var isFull: Bool { pieces.count >= Self.capacity }

    func push(_ piece: [UInt8]) {
        if let waiting {
            self.waiting = nil
            waiting.resume(returning: piece)
        } else {
            pieces.append(contentsOf: piece)
        }
    }

    func finish() { end(.success(())) }

    func fail(_ error: any Error) { end(.failure(error)) }

    private func end(_ outcome: Result<Void, any Error>) {
        guard self.outcome == nil else { return }
        self.outcome = outcome
        onWritable = nil
        guard let waiting else { return }
        self.waiting = nil
        waiting.resume(with: outcome.map { nil })
    }

    /// Returns the next piece, or `nil` at the end of the body. Waits when no piece has arrived.
    func next() async throws -> [UInt8]? {
        try Task.checkCancellation()
        return try await withCheckedThrowingContinuation { continuation in
            if loop.isCurrent {
                receive(continuation)
            } else {
                loop.post { self.receive(continuation) }
            }
        }
    }

    private func receive(_ continuation: CheckedContinuation<[UInt8]?, any Error>) {
        if !pieces.isEmpty {
            let wasFull = isFull
            let piece = pieces
            pieces = []
            continuation.resume(returning: piece)
            if wasFull { onWritable?() }
        } else if let outcome {
            continuation.resume(with: outcome.map { nil })
        } else if waiting != nil {
            continuation.resume(throwing: BodyAlreadyReadError())
        } else {
            waiting = continuation
        }
    }

    /// The error for a second reader: a body is read once, by one task.
    struct BodyAlreadyReadError: Error {}
}
