/// The start of a deferred response: a response that is given after the handler has returned, by the code that
/// receives the request's ``DeferredResponse``.
///
/// For clients that wait for an event, thousands at a time. A waiting client has no task and no libmicrohttpd
/// connection, only a socket and about 200 bytes of memory. After the response its connection continues as any other.
public struct DeferredStart: Sendable {
    private let handover: OneShotTransfer<DeferredResponse>

    /// Exactly one of the two closures is called.
    ///
    /// - Parameters:
    ///   - onOpen: runs on the loop, once. A response given inside it is equivalent to one that the handler returned.
    ///   - onDrop: runs on any thread when the client disconnected before the request began to wait.
    public init(onOpen: @escaping @Sendable (DeferredResponse) -> Void, onDrop: @escaping @Sendable () -> Void = {}) {
        handover = OneShotTransfer(onOpen: onOpen, onDrop: onDrop)
    }

    func open(_ reply: DeferredResponse) { handover.open(reply) }
}

/// A client that waits for its deferred response.
///
/// Belongs to its server's loop: call every member on the loop's thread. The server keeps the object until the
/// response was given or the client has gone.
public final class DeferredResponse: @unchecked Sendable {
    // Safe to share: each entry point checks that it runs on the loop's thread.

    /// The state of the client's connection.
    enum Place {
        /// The request's handler has just returned.
        case opening
        /// The client waits on a duplicated socket, and libmicrohttpd has dropped the connection.
        case released(DeferredSocket)
        /// The client waits on a suspended libmicrohttpd connection, because the socket cannot be taken over.
        case suspended(Exchange)
        case over
    }

    /// The client's address.
    public let remoteAddress: RemoteAddress
    /// The address at the other end of the connection: the client's, or a proxy's.
    let peer: RemoteAddress
    let context: Router.Context
    private let core: ServerCore
    private var place = Place.opening
    private(set) var answer: Response?
    private var disconnectHandler: (@Sendable () -> Void)?

    init(_ context: Router.Context, remoteAddress: RemoteAddress, peer: RemoteAddress, core: ServerCore) {
        self.context = context
        self.remoteAddress = remoteAddress
        self.peer = peer
        self.core = core
    }

    /// The id of the request.
    var requestID: String { context.requestID }

    /// True when a response would have no effect: one was given, or the client has gone.
    public var isOver: Bool {
        if case .over = place { return true }
        return answer != nil
    }

    /// Gives the response. Only the first one counts.
    ///
    /// - Parameter response: a response with its body in memory, or without one.
    public func complete(_ response: Response) {
        core.loop.checkIsolated()
        precondition(response.body.isWhole, "A late answer is held in memory")
        guard !isOver else { return }
        disconnectHandler = nil
        answer = response
        switch place {
        case .opening, .over: break
        case .released(let socket): socket.answer()
        case .suspended(let exchange):
            place = .over
            exchange.decide(response)
        }
    }

    /// Gives a problem as the response.
    public func fail(_ problem: Problem) {
        complete(core.router.answer(to: problem, plan: context.plan, requestID: requestID))
    }

    /// Calls `handler` once when the client has gone, or the server has stopped, before a response was given.
    public func onDisconnect(_ handler: @escaping @Sendable () -> Void) {
        core.loop.checkIsolated()
        if !isOver { disconnectHandler = handler }
    }

    func setPlace(in place: Place) { self.place = place }

    /// Ends the wait: no client is left to read a response.
    func disconnected() {
        place = .over
        let handler = disconnectHandler
        disconnectHandler = nil
        handler?()
    }
}

extension ResponseBody {
    /// True when the whole body is in memory.
    var isWhole: Bool {
        switch self {
        case .empty, .bytes, .fixed: true
        case .pieces, .stream, .deferred: false
        }
    }
}
