/// The function of a route that responds to a request.
///
/// A handler has a synchronous start. If a request need not wait, the start can return the response, and no task is
/// created. Otherwise the start returns the rest of the work, which runs in a task, or an operation, which needs no task.
///
/// The start, and the parts of the rest that do not leave the loop, run on the server's loop, so they must not block.
/// Work that takes longer than about a millisecond must run on another thread. The task of the rest is cancelled when
/// the client disconnects.
public struct Handler: Sendable {
    /// A function that returns the response to one request.
    public typealias Function = nonisolated(nonsending) @Sendable (Request) async throws -> Response

    /// The rest of the work for a request.
    public typealias Work = nonisolated(nonsending) @Sendable () async throws -> Response

    /// A function that returns the response for an error, or throws another error.
    public typealias Recovery = nonisolated(nonsending) @Sendable (any Error) async throws -> Response

    /// The result of the start.
    public enum Reply: Sendable {
        /// The response.
        case now(Response)
        /// The response is the result of this function.
        case later(Work)
        /// The response depends on the result of an operation. The server needs no task while it waits for the result.
        case pending(PendingReply)

        /// The response. Waits for it if necessary.
        ///
        /// - Throws: the errors of the work.
        public nonisolated(nonsending) func response() async throws -> Response {
            switch self {
            case .now(let response): return response
            case .later(let work): return try await work()
            case .pending(let pending):
                await withUnsafeContinuation { continuation in pending.begin { continuation.resume() } }
                return try await pending.reply().response()
            }
        }

        /// Returns a reply with `transform` applied to its response. If the work fails, `recover` returns the response or
        /// throws an error.
        public func map(
            _ transform: @escaping @Sendable (Response) -> Response = { $0 },
            recover: @escaping Recovery
        ) -> Reply {
            switch self {
            case .now(let response): return .now(transform(response))
            case .later(let work):
                return .later {
                    do {
                        return transform(try await work())
                    } catch {
                        return try await recover(error)
                    }
                }
            case .pending(let pending):
                return .pending(pending.with((transform, recover)))
            }
        }
    }

    /// Starts the response to a request.
    ///
    /// - Throws: the error of a request that is rejected at once, usually a ``Problem``.
    public let start: @Sendable (Request) throws -> Reply

    /// Creates a handler that may respond without waiting.
    public init(starting start: @escaping @Sendable (Request) throws -> Reply) { self.start = start }

    /// Creates a handler whose whole work runs in a task.
    public init(_ respond: @escaping Function) {
        start = { request in .later { try await respond(request) } }
    }

    /// Returns the response to a request.
    ///
    /// - Throws: the errors of the handler.
    public nonisolated(nonsending) func respond(to request: Request) async throws -> Response {
        try await start(request).response()
    }
}

/// A reply that depends on the result of an operation, such as a commit that another thread makes.
///
/// One object holds the operation, the function that makes the reply, and the changes of the response.
public final class PendingReply: Sendable {
    /// The changes of the response; see ``Handler/Reply/map(_:recover:)``.
    fileprivate typealias Changes = (transform: @Sendable (Response) -> Response, recover: Handler.Recovery)

    /// Begins the operation, which calls `completed` once at its end, on any thread.
    let begin: @Sendable (_ completed: @escaping @Sendable () -> Void) -> Void
    /// True when the response will be short; see ``Handler/Reply/after(_:isShort:conclude:)``.
    let isShort: Bool
    private let conclude: @Sendable () throws -> Handler.Reply
    private let changes: Changes?

    fileprivate init(
        _ begin: @escaping @Sendable (_ completed: @escaping @Sendable () -> Void) -> Void, isShort: Bool,
        _ conclude: @escaping @Sendable () throws -> Handler.Reply, _ changes: Changes? = nil
    ) {
        self.begin = begin
        self.isShort = isShort
        self.conclude = conclude
        self.changes = changes
    }

    /// Makes the reply. Call it only after the end of the operation.
    ///
    /// - Throws: the error of the operation, unless a function recovers from it.
    func reply() throws -> Handler.Reply {
        guard let (transform, recover) = changes else { return try conclude() }
        do {
            return try conclude().map(transform, recover: recover)
        } catch {
            return .later { try await recover(error) }
        }
    }

    fileprivate func with(_ changes: Changes) -> PendingReply {
        guard self.changes == nil else { return PendingReply(begin, isShort: isShort, { try self.reply() }, changes) }
        return PendingReply(begin, isShort: isShort, conclude, changes)
    }
}

extension Handler.Reply {
    /// Returns a reply that depends on the result of an operation.
    ///
    /// - Parameters:
    ///   - begin: begins the operation. The operation must call the closure that it receives once, on any thread.
    ///   - isShort: true when the response is in memory and has at most 1 KiB, with its header. The server then need
    ///     not suspend the connection. If the response is longer, the connection may be closed.
    ///   - conclude: makes the reply after the end of the operation. Runs on the server's loop, or in the task of the
    ///     code that waits for the reply.
    public static func after(
        _ begin: @escaping @Sendable (_ completed: @escaping @Sendable () -> Void) -> Void, isShort: Bool = false,
        conclude: @escaping @Sendable () throws -> Handler.Reply
    ) -> Handler.Reply {
        .pending(PendingReply(begin, isShort: isShort, conclude))
    }
}
