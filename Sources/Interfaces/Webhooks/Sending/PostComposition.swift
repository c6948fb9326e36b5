import ChatModel

/// The content of the one post of an attempt: the first of its deliveries, as many as the webhook allows.
///
/// The others are returned to the queue for another attempt: several posts started together could arrive in any order,
/// yet would count as one.
struct PostComposition {
    let plan: PostPlan
    private(set) var composed: [(sent: PreparedDelivery, content: PostContent)] = []
    /// Deliveries that have no form in the webhook's format, with the reason.
    private(set) var failed: [(sent: PreparedDelivery, detail: String)] = []
    private(set) var bytes = 0

    init(_ plan: PostPlan) { self.plan = plan }

    /// Adds the next delivery. False when it does not fit into this post; then no later one may be added.
    mutating func add(_ one: PreparedDelivery) -> Bool {
        let keepsOrder = plan.webhook.settings.ordering != .none
        // Deliveries after one that cannot be sent wait, as they do after one that fails.
        if keepsOrder, !failed.isEmpty { return false }
        do throws(FormatError) {
            let (sent, content) = try plan.compose(one)
            guard composed.isEmpty || hasPlace(for: content) else { return false }
            composed.append((sent, content))
            bytes += content.body.count + 1
        } catch {
            if keepsOrder, !composed.isEmpty { return false }
            failed.append((one, error.text))
        }
        return true
    }

    /// Replaces the composed contents with those stored in the queue, so that every attempt sends the same bytes.
    ///
    /// - Parameter stored: the stored bytes by the leases' fences. A content that was to be stored and is missing is
    ///   removed.
    mutating func replaceContents(with stored: [UInt64: [UInt8]]) {
        composed = composed.compactMap { one in
            guard one.sent.bytesToStore != nil else { return one }
            let lease = one.sent.lease
            guard let bytes = stored[lease.fence], let content = PostContent(stored: bytes) else { return nil }
            return (PreparedDelivery(lease: lease, body: bytes, content: content, trace: one.sent.trace), content)
        }
    }

    private func hasPlace(for content: PostContent) -> Bool {
        guard plan.isArray, let first = composed.first?.content else { return false }
        // A delivery that was sent in another form before keeps it; one with header fields of its own is sent alone.
        return content.contentType == first.contentType && content.headers.isEmpty && first.headers.isEmpty
            && bytes + content.body.count <= plan.webhook.settings.batch?.bytes ?? .max
    }
}

extension PostPlan {
    /// A delivery with its composed content.
    func compose(_ one: PreparedDelivery) throws(FormatError) -> (sent: PreparedDelivery, content: PostContent) {
        var content = try content(of: one)
        if content.trace == nil { content.trace = one.trace }
        return (PreparedDelivery(lease: one.lease, body: one.body, content: content), content)
    }
}
