import ChatModel
import Locking

/// The states of webhooks on other nodes, for a second after they were read. A read costs commits, and dashboards show
/// the same webhooks again and again. Callers that read the same webhooks at the same time share the read.
final class OtherStates: Sendable {
    /// The time for which a read is used.
    private static let age: Duration = .seconds(1)
    /// The maximum number of reads in memory. Further reads are not shared.
    private static let most = 256

    private struct Read {
        let states: Task<[[WebhookState]], Never>
        let begun: ContinuousClock.Instant
    }

    private let reads = Lock<[[SubscriberID]: Read]>([:])

    /// Returns the states of webhooks, one list for each node.
    ///
    /// - Parameter read: reads them from the other nodes.
    func states(
        of subscribers: [SubscriberID], _ read: @escaping @Sendable () async -> [[WebhookState]]
    ) async -> [[WebhookState]] {
        let now = ContinuousClock.now
        let states = reads.withLock { reads in
            reads = reads.filter { now - $0.value.begun < Self.age }
            if let known = reads[subscribers] { return known.states }
            let states = Task { await read() }
            if reads.count < Self.most { reads[subscribers] = Read(states: states, begun: now) }
            return states
        }
        return await states.value
    }

    /// Lets the next call read the states again, because they have changed.
    func forget() { reads.withLock { $0 = [:] } }
}
