import ChatModel

/// The content of the only post of an attempt. It contains the first deliveries of the attempt, as many as the webhook
/// allows in one post.
///
/// The other deliveries are returned to the queue for another attempt. Several posts of one attempt could arrive in any
/// order, and the circuit breaker would count them as one.
struct PostComposition {
    let plan: PostPlan
    /// The deliveries of the post, each with its content.
    private(set) var composed: [PreparedDelivery] = []
    /// The deliveries that cannot be converted to the webhook's format, each with the reason.
    private(set) var failed: [(delivery: PreparedDelivery, detail: String)] = []
    private(set) var bytes = 0

    init(_ plan: PostPlan) { self.plan = plan }

    /// Adds the next delivery. Returns false when it does not fit into the post. No later delivery may then be added.
    mutating func add(_ one: PreparedDelivery) -> Bool {
        let keepsOrder = plan.webhook.settings.ordering != .none
        // For an ordered webhook, a delivery that cannot be sent makes the deliveries after it wait.
        if keepsOrder, !failed.isEmpty { return false }
        do throws(FormatError) {
            let content = try plan.content(of: one)
            guard composed.isEmpty || hasPlace(for: content) else { return false }
            composed.append(one.with(content))
            bytes += content.body.count + 1
        } catch {
            if keepsOrder, !composed.isEmpty { return false }
            failed.append((one, error.text))
        }
        return true
    }

    /// Replaces the composed contents by the contents that the queue has stored, so that all attempts send the same
    /// bytes.
    ///
    /// - Parameter stored: the stored bytes, by the fence numbers of the leases. If the content of a delivery should
    ///   have been stored and is missing here, the delivery is removed.
    mutating func replaceContents(with stored: [UInt64: [UInt8]]) {
        composed = composed.compactMap { one in
            guard one.bytesToStore != nil else { return one }
            guard let bytes = stored[one.lease.fence], let content = PostContent(stored: bytes) else { return nil }
            return PreparedDelivery(lease: one.lease, body: bytes, content: content)
        }
    }

    private func hasPlace(for content: PostContent) -> Bool {
        guard plan.isArray, let first = composed.first?.content else { return false }
        // Contents share a post only if they have the same content type and no header fields. A content that an earlier
        // attempt sent in another format keeps that format.
        return content.contentType == first.contentType && content.headers.isEmpty && first.headers.isEmpty
            && bytes + content.body.count <= plan.webhook.settings.batch?.bytes ?? .max
    }
}
