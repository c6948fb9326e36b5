internal import Locking
internal import Synchronization

/// Requests of one sender, answered by a call instead of a task that waits for each: for many short ones.
///
/// Each is sent as by ``Client/send(_:)``. Made by ``Client/group(linger:handedOver:)``. Safe to share: what is not constant or atomic is
/// touched by the loop thread alone.
public final class OutboundGroup: @unchecked Sendable {
    /// Results that do not linger for more.
    private static let enough = 64
    /// Reviewed URLs remembered; beyond it all are forgotten.
    private static let mostReviewed = 4096

    private let options: ClientOptions
    private let mailbox: Mailbox
    private let linger: UInt64
    private let handedOver: @Sendable () -> Void
    private let cancelled = Atomic(false)
    /// URLs that were reviewed by one list of the guard: a group sends much to few.
    private let reviewed = Lock<(generation: UInt64, urls: [String: OutboundURL])>((0, [:]))

    // The loop thread's.
    private var underWay = 0
    private var held: [(receive: @Sendable (OutboundResult) -> Void, result: OutboundResult)] = []
    /// When what is held must be handed over; `nil` when nothing is.
    private(set) var due: UInt64?

    init(options: ClientOptions, mailbox: Mailbox, linger: Duration, handedOver: @escaping @Sendable () -> Void) {
        self.options = options
        self.mailbox = mailbox
        self.linger = linger.nanoseconds
        self.handedOver = handedOver
    }

    /// One more has come to the loop.
    func began() { underWay += 1 }

    /// One has ended. True if it is the first to be held.
    func ended(_ receive: @escaping @Sendable (OutboundResult) -> Void, _ result: OutboundResult) -> Bool {
        underWay -= 1
        held.append((receive, result))
        guard due == nil else { return false }
        due = uptimeNanoseconds() + linger
        return true
    }

    /// Hands over what is held, if nothing is worth waiting for. True if nothing is held any more.
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
    /// - Parameter receive: called once for each request with its index, in the order they end: here for those that cannot
    ///   be sent, otherwise on the loop thread, which it must not block: every transfer stands still meanwhile.
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

    /// Ends every request of the group as ``OutboundFailure/Reason/cancelled``, those sent later too; one that waits for a
    /// connection when it would get one. Called by any task, at any time, any number of times.
    public func cancel() {
        cancelled.store(true, ordering: .releasing)
        // Refused only when the client is shutting down, which ends the transfers as well.
        _ = mailbox.post([.cancelGroup(self)])
    }
}
