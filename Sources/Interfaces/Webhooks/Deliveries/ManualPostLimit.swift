import ChatModel
import Locking

/// Limits the posts that are requested by hand. They use the same connections as deliveries, but no queue shares those
/// fairly between them.
final class ManualPostLimit: Sendable {
    /// The maximum number of posts at once for one app, each to another webhook.
    static let most = 4

    /// The webhooks with a post under way, by app.
    private let underWay = Lock<[AppID: Set<String>]>([:])

    /// Runs `body` when the app may have one more post under way.
    ///
    /// - Throws: `.tooMany`; what `body` throws.
    func pass<Result: Sendable>(
        _ subscriber: SubscriberID, _ body: () async throws(ChatError) -> Result
    ) async throws(ChatError) -> Result {
        guard enter(subscriber) else {
            throw ChatError(
                .tooMany, "a test of this webhook or \(Self.most) of this app's are under way; try again",
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
