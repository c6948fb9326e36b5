import ChatModel
import Signing

/// A key deliveries are signed with, and until when.
struct WebhookSecret: Sendable {
    var key: StandardSigningKey
    /// Nil for the current one; a rotated one signs beside it until then, so that receivers can change over.
    var until: Timetoken?

    func isActive(at now: Timetoken) -> Bool { until.map { now < $0 } ?? true }
}
