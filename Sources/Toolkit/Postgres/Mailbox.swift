internal import Locking

/// The requests that the thread of a connection executes, in the order of the calls.
final class Mailbox: Sendable {
    typealias RunResult = Result<[Rows], PostgresFailure>

    enum Request: Sendable {
        case run([Statement], deadline: MonotonicTime, CheckedContinuation<RunResult, Never>)
        case close(CheckedContinuation<Void, Never>?)

        /// Ends a request that is not executed.
        func end(_ failure: PostgresFailure) {
            switch self {
            case .run(_, _, let continuation): continuation.resume(returning: .failure(failure))
            case .close(let continuation): continuation?.resume()
            }
        }
    }

    private struct State: Sendable {
        var requests: [Request] = []
        var isClosing = false
        /// The failure of every later request; `nil` while the connection works.
        var end: PostgresFailure?
    }

    let eventFD: EventFD
    private let limit: Int
    private let state = Lock(State())

    init(eventFD: EventFD, limit: Int) {
        self.eventFD = eventFD
        self.limit = limit
    }

    /// Adds a request, or ends it at once when the connection is closed or too many requests wait.
    func post(_ request: Request) {
        let failure = state.withLock { state -> PostgresFailure? in
            if let end = state.end { return end }
            if state.isClosing { return PostgresFailure(kind: .connectionLost, message: "the connection is closed") }
            if case .close = request {
                state.isClosing = true
            } else if state.requests.count >= limit {
                return PostgresFailure(kind: .overloaded, message: "\(limit) runs wait for the connection")
            }
            state.requests.append(request)
            return nil
        }
        if let failure { request.end(failure) } else { eventFD.raise() }
    }

    func next() -> Request? {
        state.withLock { state in state.requests.isEmpty ? nil : state.requests.removeFirst() }
    }

    /// Ends every waiting request and every later one with the failure.
    func end(_ failure: PostgresFailure) {
        let waiting = state.withLock { state in
            state.end = failure
            defer { state.requests = [] }
            return state.requests
        }
        for request in waiting { request.end(failure) }
    }
}
