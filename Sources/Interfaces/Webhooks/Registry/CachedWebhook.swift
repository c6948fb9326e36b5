import ChatModel
import Locking

/// A webhook as the registry last heard of it, with what its posts have in common. A class: each delivery asks for it, and a
/// webhook has many parts.
final class CachedWebhook: Sendable {
    let webhook: Webhook
    /// Made when the first post is, and again when one of its secrets has ended.
    private let plan = Lock<PostPlan?>(nil)

    init(_ webhook: Webhook) { self.webhook = webhook }

    func plan(at now: Timetoken, _ plans: PostPlans) -> PostPlan {
        if let plan = plan.withLock({ $0 }), plan.isCurrent(at: now) { return plan }
        let made = plans.plan(for: webhook, at: now)
        plan.withLock { $0 = made }
        return made
    }
}
