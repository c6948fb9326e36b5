internal import CMicrohttpd
import Glibc
import Logging

/// Supplies libmicrohttpd with a response body that is produced while it is sent (``ResponseBody/pieces(_:)``).
///
/// A task requests the next piece only when the library has consumed the previous piece. The connection is suspended
/// until the next piece is available.
final class PieceSource: @unchecked Sendable {
    // `@unchecked Sendable` is safe, because the object is used only on the loop's thread, where its task also runs.

    private let pieces: ResponseBody.Pieces
    private let core: ServerCore
    let peer: HTTPConnection
    private let isChunked: Bool
    private var task: Task<Void, Never>?
    private var piece: [UInt8] = []
    private var taken = 0
    private var producer: CheckedContinuation<Void, any Error>?
    private var outcome: Result<Void, any Error>?
    private var isSuspended = false

    init(_ pieces: ResponseBody.Pieces, exchange: Exchange) {
        self.pieces = pieces
        core = exchange.core
        peer = exchange.peer
        isChunked = !exchange.isHTTP10
    }

    func makeResponse() -> OpaquePointer? {
        let context = Unmanaged.passRetained(self)  // released in the free callback, or below
        let response = MHD_create_response_from_callback(
            .max, 32 * 1024,
            { context, _, buffer, limit in
                Unmanaged<PieceSource>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.read(into: buffer!, limit) }
            }, context.toOpaque(),
            { Unmanaged<PieceSource>.fromOpaque($0!).takeRetainedValue().freed() })
        if response == nil { context.release() }
        return response
    }

    private func read(into buffer: UnsafeMutablePointer<CChar>, _ limit: Int) -> Int {
        if task == nil { start() }
        if taken == piece.count, let producer {
            self.producer = nil
            producer.resume()
            core.loop.runJobs(atMost: 16) { self.taken < self.piece.count || self.outcome != nil }
        }
        if taken < piece.count {
            let count = min(limit, piece.count - taken)
            piece.withUnsafeBytes {
                UnsafeMutableRawPointer(buffer).copyMemory(from: $0.baseAddress! + taken, byteCount: count)
            }
            taken += count
            core.move(peer, to: .reply)
            return count
        }
        switch outcome {
        case .success where isChunked: return -1  // MHD_CONTENT_READER_END_OF_STREAM
        case .success, .failure: return peer.endInReader(buffer)
        case nil:
            isSuspended = true
            core.move(peer, to: .working)
            core.suspended(self)
            MHD_suspend_connection(peer.connection)
            return 0
        }
    }

    private func start() {
        task = Task.immediate(executorPreference: core.tasks) { [self] in
            do {
                try await pieces.forEach { try await self.offer($0) }
                end(.success(()))
            } catch {
                end(.failure(error))
            }
        }
    }

    private func offer(_ piece: [UInt8]) async throws {
        try Task.checkCancellation()
        guard !piece.isEmpty else { return }
        try await withCheckedThrowingContinuation { continuation in
            if core.loop.isCurrent {
                receive(piece, continuation)
            } else {
                core.loop.post { self.receive(piece, continuation) }
            }
        }
    }

    private func receive(_ piece: [UInt8], _ continuation: CheckedContinuation<Void, any Error>) {
        guard outcome == nil else { return continuation.resume(throwing: CancellationError()) }
        self.piece = piece
        taken = 0
        producer = continuation
        resume()
    }

    private func end(_ outcome: Result<Void, any Error>) {
        guard self.outcome == nil else { return }
        self.outcome = outcome
        if case .failure(let error) = outcome, !(error is CancellationError) {
            core.logger.error("cannot complete a response; closing the connection", metadata: ["error": "\(error)"])
        }
        resume()
    }

    private func resume() {
        guard isSuspended else { return }
        isSuspended = false
        core.resumed(self)
        core.move(peer, to: .reply)
        MHD_resume_connection(peer.connection)
    }

    /// Called when the body was sent or the client has disconnected.
    private func freed() {
        if outcome == nil { outcome = .failure(CancellationError()) }
        task?.cancel()
        producer?.resume(throwing: CancellationError())
        producer = nil
    }
}

extension PieceSource: Suspendable {
    func abandon() {
        end(.failure(CancellationError()))
        task?.cancel()
    }
}
