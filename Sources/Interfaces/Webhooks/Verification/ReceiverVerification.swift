import ChatCore
public import ChatModel
import HTTPClient
import JSON
import Signing

/// Asks receivers for their consent, so that a webhook cannot be directed at a third party.
public struct ReceiverVerification: Sendable {
    let registry: WebhookRegistry
    let tokens: PostTokens

    /// Asks the receiver for its consent, and enables the webhook if the receiver consents. A disabled webhook stays
    /// disabled, and its receiver is not asked again when the webhook is enabled.
    ///
    /// - Throws: `.notFound` when the app has no such webhook; `.forbidden` when the webhook matches events that the
    ///   caller may not read; `.invalid` with the slug `verification_failed` when the receiver does not consent;
    ///   `.conflict` when no consent is required, or the webhook was changed in the meantime; `.tooMany` while too many
    ///   receivers are being asked.
    public func verify(_ id: String, by caller: Caller) async throws(ChatError) -> Webhook {
        let webhook = try await registry.webhook(id, by: caller)
        try registry.requireReach(of: webhook.settings, by: caller)
        let allowed = try await registry.manualPosts.pass(webhook.subscriber) { () async throws(ChatError) -> Int? in
            switch registry.options.verification(of: webhook.settings) {
            case .none:
                throw ChatError(
                    .conflict, "the verification of this webhook is 'none', so the webhook needs no verification")
            case .echo:
                try await requestEcho(from: webhook)
                return nil
            case .cloudevents: return try await requestConsent(from: webhook)
            }
        }
        return try await registry.change(webhook.subscriber, ifMatch: nil) { (now) throws(ChatError) in
            guard now.settings.url == webhook.settings.url else {
                throw ChatError(.conflict, "the webhook's url changed during the request; try again")
            }
            now.verifiedURL = now.settings.url
            now.allowedPerMinute = allowed
        }
    }

    /// Posts a challenge that is signed like a delivery. The response must be a success, and its body must be the
    /// challenge or an object with the challenge as the member `challenge`.
    private func requestEcho(from webhook: Webhook) async throws(ChatError) {
        let random = registry.options.random
        let challenge = random.token(prefix: "")
        let now = registry.service.clock.now
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("type", "webhook.verification")
            writer.member("timestamp", now.timestamp)
            writer.member("webhook", webhook.id)
            writer.member("challenge", challenge)
            writer.endObject()
        }
        let request: OutboundRequest
        do throws(StandardSigningError) {
            request = try registry.plans.plan(for: webhook, at: now).request(
                PostContent(body: body.bytes), id: random.identifier(prefix: "msg_"), attempt: 1, event: nil, at: now)
        } catch {
            throw Self.refused("the challenge could not be signed")
        }
        let result = await tokens.send(request, to: webhook)
        guard let status = result.status else { throw Self.unanswered(result) }
        guard (200..<300).contains(status) else { throw Self.refused("the receiver responded with status \(status)") }
        let text = String(decoding: result.body, as: UTF8.self).filter { !$0.isWhitespace }
        let member = (try? JSONDocument(result.body))?.root["challenge"]?.string  // no JSON, no member
        guard text == challenge || member == challenge else {
            throw Self.refused("the receiver's response does not contain the challenge")
        }
    }

    /// Performs the handshake of CloudEvents webhooks. Only the header fields of the response count; its status is
    /// ignored.
    ///
    /// - Returns: the posts per minute that the receiver permits; nil for no limit.
    private func requestConsent(from webhook: Webhook) async throws(ChatError) -> Int? {
        let origin = registry.options.origin
        // The request asks for the webhook's rate, which is rounded to at least one post per minute.
        let rate = webhook.settings.ratePerSecond.map { max(1, Int($0 * 60)) }
        var request = OutboundRequest(
            method: "OPTIONS", url: webhook.settings.url,
            totalTimeout: webhook.settings.timeout ?? WebhookSettings.defaultTimeout,
            tls: webhook.settings.tls?.identity)
        request.headers = CloudEventsValidation.request(origin: origin, ratePerMinute: rate).map { ($0.name, $0.value) }
        let result = await tokens.send(request, to: webhook)
        guard result.status != nil else { throw Self.unanswered(result) }
        do throws(CloudEventsValidation.Refusal) {
            switch try CloudEventsValidation.grant(
                origin: origin, asksRate: rate != nil, header: { result.headers[$0] })
            {
            case .unlimited: return nil
            case .perMinute(let number): return number
            }
        } catch {
            throw Self.refused("\(error)")
        }
    }

    private static func refused(_ why: String) -> ChatError {
        ChatError(.invalid, "the webhook's receiver could not be verified: \(why)", slug: "verification_failed")
    }

    /// The error for a missing response. It contains only the class of the failure. Details about internal addresses
    /// are logged and not returned.
    private static func unanswered(_ result: OutboundResult) -> ChatError {
        refused("the receiver did not respond (\(result.failure?.reason.rawValue ?? "reset"))")
    }
}
