package import ChatModel
package import Synchronization

/// A result that one caller awaits. Several threads may set the result. Only the result that is set first is
/// used.
///
/// Because this type ensures that the continuation is resumed only once, it uses an unsafe continuation. A checked
/// continuation would allocate an object for each append.
package final class Completion<Value: Sendable>: Sendable {
    @usableFromInline let continuation: UnsafeContinuation<Result<Value, ChatError>, Never>
    @usableFromInline let isAnswered = Atomic(false)

    @inlinable package init(_ continuation: UnsafeContinuation<Result<Value, ChatError>, Never>) {
        self.continuation = continuation
    }

    @inlinable package func answer(_ result: Result<Value, ChatError>) {
        guard !isAnswered.exchange(true, ordering: .acquiringAndReleasing) else { return }
        continuation.resume(returning: result)
    }
}
