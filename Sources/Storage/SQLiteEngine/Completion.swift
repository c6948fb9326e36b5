import ChatModel
import Synchronization

/// The one answer somebody awaits. The writer and the clerk's deadline may both want to give it: the first one does.
///
/// So the continuation need not be a checked one, which would allocate a watchman of its own for each append.
final class Completion<Value: Sendable>: Sendable {
    private let continuation: UnsafeContinuation<Result<Value, ChatError>, Never>
    private let isAnswered = Atomic(false)

    init(_ continuation: UnsafeContinuation<Result<Value, ChatError>, Never>) {
        self.continuation = continuation
    }

    func answer(_ result: Result<Value, ChatError>) {
        guard !isAnswered.exchange(true, ordering: .acquiringAndReleasing) else { return }
        continuation.resume(returning: result)
    }
}
