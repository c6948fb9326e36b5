/// How an answer is given later than its handler returns: who is handed the request's ``DeferredResponse``.
///
/// For clients that wait for something to happen, thousands at a time. While one waits it has no task and no connection
/// of libmicrohttpd's, but a socket and some two hundred bytes; after the answer its connection goes on as any other.
public struct DeferredStart: Sendable {
    private let handover: OneShotTransfer<DeferredResponse>

    /// Exactly one of both is called.
    ///
    /// - Parameters:
    ///   - onOpen: runs on the loop, once. An answer given in it is as good as one the handler returned.
    ///   - onDrop: the answer never came to be waited for, because the client went before; from any thread.
    public init(onOpen: @escaping @Sendable (DeferredResponse) -> Void, onDrop: @escaping @Sendable () -> Void = {}) {
        handover = OneShotTransfer(onOpen: onOpen, onDrop: onDrop)
    }

    func open(_ reply: DeferredResponse) { handover.open(reply) }
}

/// A client that waits for its answer.
///
/// Belongs to its server's loop: every member is for code that runs on it. It is kept by the server until it is over.
public final class DeferredResponse: @unchecked Sendable {
    // Safe to share: each entry point checks that it runs on the loop's thread.

    /// Where the client is.
    enum Place {
        /// Its request is being answered just now.
        case opening
        /// On a socket that libmicrohttpd has forgotten.
        case parked(DeferredSocket)
        /// On a connection of libmicrohttpd's that is suspended: where the socket cannot be taken over.
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
    private var goneHandler: (@Sendable () -> Void)?

    init(_ context: Router.Context, remoteAddress: RemoteAddress, peer: RemoteAddress, core: ServerCore) {
        self.context = context
        self.remoteAddress = remoteAddress
        self.peer = peer
        self.core = core
    }

    /// The id of the request.
    public var requestID: String { context.requestID }

    /// Whether an answer would be of no use: one was given, or the client has gone.
    public var isOver: Bool {
        if case .over = place { return true }
        return answer != nil
    }

    /// Gives the answer. Only the first one counts.
    ///
    /// - Parameter response: with its body in memory, or without one.
    public func complete(_ response: Response) {
        core.loop.checkIsolated()
        precondition(response.body.isWhole, "A late answer is held in memory")
        guard !isOver else { return }
        goneHandler = nil
        answer = response
        switch place {
        case .opening, .over: break
        case .parked(let socket): socket.answer()
        case .suspended(let exchange):
            place = .over
            exchange.decide(response)
        }
    }

    /// Gives a problem as the answer.
    public func fail(_ problem: Problem) {
        complete(core.router.answer(to: problem, plan: context.plan, requestID: requestID))
    }

    /// Calls `handler` once when the client has gone, or the server stops, before an answer was given.
    public func onGone(_ handler: @escaping @Sendable () -> Void) {
        core.loop.checkIsolated()
        if !isOver { goneHandler = handler }
    }

    func settle(in place: Place) { self.place = place }

    /// Nobody is there to read an answer.
    func gone() {
        place = .over
        let handler = goneHandler
        goneHandler = nil
        handler?()
    }
}

extension ResponseBody {
    /// Whether all of it is in memory.
    var isWhole: Bool {
        switch self {
        case .empty, .bytes, .fixed: true
        case .pieces, .stream, .late: false
        }
    }
}
