import Locking

/// The progress of closing the engine. Callers that close it again wait until the first call has finished.
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

    /// Returns true for the first caller, which then closes the engine.
    func begin() -> Bool {
        state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
    }

    /// Called when the writer has done all accepted work.
    func writerIsDrained() {
        let waiting = state.withLock { state in
            state.isDrained = true
            defer { state.waitingForDrain = [] }
            return state.waitingForDrain
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Called when the writer's thread has ended and the file is closed.
    func writerIsDone() {
        writerIsDrained()
        let waiting = state.withLock { state in
            state.isDone = true
            defer { state.waitingForEnd = [] }
            return state.waitingForEnd
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns when all accepted work is done.
    func drained() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if !state.isDrained { state.waitingForDrain.append(continuation) }
                return state.isDrained
            }
            if isDone { continuation.resume() }
        }
    }

    /// Returns when the writer's thread has ended and the file is closed.
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
