/// The function of a route that responds to a request.
///
/// A handler has a synchronous start. If a request need not wait, the start can return the response, and no task is
/// created. Otherwise the start returns the rest of the work, which the server runs in a task.
///
/// The start, and the parts of the rest that do not leave the loop, run on the server's loop, so they must not block.
/// Work that takes longer than about a millisecond must run on another thread. The task of the rest is cancelled when
/// the client disconnects.
public struct Handler: Sendable {
    /// A function that returns the response to one request.
    public typealias Function = nonisolated(nonsending) @Sendable (Request) async throws -> Response

    /// The rest of the work for a request.
    public typealias Work = nonisolated(nonsending) @Sendable () async throws -> Response

    /// The result of the start.
    public enum Reply: Sendable {
        /// The response.
        case now(Response)
        /// The response is the result of this function.
        case later(Work)

        /// The response. Waits for it if necessary.
        ///
        /// - Throws: the errors of the work.
        public nonisolated(nonsending) func response() async throws -> Response {
            switch self {
            case .now(let response): response
            case .later(let work): try await work()
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
