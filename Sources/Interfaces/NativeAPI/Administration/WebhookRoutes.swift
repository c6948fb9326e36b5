import ChatCore
import ChatModel
import HTTPServer
import JSON
import Webhooks

extension NativeAPI {
    /// The bounds, in seconds, of the time for which the old secret stays valid. The maximum is one week. An
    /// administrator whose receiver needs longer can rotate the secret again.
    private static let overlapSeconds = 0...604_800

    /// `GET /v1/webhooks`: returns a page of the app's webhooks. The page can be filtered by status.
    func getWebhooks(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: Listing.timedNames + ["status"])
        let page = try await webhooks.registry.list(
            Listing(parameters, of: request, limits: limits).list, statuses: parameters.words("status"), by: caller)
        return Listing.response(page, to: request) { $0.print(to: &$1) }
    }

    /// `POST /v1/webhooks`: creates a webhook. Returns the webhook and its secret with status 201.
    func postWebhook(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try caller.require(.manage)
        let settings = try WebhookSettings(try Fields.document(request.body.bytes, limits: limits), limits: limits)
        let issued = try await webhooks.registry.create(settings, by: caller)
        return Self.response(
            issued.webhook, secret: issued.secret, status: 201,
            headers: [("Location", "/v1/webhooks/" + issued.webhook.id)])
    }

    /// `GET /v1/webhooks/{id}`: returns a webhook without its secret, or 304 when the client has the current version.
    func getWebhook(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let webhook = try await webhooks.registry.webhook(request.name("id"), by: caller)
        return Self.response(webhook).unlessKnown(version: webhook.etag, to: request.headers)
    }

    /// `PATCH /v1/webhooks/{id}`: changes a webhook by a merge patch and returns the webhook.
    func patchWebhook(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try caller.require(.manage)
        let patch = try Fields.document(request.body.bytes, limits: limits)
        let etag = try await requiredETag(request, caller)
        return Self.response(
            try await webhooks.registry.patch(request.name("id"), with: patch, ifMatch: etag, by: caller))
    }

    /// `DELETE /v1/webhooks/{id}`: removes a webhook. Returns no content.
    func deleteWebhook(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let etag = try await requiredETag(request, caller)
        try await webhooks.registry.delete(request.name("id"), ifMatch: etag, by: caller)
        return .empty()
    }

    /// `POST /v1/webhooks/{id}/enable`: enables a webhook. The body is empty or states the treatment of waiting
    /// deliveries: `{"held": "dead"}`.
    func enableWebhook(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try optionalFields(request, known: ["held"])
        let held: WebhookRegistry.HeldDeliveryPolicy
        held = try fields?.choice("held", [("deliver", .deliver), ("dead", .discard)]) ?? .deliver
        let etag = try await requiredETag(request, caller)
        return Self.response(
            try await webhooks.registry.enable(request.name("id"), held: held, ifMatch: etag, by: caller))
    }

    /// `POST /v1/webhooks/{id}/disable`: disables a webhook and returns the webhook.
    func disableWebhook(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let etag = try await requiredETag(request, caller)
        return Self.response(try await webhooks.registry.disable(request.name("id"), ifMatch: etag, by: caller))
    }

    /// `POST /v1/webhooks/{id}/rotate-secret`: replaces a webhook's secret. The body is empty or `{"overlap_seconds":
    /// …, "secret": "whsec_…"}`.
    func rotateSecret(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try optionalFields(request, known: ["overlap_seconds", "secret"])
        let seconds = try fields?.integer("overlap_seconds", in: Self.overlapSeconds) ?? 86_400
        let issued = try await webhooks.registry.rotateSecret(
            of: request.name("id"), to: try fields?.string("secret"), overlap: .seconds(seconds),
            ifMatch: try await requiredETag(request, caller), by: caller)
        return Self.response(issued.webhook, secret: issued.secret)
    }

    /// `POST /v1/signing-key/rotate`: replaces the app's signing key. The body is empty or `{"overlap_seconds": …}`.
    func rotateSigningKey(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try optionalFields(request, known: ["overlap_seconds"])
        let seconds = try fields?.integer("overlap_seconds", in: Self.overlapSeconds) ?? 86_400
        let key = try await webhooks.registry.rotateSigningKey(overlap: .seconds(seconds), by: caller)
        return .json(JSONText { key.print(to: &$0) }.bytes)
    }

    /// `POST /v1/webhooks/{id}/test`: sends a test post to the receiver, and returns the receiver's response.
    func testWebhook(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let attempt = try await webhooks.deliveries.test(webhook: request.name("id"), by: caller)
        return .json(JSONText { attempt.print(to: &$0) }.bytes)
    }

    /// `POST /v1/webhooks/{id}/verify`: asks the receiver for its consent and waits for the response.
    func verifyWebhook(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        return Self.response(try await webhooks.verification.verify(request.name("id"), by: caller))
    }

    /// `POST /v1/webhooks/{id}/preview`: shows the post that the webhook would send. The body names an event of the
    /// log, `{"event": "evt_…"}`, or describes an event with the members of an emit.
    func previewWebhook(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try caller.require(.manage)
        let fields = try Fields(
            request.body.bytes, limits: limits, known: ["event", "type", "channel", "data", "user", "meta"])
        let event =
            if let id = try fields.string("event") {
                try await event(named: id, caller)
            } else {
                try sample(fields, caller)
            }
        let preview = try await webhooks.registry.preview(request.name("id"), of: event, by: caller)
        return .json(JSONText { preview.print(to: &$0) }.bytes)
    }

    private func sample(_ fields: Fields, _ caller: Caller) throws(ChatError) -> Event {
        let type = try fields.required("type", try fields.string("type"))
        let channel = try fields.string("channel") ?? "preview"
        try Names.check(type: type)
        try Names.check(channel: channel)
        return Event(
            timetoken: service.clock.now,
            draft: EventDraft(
                channel: ChannelID(channel, in: caller.app), type: type,
                data: try fields.required("data", fields.raw("data")), user: try fields.string("user"),
                meta: fields.member("meta")?.text))
    }

    /// `GET /.well-known/jwks.json`: returns the public keys of all apps whose webhooks sign with Ed25519. With
    /// `?app=`, returns only the public keys of one app.
    func getKeySet(_ request: Request) async throws -> Response {
        let parameters = try Parameters(request.query, known: ["app"])
        let app = try parameters.text("app").map { AppID($0) }
        let keys = try await webhooks.registry.publishedKeys(of: app)
        let body = JSONText { writer in
            writer.beginObject()
            writer.key("keys")
            writer.beginArray()
            for key in keys { writer.raw(JSONText(trusted: Array(key.utf8))) }
            writer.endArray()
            writer.endObject()
        }
        return .json(body.bytes, headers: [("Cache-Control", "public, max-age=300")])
    }

    /// Parses the body of a route that writes members. An empty body is rejected, because a client that sends no body
    /// by mistake would reset all members. To reset all members, the client sends `{}`.
    ///
    /// - Throws: the errors of ``Fields``.
    func requiredFields(_ request: Request, known: [String]) throws -> Fields {
        try Fields(request.body.bytes, limits: limits, known: known)
    }

    /// Parses the body of a route whose body is optional; nil when the body is empty.
    func optionalFields(_ request: Request, known: [String]) throws -> Fields? {
        request.body.bytes.isEmpty ? nil : try Fields(request.body.bytes, limits: limits, known: known)
    }

    private func requiredETag(_ request: Request, _ caller: Caller) async throws -> String? {
        try await Precondition(request.headers).etag {
            try await webhooks.registry.webhook(request.name("id"), by: caller).etag
        }
    }

    private static func response(
        _ webhook: Webhook, secret: String? = nil, status: Int = 200, headers: [(name: String, value: String)] = []
    ) -> Response {
        let tag = (name: "ETag", value: EntityTag.quoted(webhook.etag))
        return .json(
            webhook.printed(secret: secret).bytes, status: status,
            headers: [tag] + (secret == nil ? [] : [noStore]) + headers)
    }
}
