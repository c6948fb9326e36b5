import ChatCore
import ChatModel

/// A delivery of an attempt. A class, because it has many fields and is passed between functions often.
final class PreparedDelivery: Sendable {
    let lease: Lease
    /// The bytes from which the content is composed: the event's envelope, or the content that an earlier attempt has
    /// stored.
    let body: [UInt8]
    /// The composed content; nil when it could not be composed.
    let content: PostContent?
    /// The event's trace context; nil when it is unknown, or already part of the body or of the content.
    let trace: String?

    init(lease: Lease, body: [UInt8], content: PostContent? = nil, trace: String? = nil) {
        self.trace = trace
        self.lease = lease
        self.body = body
        self.content = content
    }

    /// Returns the same delivery with its composed content.
    func with(_ content: PostContent) -> PreparedDelivery {
        PreparedDelivery(lease: lease, body: body, content: content)
    }

    /// The bytes to store, so that a retry sends the same bytes even if the event is deleted or the webhook is changed.
    /// Nil when they are already stored.
    var bytesToStore: [UInt8]? { PostContent.isEnvelope(body) ? content?.stored : nil }

    /// The event's trace context; nil when the event is not traced.
    var context: TraceContext? { content?.trace.flatMap { TraceContext(stored: $0) } }
}

extension PreparedDelivery {
    /// Adds the included objects to the delivery's envelope. The objects have their current state. A delivery whose
    /// content was stored by an earlier attempt is returned unchanged.
    ///
    /// - Throws: the errors of the store.
    func including(
        _ objects: Set<IncludedObject>, from service: ChatService
    ) async throws(ChatError) -> PreparedDelivery {
        guard let inclusion = IncludePolicy.ofApp(objects), PostContent.isEnvelope(body) else { return self }
        let delivery = lease.delivery
        let envelope = try await service.including(
            inclusion, in: [(event: delivery.event, envelope: body)], of: delivery.subscriber.app)[0]
        return PreparedDelivery(lease: lease, body: envelope, trace: trace)
    }
}
