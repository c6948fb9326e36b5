import ChatModel

/// What goes into the one post of an attempt: the first of its deliveries, as many as the webhook allows.
///
/// The others are given back and are another attempt: posts that start together would arrive in any order, and count as one.
struct PostComposition {
    let plan: PostPlan
    private(set) var composed: [(sent: PreparedDelivery, content: PostContent)] = []
    /// Those that have no form in the webhook's format, with the reason.
    private(set) var failed: [(sent: PreparedDelivery, detail: String)] = []
    private(set) var bytes = 0
    /// What it holds of the ``BatchByteLimit``.
    var reserved = 0

    init(_ plan: PostPlan) { self.plan = plan }

    /// Takes the next one in. False when it has no place in this post: then nothing behind it has.
    mutating func add(_ one: PreparedDelivery) -> Bool {
        let keepsOrder = plan.webhook.settings.ordering != .none
        // What comes after one that cannot be sent waits, as it does behind one that fails.
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

    /// Puts what the queue has stored in the place of what was composed, so that every attempt sends the same bytes.
    ///
    /// - Parameter stored: by the leases' fences. What was to be stored and is not is taken out.
    mutating func settle(_ stored: [UInt64: [UInt8]]) {
        composed = composed.compactMap { one in
            guard one.sent.kept != nil else { return one }
            let lease = one.sent.lease
            guard let bytes = stored[lease.fence], let content = PostContent(stored: bytes) else { return nil }
            return (PreparedDelivery(lease: lease, body: bytes, content: content, trace: one.sent.trace), content)
        }
    }

    private func hasPlace(for content: PostContent) -> Bool {
        guard plan.isArray, let first = composed.first?.content else { return false }
        // What was sent in another form before stays in it; one that has fields of its own stays alone.
        return content.contentType == first.contentType && content.headers.isEmpty && first.headers.isEmpty
            && bytes + content.body.count <= plan.webhook.settings.batch?.bytes ?? .max
    }
}

extension PostPlan {
    /// A delivery with what it has become.
    func compose(_ one: PreparedDelivery) throws(FormatError) -> (sent: PreparedDelivery, content: PostContent) {
        var content = try content(of: one)
        if content.trace == nil { content.trace = one.trace }
        return (PreparedDelivery(lease: one.lease, body: one.body, content: content), content)
    }
}
