import ChatModel
import Locking

/// Limits the posts that users request directly, such as tests. These posts use the same connections as deliveries, but
/// they are not in the queue, which divides the connections fairly.
final class ManualPostLimit: Sendable {
    /// The maximum number of simultaneous posts of one app. Each of these posts must be to a different webhook.
    static let most = 4

    /// The webhooks to which a post is in progress, by app.
    private let underWay = Lock<[AppID: Set<String>]>([:])

    /// Runs `body`, which posts to a webhook.
    ///
    /// - Throws: `.tooMany` when a post to this webhook is in progress, or when ``most`` posts of the app are; the
    ///   errors of `body`.
    func pass<Result: Sendable>(
        _ subscriber: SubscriberID, _ body: () async throws(ChatError) -> Result
    ) async throws(ChatError) -> Result {
        guard enter(subscriber) else {
            throw ChatError(
                .tooMany,
                "a test of this webhook, or \(Self.most) tests of the app, are in progress; try again after they end",
                retryAfter: .seconds(1))
        }
        defer { leave(subscriber) }
        return try await body()
    }

    private func enter(_ subscriber: SubscriberID) -> Bool {
        underWay.withLock { underWay in
            let others = underWay[subscriber.app] ?? []
            guard others.count < Self.most, !others.contains(subscriber.name) else { return false }
            underWay[subscriber.app, default: []].insert(subscriber.name)
            return true
        }
    }

    private func leave(_ subscriber: SubscriberID) {
        underWay.withLock { underWay in
            underWay[subscriber.app]?.remove(subscriber.name)
            if underWay[subscriber.app]?.isEmpty == true { underWay[subscriber.app] = nil }
        }
    }
}
