internal import Locking
internal import Synchronization

/// Requests of one sender whose results are passed to a callback, instead of a task that waits for each. For many
/// short requests.
///
/// Each is sent as by ``Client/send(_:)``. Created by ``Client/group(linger:handedOver:)``. Safe to share: everything
/// that is not constant or atomic is used only on the loop thread.
public final class OutboundGroup: @unchecked Sendable {
    /// The number of held results at which they are delivered without waiting for more.
    private static let enough = 64
    /// The most reviewed URLs that are cached; beyond it all of them are forgotten.
    private static let mostReviewed = 4096

    private let options: ClientOptions
    private let mailbox: Mailbox
    private let linger: UInt64
    private let handedOver: @Sendable () -> Void
    private let cancelled = Atomic(false)
    /// The URLs that were reviewed under one generation of the guard's list: a group sends many requests to few URLs.
    private let reviewed = Lock<(generation: UInt64, urls: [String: OutboundURL])>((0, [:]))

    // Used only on the loop thread.
    private var underWay = 0
    private var held: [(receive: @Sendable (OutboundResult) -> Void, result: OutboundResult)] = []
    /// The time when the held results must be delivered; `nil` when none are held.
    private(set) var due: UInt64?

    init(options: ClientOptions, mailbox: Mailbox, linger: Duration, handedOver: @escaping @Sendable () -> Void) {
        self.options = options
        self.mailbox = mailbox
        self.linger = linger.nanoseconds
        self.handedOver = handedOver
    }

    /// Records that a request has reached the loop.
    func began() { underWay += 1 }

    /// Holds the result of a request. Returns true if it is the first one held.
    func ended(_ receive: @escaping @Sendable (OutboundResult) -> Void, _ result: OutboundResult) -> Bool {
        underWay -= 1
        held.append((receive, result))
        guard due == nil else { return false }
        due = uptimeNanoseconds() + linger
        return true
    }

    /// Delivers the held results unless waiting for more is worthwhile. Returns true if no results are held
    /// afterwards.
    func handOver(at now: UInt64) -> Bool {
        guard let due, underWay > 0, held.count < Self.enough, due > now else {
            let ended = held
            held = []
            due = nil
            for (receive, result) in ended { receive(result) }
            handedOver()
            return true
        }
        return false
    }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    /// Sends requests together and returns at once.
    ///
    /// - Parameter receive: called once for each request with its index, in the order in which they end. For requests
    ///   that cannot be sent it is called before this function returns; otherwise on the loop thread, which it must
    ///   not block: every transfer stands still meanwhile.
    public func send(_ requests: [OutboundRequest], receive: @escaping @Sendable (Int, OutboundResult) -> Void) {
        var commands: [Mailbox.Command] = []
        var sent: [Int] = []
        commands.reserveCapacity(requests.count)
        sent.reserveCapacity(requests.count)
        for (index, request) in requests.enumerated() {
            do {
                let url = try review(request.url)
                let transfer = try Transfer(request, to: url, options, group: self) { receive(index, $0) }
                commands.append(.start(transfer))
                sent.append(index)
            } catch {
                receive(index, OutboundResult(failure: error))
            }
        }
        if !commands.isEmpty, !mailbox.post(commands) {
            for index in sent { receive(index, Client.stopped) }
            sent = []
        }
        if sent.count < requests.count { handedOver() }
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

    /// Ends every request of the group as ``OutboundFailure/Reason/cancelled``, including those sent later. A request
    /// that waits for a connection ends when it would get one. May be called by any task, at any time, any number of
    /// times.
    public func cancel() {
        cancelled.store(true, ordering: .releasing)
        // The mailbox rejects it only when the client is shutting down, which ends the transfers as well.
        _ = mailbox.post([.cancelGroup(self)])
    }
}
