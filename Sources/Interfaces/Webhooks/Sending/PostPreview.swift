import ChatCore
public import ChatModel
import HTTPClient
public import JSON
import Locking

/// The post that a webhook would send for an event with the webhook's current settings.
public struct PostPreview: Sendable {
    /// The HTTP method.
    public var method: String
    /// The URL of the receiver.
    public var url: String
    /// The header fields. Secret values of the owner are masked. Signatures are masked too, because a valid signature
    /// of an event that never happened could be used to impersonate the app.
    public var headers: [HeaderField]
    /// The body; always UTF-8.
    public var body: [UInt8]

    /// Prints the post as the next value of `writer`.
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

    private static let signatures: Set = [
        "webhook-signature", "x-hub-signature-256", "stripe-signature", "signature",
    ]

    fileprivate static func shown(_ value: String, of name: String) -> String {
        guard DeliveryAttempt.isShown(name) else { return DeliveryAttempt.masked }
        return signatures.contains(name) ? withoutSignatures(value) : value
    }

    /// Masks the signatures in a field's value and keeps the rest. A signature is recognized by its encoding
    /// (hexadecimal or Base64) and by its length: it is longer than the other parts.
    private static func withoutSignatures(_ value: String) -> String {
        var shown = ""
        var rest = value[...]
        while !rest.isEmpty {
            let run = rest.prefix { $0.isLetter || $0.isNumber || $0 == "+" || $0 == "/" }
            rest = rest.dropFirst(run.count)
            if run.count >= 32 {
                shown += DeliveryAttempt.masked
                rest = rest.drop { $0 == "=" }
            } else {
                shown += run
            }
            if let separator = rest.popFirst() { shown.append(separator) }
        }
        return shown
    }
}

extension WebhookRegistry {
    /// Returns the post that a webhook would receive for an event, even if the webhook does not match the event.
    ///
    /// - Throws: `.notFound` when the app has no such webhook; `.forbidden` when the webhook matches events that the
    ///   caller may not read; `.invalid` with the slug `not_composed` when the event cannot be converted to the
    ///   webhook's format.
    public func preview(_ id: String, of event: Event, by caller: Caller) async throws(ChatError) -> PostPreview {
        let webhook = try await self.webhook(id, by: caller)
        try requireReach(of: webhook.settings, by: caller)
        try caller.require(channel: event.channel.name)
        try caller.require(type: event.type)
        let run = try await preview(of: event, for: webhook, at: service.clock.now)
        guard let request = run.requests.first else {
            let detail = run.unsent.first?.result.failure?.detail ?? "there is nothing to send"
            throw ChatError(.invalid, "the event cannot be sent: \(detail)", slug: "not_composed")
        }
        var headers = request.headers.map { HeaderField($0.name, PostPreview.shown($0.value, of: $0.name)) }
        if case .oauth2 = webhook.settings.auth { headers.append(HeaderField("authorization", DeliveryAttempt.masked)) }
        return PostPreview(method: request.method, url: request.url, headers: headers, body: request.body)
    }

    /// Makes the post of a delivery that is not in the queue. Runs off the loop, because a template may take long.
    ///
    /// - Throws: the errors of the store.
    func preview(of event: Event, for webhook: Webhook, at start: Timetoken) async throws(ChatError) -> PostRun {
        let prepared = try await Deliveries.preview(of: event, for: webhook).including(
            webhook.settings.included, from: service)
        return await asLongWork {
            var run = PostRun(at: start)
            run.add(prepared, plans.plan(for: webhook, at: start))
            return run
        }
    }
}
