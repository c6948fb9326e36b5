internal import Locking

/// A queue of commands from tasks to the loop thread. The loop is woken only if it sleeps, so a burst of commands needs
/// only one system call.
final class Mailbox: Sendable {
    enum Command: Sendable {
        case start(Transfer)
        case cancel(Transfer)
        case cancelGroup(OutboundGroup)
        /// The buffer of a stream accepts bytes again, so its paused transfer must be resumed.
        case resume(Transfer)
    }

    private struct State {
        var commands: [Command] = []
        var loopSleeps = false
        var isClosed = false
        var isFinished = false
        var finishWaiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())
    let eventFD: EventFD

    init(eventFD: EventFD) { self.eventFD = eventFD }

    /// Passes commands to the loop. If the client is shutting down, passes no command and returns false.
    func post(_ commands: [Command]) -> Bool {
        let (accepted, mustWake) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            state.commands += commands
            defer { state.loopSleeps = false }
            return (true, state.loopSleeps)
        }
        if mustWake { eventFD.raise() }
        return accepted
    }

    /// Returns the commands that were posted since the last call. `isClosed` is true when the loop must stop. If there
    /// are no commands, the next posted command wakes the loop.
    func drain() -> (commands: [Command], isClosed: Bool) {
        state.withLock { state in
            let commands = state.commands
            state.commands.removeAll(keepingCapacity: commands.count <= 1024)
            state.loopSleeps = commands.isEmpty
            return (commands, state.isClosed)
        }
    }

    /// Rejects further commands and makes the loop stop.
    func close() {
        state.withLock { $0.isClosed = true }
        eventFD.raise()
    }

    /// Records that the loop has stopped, and resumes the tasks that wait for it.
    func finish() {
        let waiters = state.withLock { state in
            state.isFinished = true
            defer { state.finishWaiters = [] }
            return state.finishWaiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until the loop has stopped.
    func finished() async {
        await withCheckedContinuation { continuation in
            let isFinished = state.withLock { state in
                if !state.isFinished { state.finishWaiters.append(continuation) }
                return state.isFinished
            }
            if isFinished { continuation.resume() }
        }
    }
}
