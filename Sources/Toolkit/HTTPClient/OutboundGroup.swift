internal import Locking
internal import Synchronization

/// Requests of one sender whose results are passed to a callback, instead of a task that waits for each. For many
/// short requests.
///
/// Each is sent as by ``Client/send(_:)``. Created by ``Client/group(linger:receive:)``. Safe to share: everything
/// that is not constant or atomic is used only on the loop thread.
public final class OutboundGroup: @unchecked Sendable {
    /// A request with the number by which its sender knows it.
    public typealias Request = (number: UInt64, request: OutboundRequest)
    /// The result of a request, with the same number.
    public typealias Result = (number: UInt64, result: OutboundResult)

    /// The number of held results at which they are delivered without waiting for more.
    private static let enough = 64
    /// The maximum number of reviewed URLs that are cached; beyond it all of them are forgotten.
    private static let mostReviewed = 4096

    private let options: ClientOptions
    private let mailbox: Mailbox
    private let linger: UInt64
    private let receive: @Sendable ([Result]) -> Void
    private let cancelled = Atomic(false)
    /// The URLs that were reviewed under one generation of the guard's list: a group sends many requests to few URLs.
    private let reviewed = Lock<(generation: UInt64, urls: [String: OutboundURL])>((0, [:]))

    // Used only on the loop thread.
    private var underWay = 0
    private var held: [Result] = []
    /// The time when the held results must be delivered; `nil` when none are held.
    private(set) var due: UInt64?

    init(
        options: ClientOptions, mailbox: Mailbox, linger: Duration, receive: @escaping @Sendable ([Result]) -> Void
    ) {
        self.options = options
        self.mailbox = mailbox
        self.linger = linger.nanoseconds
        self.receive = receive
    }

    /// Records that a request has reached the loop.
    func began() { underWay += 1 }

    /// Holds the result of a request. Returns true if it is the first one held.
    func ended(_ number: UInt64, _ result: OutboundResult) -> Bool {
        underWay -= 1
        held.append((number, result))
        guard due == nil else { return false }
        due = MonotonicTime.now.nanoseconds + linger
        return true
    }

    /// Delivers the held results unless waiting for more is worthwhile. Returns true if no results are held
    /// afterwards.
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

    /// Sends requests together and returns at once. Their results are passed to the group's callback, for requests that
    /// cannot be sent before this function returns.
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

    /// Ends every request of the group as ``OutboundFailure/Reason/cancelled``, including those sent later. A request
    /// that waits for a connection ends when it would get one. May be called by any task, at any time, any number of
    /// times.
    public func cancel() {
        cancelled.store(true, ordering: .releasing)
        // The mailbox rejects it only when the client is shutting down, which ends the transfers as well.
        _ = mailbox.post([.cancelGroup(self)])
    }
}
