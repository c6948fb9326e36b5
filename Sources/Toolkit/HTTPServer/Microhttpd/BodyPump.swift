/// Transfers a streamed request body from the connection to the handler, piece by piece.
///
/// The buffer is small. While it is full, the connection is suspended, and TCP flow control stops the client.
final class BodyPump: @unchecked Sendable {
    // `@unchecked Sendable` is safe, because the object is used only on the loop's thread. `next` switches to this
    // thread first.

    /// The number of buffered bytes at which the connection is suspended.
    static let capacity = 64 * 1024

    private let loop: Loop
    private var pieces: [UInt8] = []
    private var outcome: Result<Void, any Error>?
    private var waiting: CheckedContinuation<[UInt8]?, any Error>?
    /// Called when the buffer accepts bytes again after it was full; `nil` after the end of the body.
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

    /// The error that is thrown when a body is read a second time. Only one task may read a body.
    struct BodyAlreadyReadError: Error {}
}
