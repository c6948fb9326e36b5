import Locking

/// How far the engine has come in closing; who asks again waits for the first to be done.
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

    /// True for the first caller: it does the closing.
    func begin() -> Bool {
        state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
    }

    /// The writer has done everything it had accepted.
    func writerIsDrained() {
        let waiting = state.withLock { state in
            state.isDrained = true
            defer { state.waitingForDrain = [] }
            return state.waitingForDrain
        }
        for continuation in waiting { continuation.resume() }
    }

    /// The writer's thread is over and the file closed.
    func writerIsDone() {
        writerIsDrained()
        let waiting = state.withLock { state in
            state.isDone = true
            defer { state.waitingForEnd = [] }
            return state.waitingForEnd
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns when the accepted work is done.
    func drained() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if !state.isDrained { state.waitingForDrain.append(continuation) }
                return state.isDrained
            }
            if isDone { continuation.resume() }
        }
    }

    /// Returns when nothing is written any more.
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
