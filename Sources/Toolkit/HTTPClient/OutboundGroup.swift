internal import Locking
internal import Synchronization

/// A group of requests whose results are passed to a callback. No task waits for each request, which saves work for
/// many short requests.
///
/// Create a group with ``Client/group(linger:receive:)``. Each request is sent like a request of ``Client/send(_:)``.
/// Safe to share between threads: state that is not constant, atomic or locked is used only on the loop thread.
public final class OutboundGroup: @unchecked Sendable {
    /// A request with a number that its sender has chosen. The result has the same number.
    public typealias Request = (number: UInt64, request: OutboundRequest)
    /// The result of a request, with the number of the request.
    public typealias Result = (number: UInt64, result: OutboundResult)

    /// The number of collected results at which the group delivers the results without further delay.
    private static let enough = 64
    /// The maximum number of cached URLs. When the cache contains more URLs, the whole cache is cleared.
    private static let mostReviewed = 4096

    private let options: ClientOptions
    private let mailbox: Mailbox
    private let linger: UInt64
    private let receive: @Sendable ([Result]) -> Void
    private let cancelled = Atomic(false)
    /// A cache of the URLs that the ``AddressGuard`` has permitted, and the guard's `generation` at the time of the
    /// checks. The cache saves work, because a group sends many requests to few URLs.
    private let reviewed = Lock<(generation: UInt64, urls: [String: OutboundURL])>((0, [:]))

    // The number of active requests, and the collected results. Used only on the loop thread.
    private var underWay = 0
    private var held: [Result] = []
    /// The time at which the collected results must be delivered; `nil` when there are no collected results.
    private(set) var due: UInt64?

    init(
        options: ClientOptions, mailbox: Mailbox, linger: Duration, receive: @escaping @Sendable ([Result]) -> Void
    ) {
        self.options = options
        self.mailbox = mailbox
        self.linger = linger.nanoseconds
        self.receive = receive
    }

    /// Records that the loop has received a request of this group.
    func began() { underWay += 1 }

    /// Adds the result of a request to the collected results. Returns true if there were no collected results before.
    func ended(_ number: UInt64, _ result: OutboundResult) -> Bool {
        underWay -= 1
        held.append((number, result))
        guard due == nil else { return false }
        due = MonotonicTime.now.nanoseconds + linger
        return true
    }

    /// Delivers the collected results if they are due, if there are at least `enough` of them, or if no request of the
    /// group is active.
    /// Returns true if no collected results are left.
    func submit(at now: UInt64) -> Bool {
        guard let due, underWay > 0, held.count < Self.enough, due > now else {
            let ended = held
            held = []
            due = nil
            receive(ended)
            return true
        }
        return false
    }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    /// Sends requests and returns immediately. The results are passed to the callback of the group. For a request that
    /// cannot be sent, the callback is called before this function returns.
    public func send(_ requests: [Request]) {
        var commands: [Mailbox.Command] = []
        var sent: [UInt64] = []
        var unsent: [Result] = []
        commands.reserveCapacity(requests.count)
        sent.reserveCapacity(requests.count)
        for (number, request) in requests {
            do {
                let url = try review(request.url)
                commands.append(.start(try Transfer(request, to: url, options, group: self, number: number)))
                sent.append(number)
            } catch {
                unsent.append((number, OutboundResult(failure: error)))
            }
        }
        if !commands.isEmpty, !mailbox.post(commands) {
            for number in sent { unsent.append((number, Client.stopped)) }
        }
        if !unsent.isEmpty { receive(unsent) }
    }

    private func review(_ text: String) throws(OutboundFailure) -> OutboundURL {
        let generation = options.addressGuard.generation
        if let known = reviewed.withLock({ $0.generation == generation ? $0.urls[text] : nil }) { return known }
        let url = try Transfer.review(text, options)
        reviewed.withLock { reviewed in
            let isOther = reviewed.generation != generation
            if isOther || reviewed.urls.count >= Self.mostReviewed {
                reviewed = (generation, [:])
            }
            reviewed.urls[text] = url
        }
        return url
    }

    /// Ends every request of the group with ``OutboundFailure/Reason/cancelled``, including requests that are sent
    /// later. A request that waits for a connection ends when a connection becomes available. May be called from any
    /// task, at any time and repeatedly.
    public func cancel() {
        cancelled.store(true, ordering: .releasing)
        // The mailbox rejects the command only when the client is shutting down, which also ends the transfers.
        _ = mailbox.post([.cancelGroup(self)])
    }
}
