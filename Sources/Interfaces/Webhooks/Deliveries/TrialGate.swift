import ChatModel
import Locking

/// Lets few posts be made by hand at once: they take the connections of deliveries, and are in no queue that would share them.
final class TrialGate: Sendable {
    /// For one app, each to another webhook.
    static let most = 4

    /// Webhooks that are posted to, by app.
    private let underWay = Lock<[AppID: Set<String>]>([:])

    /// Runs `body` if the app may have one more.
    /// - Throws: `.tooMany`; what `body` throws.
    func pass<Result: Sendable>(
        _ endpoint: EndpointID, _ body: () async throws(ChatError) -> Result
    ) async throws(ChatError) -> Result {
        guard enter(endpoint) else {
            throw ChatError(
                .tooMany, "a test of this webhook or \(Self.most) of this app's are under way; ask again",
                retryAfter: .seconds(1))
        }
        defer { leave(endpoint) }
        return try await body()
    }

    private func enter(_ endpoint: EndpointID) -> Bool {
        underWay.withLock { underWay in
            let others = underWay[endpoint.app] ?? []
            guard others.count < Self.most, !others.contains(endpoint.name) else { return false }
            underWay[endpoint.app, default: []].insert(endpoint.name)
            return true
        }
    }

    private func leave(_ endpoint: EndpointID) {
        underWay.withLock { underWay in
            underWay[endpoint.app]?.remove(endpoint.name)
            if underWay[endpoint.app]?.isEmpty == true { underWay[endpoint.app] = nil }
        }
    }
}
