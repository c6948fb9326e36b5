import ChatKit
public import ChatModel
import HTTPClient
public import JSON

/// A post as it would go out now.
public struct PostPreview: Sendable {
    public var method: String
    public var url: String
    /// With the owner's secret values masked.
    public var headers: [HeaderField]
    public var body: [UInt8]

    /// Prints it as the next value of `writer`. The body is always UTF-8.
    public func print(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("method", method)
        writer.member("url", url)
        writer.key("headers")
        writer.beginArray()
        for field in headers {
            writer.beginArray()
            writer.string(field.name)
            writer.string(field.value)
            writer.endArray()
        }
        writer.endArray()
        writer.member("body", String(decoding: body, as: UTF8.self))
        writer.endObject()
    }
}

extension WebhookRegistry {
    /// What a webhook would be sent for an event, whether it is told of it or not.
    /// - Throws: `.notFound`; `.forbidden`; `.invalid` with the slug `not_composed` when the event has no form in the
    ///   webhook's format.
    public func preview(_ id: String, of event: Event, by caller: Caller) async throws(ChatError) -> PostPreview {
        let webhook = try await self.webhook(id, by: caller)
        try demandReach(of: webhook.settings, by: caller)
        var batch = PostBatch(at: service.clock.now, plans)
        batch.add([Deliveries.trial(of: event, for: webhook)], to: webhook)
        guard let request = batch.requests.first else {
            let detail = batch.unsent.first?.result.failure?.detail ?? "nothing to send"
            throw ChatError(.invalid, "the event cannot be sent: \(detail)", slug: "not_composed")
        }
        var headers = request.headers.map { field in
            HeaderField(field.name, DeliveryAttempt.isShown(field.name) ? field.value : DeliveryAttempt.masked)
        }
        if case .oauth2 = webhook.settings.auth { headers.append(HeaderField("authorization", DeliveryAttempt.masked)) }
        return PostPreview(method: request.method, url: request.url, headers: headers, body: request.body)
    }
}
