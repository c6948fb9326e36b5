package import ChatModel
package import Synchronization

/// A result for which one caller waits. Several threads may set the result. Only the result that is set first is
/// used.
package final class Completion<Value: Sendable>: Sendable {
    /// Receives the result, on the thread that sets it.
    package typealias Callback = @Sendable (Result<Value, ChatError>) -> Void

    @usableFromInline let callback: Callback
    @usableFromInline let isAnswered = Atomic(false)

    /// - Parameter callback: called once. It must be short.
    @inlinable package init(_ callback: @escaping Callback) { self.callback = callback }

    /// Creates a completion that resumes a continuation. This type resumes it only once, so the continuation can be
    /// unsafe. A checked continuation would allocate an object for each append.
    @inlinable package convenience init(_ continuation: UnsafeContinuation<Result<Value, ChatError>, Never>) {
        self.init { continuation.resume(returning: $0) }
    }

    @inlinable package func answer(_ result: Result<Value, ChatError>) {
        guard !isAnswered.exchange(true, ordering: .acquiringAndReleasing) else { return }
        callback(result)
    }
}
