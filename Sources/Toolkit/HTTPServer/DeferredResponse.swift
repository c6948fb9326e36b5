/// The start of a deferred response. A handler returns it when the response is not known yet. Other code receives the
/// request's ``DeferredResponse`` and completes it later.
///
/// Deferred responses serve thousands of clients that wait for an event at the same time. A waiting client uses a
/// socket and about 200 bytes of memory, but no task and no libmicrohttpd connection. After the response, the client
/// can send further requests on the same connection.
public struct DeferredStart: Sendable {
    private let handover: OneShotTransfer<DeferredResponse>

    /// Creates the start of a deferred response. Exactly one of the two closures is called.
    ///
    /// - Parameters:
    ///   - onOpen: runs once, on the loop, and receives the object that completes the response. A response that is
    ///     completed inside `onOpen` is sent as if the handler had returned it.
    ///   - onDrop: runs once, on any thread, when the client disconnects before the request begins to wait.
    public init(onOpen: @escaping @Sendable (DeferredResponse) -> Void, onDrop: @escaping @Sendable () -> Void = {}) {
        handover = OneShotTransfer(onOpen: onOpen, onDrop: onDrop)
    }

    func open(_ reply: DeferredResponse) { handover.open(reply) }
}

/// A client that waits for its deferred response.
///
/// Belongs to its server's loop: call every member on the loop's thread. The server keeps a reference to the object
/// until the response is completed or the client disconnects.
public final class DeferredResponse: @unchecked Sendable {
    // `@unchecked Sendable` is safe, because each entry point checks that it runs on the loop's thread.

    /// The state of the client's connection.
    enum Place {
        /// The handler has returned, and the client does not wait on a socket or a suspended connection yet.
        case opening
        /// The client waits on a duplicated socket, and libmicrohttpd has dropped the connection.
        case released(DeferredSocket)
        /// The client waits on a suspended libmicrohttpd connection, because the server cannot take the socket from
        /// libmicrohttpd.
        case suspended(Exchange)
        case over
    }

    /// The client's address.
    public let remoteAddress: RemoteAddress
    /// The address at the other end of the connection: the client's, or a proxy's.
    let peer: RemoteAddress
    let context: RequestRouter.Context
    private let core: ServerCore
    private var place = Place.opening
    private(set) var answer: Response?
    private var disconnectHandler: (@Sendable () -> Void)?

    init(_ context: RequestRouter.Context, remoteAddress: RemoteAddress, peer: RemoteAddress, core: ServerCore) {
        self.context = context
        self.remoteAddress = remoteAddress
        self.peer = peer
        self.core = core
    }

    /// The id of the request.
    var requestID: String { context.requestID }

    /// True when the response has been completed or the client has disconnected. ``complete(_:)`` then has no effect.
    public var isOver: Bool {
        if case .over = place { return true }
        return answer != nil
    }

    /// Completes the request with this response. Only the first call has an effect.
    ///
    /// - Parameter response: a response whose body is empty or completely in memory.
    public func complete(_ response: Response) {
        core.loop.checkIsolated()
        precondition(response.body.isWhole, "A deferred response must have its whole body in memory")
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

    /// Completes the request with a problem response.
    public func fail(_ problem: Problem) {
        complete(core.router.answer(to: problem, plan: context.plan, requestID: requestID))
    }

    /// Sets the handler that is called once if the client disconnects or the server stops before the response is
    /// completed.
    public func onDisconnect(_ handler: @escaping @Sendable () -> Void) {
        core.loop.checkIsolated()
        if !isOver { disconnectHandler = handler }
    }

    func setPlace(in place: Place) { self.place = place }

    /// Ends the wait without a response, because the client has disconnected.
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
