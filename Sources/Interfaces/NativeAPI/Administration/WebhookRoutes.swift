import ChatKit
import ChatModel
import HTTPServer
import JSON
import Webhooks

extension NativeAPI {
    /// A week: a receiver that needs longer to change over can rotate again.
    private static let overlapSeconds = 0...604_800

    /// `GET /v1/webhooks`
    func getWebhooks(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try Listing(Parameters(request.query, known: Listing.parameterNames), of: request, limits: limits)
        let page = try await webhooks.registry.list(limit: listing.limit, cursor: listing.cursor, by: caller)
        return Listing.response(page, to: request) { $0.print(to: &$1) }
    }

    /// `POST /v1/webhooks`
    func postWebhook(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try caller.demand(.manage)
        let settings = try WebhookSettings(try Fields.parse(request.body.bytes, limits: limits), limits: limits)
        let issued = try await webhooks.registry.create(settings, by: caller)
        return Self.shown(
            issued.webhook, secret: issued.secret, status: 201,
            headers: [("Location", "/v1/webhooks/" + issued.webhook.id)])
    }

    /// `GET /v1/webhooks/{id}`
    func getWebhook(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let webhook = try await webhooks.registry.webhook(request.name("id"), by: caller)
        let tag = EntityTag.quoted(webhook.etag)
        return Self.shown(webhook).unlessKnown(tag, to: request.headers)
    }

    /// `PATCH /v1/webhooks/{id}`
    func patchWebhook(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try caller.demand(.manage)
        let patch = try Fields.parse(request.body.bytes, limits: limits)
        let etag = try await demandedETag(request, caller)
        return Self.shown(
            try await webhooks.registry.patch(request.name("id"), with: patch, ifMatch: etag, by: caller))
    }

    /// `DELETE /v1/webhooks/{id}`
    func deleteWebhook(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let etag = try await demandedETag(request, caller)
        try await webhooks.registry.delete(request.name("id"), ifMatch: etag, by: caller)
        return .empty()
    }

    /// `POST /v1/webhooks/{id}/enable`
    func enableWebhook(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        return Self.shown(try await webhooks.registry.enable(request.name("id"), by: caller))
    }

    /// `POST /v1/webhooks/{id}/disable`
    func disableWebhook(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        return Self.shown(try await webhooks.registry.disable(request.name("id"), by: caller))
    }

    /// `POST /v1/webhooks/{id}/rotate-secret`: an empty body, or `{"overlap_seconds": …}`.
    func rotateSecret(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try optionalFields(request, known: ["overlap_seconds"])
        let seconds = try fields?.integer("overlap_seconds", in: Self.overlapSeconds) ?? 86_400
        let issued = try await webhooks.registry.rotateSecret(
            of: request.name("id"), overlap: .seconds(seconds), by: caller)
        return Self.shown(issued.webhook, secret: issued.secret)
    }

    /// `POST /v1/webhooks/{id}/test`: waits for the receiver's answer.
    func testWebhook(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let attempt = try await webhooks.deliveries.test(webhook: request.name("id"), by: caller)
        return .json(JSONText { attempt.print(to: &$0) }.bytes)
    }

    /// The body of a route that can do without one.
    func optionalFields(_ request: Request, known: [String]) throws -> Fields? {
        request.body.bytes.isEmpty ? nil : try Fields(request.body.bytes, limits: limits, known: known)
    }

    private func demandedETag(_ request: Request, _ caller: Caller) async throws -> String? {
        try await Precondition(request.headers).etag {
            try await webhooks.registry.webhook(request.name("id"), by: caller).etag
        }
    }

    private static func shown(
        _ webhook: Webhook, secret: String? = nil, status: Int = 200, headers: [(name: String, value: String)] = []
    ) -> Response {
        let tag = (name: "ETag", value: EntityTag.quoted(webhook.etag))
        return .json(
            webhook.printed(secret: secret).bytes, status: status,
            headers: [tag] + (secret == nil ? [] : [noStore]) + headers)
    }
}
