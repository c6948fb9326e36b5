import Locking

/// The state of closing the engine. It lets every caller of ``SQLiteEngine/close()`` wait until the first call has
/// finished.
final class Closing: Sendable {
    private struct State: Sendable {
        var hasBegun = false
        var isDrained = false
        var isDone = false
        var waitingForDrain: [CheckedContinuation<Void, Never>] = []
        var waitingForEnd: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())

    var hasBegun: Bool { state.withLock { $0.hasBegun } }

    /// Returns true for the first caller, which must then close the engine, and false for later callers.
    func begin() -> Bool {
        state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
    }

    /// Records that the writer has completed all accepted requests, and resumes the callers of ``drained()``.
    func writerIsDrained() {
        let waiting = state.withLock { state in
            state.isDrained = true
            defer { state.waitingForDrain = [] }
            return state.waitingForDrain
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Records that the writer's thread has ended and the database is closed, and resumes the callers of ``end()``.
    func writerIsDone() {
        writerIsDrained()
        let waiting = state.withLock { state in
            state.isDone = true
            defer { state.waitingForEnd = [] }
            return state.waitingForEnd
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns when the writer has completed all accepted requests.
    func drained() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if !state.isDrained { state.waitingForDrain.append(continuation) }
                return state.isDrained
            }
            if isDone { continuation.resume() }
        }
    }

    /// Returns when the writer's thread has ended and the database is closed.
    func end() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if !state.isDone { state.waitingForEnd.append(continuation) }
                return state.isDone
            }
            if isDone { continuation.resume() }
        }
    }
}
