public import ChatCore
import ChatModel
public import LongPolling
public import HTTPServer
public import InboundHooks
public import Webhooks

/// Parley's own API: JSON over HTTP under `/v1`, described by `openapi.yaml`.
///
/// This file contains the table of its routes; each resource has a file of its own.
public struct NativeAPI: Sendable {
    /// The services and the state of the API. They are in one object, so that a closure of a handler captures one
    /// reference.
    private final class Parts: Sendable {
        let service: ChatService
        let webhooks: WebhookService
        let inbound: InboundService
        let publicURL: String
        let claims: Claims
        let tokens: UserTokens
        let readiness: Readiness
        let metrics = Metrics()
        let storeStatistics: StoreStatistics
        let streams: LiveStreams

        init(
            _ service: ChatService, _ webhooks: WebhookService, _ inbound: InboundService, publicURL: String,
            _ streams: LiveStreams, _ clock: any Clock<Duration>
        ) {
            self.service = service
            self.webhooks = webhooks
            self.inbound = inbound
            self.publicURL = publicURL
            self.streams = streams
            tokens = UserTokens(service: service, publicURL: publicURL)
            claims = Claims(limits: service.limits, clock: service.clock)
            storeStatistics = StoreStatistics(service: service)
            readiness = Readiness(service: service, deadline: .seconds(3), clock: clock)
        }
    }

    private let parts: Parts
    var service: ChatService { parts.service }
    var webhooks: WebhookService { parts.webhooks }
    var inbound: InboundService { parts.inbound }
    /// The gateway's public address, without a trailing slash; empty when none is configured.
    var publicURL: String { parts.publicURL }
    var claims: Claims { parts.claims }
    var tokens: UserTokens { parts.tokens }
    var readiness: Readiness { parts.readiness }
    var metrics: Metrics { parts.metrics }
    var storeStatistics: StoreStatistics { parts.storeStatistics }
    var streams: LiveStreams { parts.streams }

    var limits: Limits { service.limits }

    /// Creates the API.
    ///
    /// - Parameters:
    ///   - service: must be running (`ChatService.run`) before the first request.
    ///   - publicURL: the public address, without a trailing slash. The `type` of every problem begins with this
    ///     address. Inbound posts whose signature covers a URL are verified against this address.
    ///   - polls: must use the loop that also runs the server's streams and the hub of `service`.
    public init(
        service: ChatService, webhooks: WebhookService, inbound: InboundService, polls: LongPollTable,
        publicURL: String = ""
    ) {
        self.init(
            service: service, webhooks: webhooks, inbound: inbound, publicURL: publicURL,
            streams: LiveStreams(polls: polls))
    }

    /// Creates the API with the given live streams.
    ///
    /// - Parameter clock: measures the deadline of `/readyz`.
    init(
        service: ChatService, webhooks: WebhookService, inbound: InboundService, publicURL: String = "",
        streams: LiveStreams, clock: any Clock<Duration> = ContinuousClock()
    ) {
        parts = Parts(service, webhooks, inbound, publicURL: publicURL, streams, clock)
    }

    /// Adds every route, and counts the router's responses. A test compares the routes with `openapi.yaml` in both
    /// directions.
    public func addRoutes(to router: inout Router) {
        router.observer = metrics.requests.record
        addSignInRoutes(to: &router)
        addEmitRoutes(to: &router)
        addReadRoutes(to: &router)
        addMessageRoutes(to: &router)
        addReactionRoutes(to: &router)
        addChannelValueRoutes(to: &router)
        addStreamRoutes(to: &router)
        addSessionRoutes(to: &router)
        addAdministrationRoutes(to: &router)
        addWebhookRoutes(to: &router)
        addSubscriptionRoutes(to: &router)
        addSourceRoutes(to: &router)
        addEventTypeRoutes(to: &router)
        addPresenceRoutes(to: &router)
        addParticipantRoutes(to: &router)
        addTypingRoutes(to: &router)
        addUserRoutes(to: &router)
        addChannelRoutes(to: &router)
        addMemberRoutes(to: &router)
        addInviteRoutes(to: &router)
        addGroupRoutes(to: &router)
        addModerationRoutes(to: &router)
        addReceiptRoutes(to: &router)
        addOperationRoutes(to: &router)
    }

    private var smallBody: BodyPolicy { .collected(limit: limits.emitBodyBytes) }

    private func addEmitRoutes(to router: inout Router) {
        let batchBody = BodyPolicy.collected(limit: limits.batchBodyBytes)
        router.add(
            .post, EmitRoute.messages.pattern, body: smallBody,
            handler: asCaller(starting: postMessage, repeating: .byRoute))
        router.add(
            .post, EmitRoute.events.pattern, body: smallBody,
            handler: asCaller(starting: postEvent, repeating: .byRoute))
        router.add(
            .post, EmitRoute.signals.pattern, body: smallBody,
            handler: asCaller(starting: postSignal, repeating: .byRoute))
        router.add(
            .post, EmitRoute.fire.pattern, body: smallBody, handler: asCaller(starting: postFire, repeating: .byRoute))
        router.add(
            .post, EmitRoute.anyChannel.pattern, body: batchBody,
            handler: asCaller(starting: postAnyChannel, repeating: .byRoute)
        )
        router.add(.post, EmitRoute.batch.pattern, body: batchBody, handler: asCaller(postBatch, repeating: .byRoute))
        router.add(
            .post, "/v1/import", body: batchBody,
            handler: asAdministrator("history.import", postImport, repeating: .recordedFirst))
        router.add(
            .post, "/v1/events/validate", body: smallBody, handler: asCaller(postValidation, repeating: .storesNothing))
    }

    private func addReadRoutes(to router: inout Router) {
        router.add(.get, "/v1/channels/{channel}/events", handler: asCaller(getHistory))
        router.add(
            .delete, "/v1/channels/{channel}/events",
            handler: asAdministrator("events.delete", Self.unconditional(deleteHistory)))
        router.add(.get, "/v1/channels/{channel}/events/count", handler: asCaller(getCount))
        router.add(.post, "/v1/history", body: smallBody, handler: asCaller(postHistory, repeating: .storesNothing))
        router.add(.get, "/v1/events", handler: asCaller(getEvents))
        router.add(.get, "/v1/events/{id}", handler: asCaller(getEvent))
        router.add(.get, "/v1/events/{id}/explain", handler: asCaller(getExplanation))
    }

    private func addAdministrationRoutes(to router: inout Router) {
        router.add(.get, "/v1/keys", handler: asCaller(current(getKeys)))
        router.add(
            .post, "/v1/keys", body: smallBody, handler: asAdministrator("key.create", postKey, repeating: .refused))
        router.add(.get, "/v1/keys/{id}", handler: asCaller(current(getKey)))
        router.add(
            .patch, "/v1/keys/{id}", body: smallBody,
            handler: asAdministrator(
                "key.update",
                returning(Self.keyChanges, remedies: Self.keyRemedies, from: getKey, to: patchKey)))
        router.add(.delete, "/v1/keys/{id}", handler: asAdministrator("key.delete", deleteKey))
        router.add(
            .post, "/v1/tokens", body: smallBody,
            handler: asAdministrator("token.create", postToken, repeating: .refused))
        router.add(.get, "/v1/apps", handler: asCaller(current(getApps)))
        router.add(
            .post, "/v1/apps", body: smallBody, handler: asAdministrator("app.create", postApp, repeating: .refused))
        router.add(.get, "/v1/apps/{id}", handler: asCaller(current(getApp)))
        router.add(
            .patch, "/v1/apps/{id}", body: smallBody,
            handler: asAdministrator(
                "app.update",
                returning(Self.appMembers, remedies: Self.appRemedies, from: getApp, to: patchApp)))
        router.add(
            .post, "/v1/apps/{id}/rotate-secret", body: smallBody,
            handler: asAdministrator("app.rotate_secret", rotateAppSecret, repeating: .refused))
        router.add(.delete, "/v1/apps/{id}", handler: asAdministrator("app.delete", deleteApp))
        router.add(.get, "/v1/audit", handler: asCaller(getAudit))
    }

    private func addWebhookRoutes(to router: inout Router) {
        router.add(.get, "/v1/webhooks", handler: asCaller(getWebhooks))
        router.add(
            .post, "/v1/webhooks", body: smallBody,
            handler: asAdministrator("webhook.create", postWebhook, repeating: .refused))
        router.add(.get, "/v1/webhooks/{id}", handler: asCaller(getWebhook))
        router.add(
            .patch, "/v1/webhooks/{id}", body: smallBody,
            handler: asAdministrator(
                "webhook.update",
                returning(
                    WebhookSettings.members, remedies: Self.webhookRemedies, from: getWebhook, to: patchWebhook)))
        router.add(.delete, "/v1/webhooks/{id}", handler: asAdministrator("webhook.delete", deleteWebhook))
        router.add(
            .post, "/v1/webhooks/{id}/enable", body: smallBody,
            handler: asAdministrator("webhook.enable", enableWebhook, isConditional: true))
        router.add(
            .post, "/v1/webhooks/{id}/disable",
            handler: asAdministrator("webhook.disable", disableWebhook, isConditional: true))
        router.add(
            .post, "/v1/signing-key/rotate", body: smallBody,
            handler: asAdministrator("signing_key.rotate", rotateSigningKey, repeating: .recordedFirst))
        router.add(
            .post, "/v1/webhooks/{id}/rotate-secret", body: smallBody,
            handler: asAdministrator(
                "webhook.rotate_secret", rotateSecret, repeating: .refused, isConditional: true))
        router.add(
            .post, "/v1/webhooks/{id}/test", handler: asCaller(testWebhook, repeating: .recordedFirst))
        router.add(
            .post, "/v1/webhooks/{id}/preview", body: smallBody,
            handler: asCaller(previewWebhook, repeating: .storesNothing))
        router.add(
            .post, "/v1/webhooks/{id}/verify",
            handler: asAdministrator("webhook.verify", verifyWebhook))
        router.add(.get, "/.well-known/jwks.json", handler: asPublic(getKeySet))
        router.add(
            .post, "/v1/webhooks/{id}/replay", body: smallBody,
            handler: asAdministrator("webhook.replay", replayWebhook))
        router.add(.get, "/v1/webhooks/{id}/stats", handler: asCaller(getWebhookStats))
        router.add(.get, "/v1/deliveries", handler: asCaller(getDeliveries))
        router.add(.get, "/v1/deliveries/{id}", handler: asCaller(getDelivery))
        router.add(
            .post, "/v1/deliveries/{id}/retry",
            handler: asAdministrator("delivery.retry", retryDelivery, repeating: .recordedFirst))
        router.add(
            .post, "/v1/deliveries/redrive", body: smallBody,
            handler: asAdministrator("delivery.redrive", redriveDeliveries))
        router.add(
            .post, "/v1/deliveries/purge", body: smallBody, handler: asAdministrator("delivery.purge", purgeDeliveries))
        router.add(.get, "/v1/jobs", handler: asCaller(getJobs))
        router.add(.get, "/v1/jobs/{id}", handler: asCaller(getJob))
        router.add(.post, "/v1/jobs/{id}/pause", handler: asAdministrator("job.pause", pauseJob))
        router.add(.post, "/v1/jobs/{id}/resume", handler: asAdministrator("job.resume", resumeJob))
        router.add(.post, "/v1/jobs/{id}/cancel", handler: asAdministrator("job.cancel", cancelJob))
    }

    private func addSubscriptionRoutes(to router: inout Router) {
        router.add(.get, "/v1/subscriptions", handler: asCaller(getSubscriptions))
        router.add(
            .post, "/v1/subscriptions", body: smallBody,
            handler: asAdministrator("subscription.create", postSubscription))
        router.add(.get, "/v1/subscriptions/{id}", handler: asCaller(getSubscription))
        router.add(
            .patch, "/v1/subscriptions/{id}", body: smallBody,
            handler: asAdministrator(
                "subscription.update",
                returning(SubscriptionSettings.members, from: getSubscription, to: patchSubscription)))
        router.add(
            .delete, "/v1/subscriptions/{id}", handler: asAdministrator("subscription.delete", deleteSubscription))
        router.add(
            .post, "/v1/subscriptions/{id}/pull", body: smallBody,
            handler: asCaller(pullSubscription, repeating: .storesNothing))
        router.add(
            .post, "/v1/subscriptions/{id}/ack", body: smallBody,
            handler: asCaller(acknowledge, repeating: .recordedFirst)
        )
        router.add(
            .post, "/v1/subscriptions/{id}/nack", body: smallBody,
            handler: asCaller(refuseDeliveries, repeating: .recordedFirst))
        router.add(
            .post, "/v1/subscriptions/{id}/extend", body: smallBody,
            handler: asCaller(extendDeliveries, repeating: .recordedFirst))
        router.add(
            .post, "/v1/subscriptions/{id}/seek", body: smallBody,
            handler: asAdministrator("subscription.seek", seekSubscription, repeating: .recordedFirst))
    }

    private func addSourceRoutes(to router: inout Router) {
        let inboundBody = BodyPolicy.collected(limit: inbound.receiver.bodyLimitBytes)
        router.add(.get, "/v1/sources", handler: asCaller(getSources))
        router.add(.get, "/v1/sources/{id}", handler: asCaller(getSource))
        let members = SourceSettings.members
        router.add(
            .put, "/v1/sources/{id}", body: smallBody,
            handler: asAdministrator("source.put", returning(members, from: getSource, to: putSource)))
        router.add(
            .patch, "/v1/sources/{id}", body: smallBody,
            handler: asAdministrator("source.update", returning(members, from: getSource, to: patchSource)))
        router.add(.delete, "/v1/sources/{id}", handler: asAdministrator("source.delete", deleteSource))
        router.add(
            .post, "/v1/sources/{id}/test", body: inboundBody, handler: asCaller(testSource, repeating: .storesNothing))
        router.add(.get, "/v1/sources/{id}/mappings", handler: asCaller(getSourceMappings))
        router.add(.get, "/v1/sources/{id}/requests", handler: asCaller(getSourceRequests))
        router.add(.get, "/v1/sources/{id}/requests/{request}", handler: asCaller(getSourceRequest))
        router.add(
            .post, "/v1/sources/{id}/requests/{request}/replay",
            handler: asAdministrator("source.replay", replaySourceRequest, repeating: .recordedFirst))
        var routeOptions = RouteOptions()
        routeOptions.recordTooLarge = recordTooLargePost
        for address: RoutePattern in ["/in/{source}", "/in/{app}/{source}"] {
            router.add(
                .post, address, body: inboundBody, options: routeOptions, handler: asPublic(starting: postInbound))
            router.add(.get, address, handler: asPublic(answerInboundChallenge))
            router.add(.options, address, handler: asPublic(answerInboundChallenge))
        }
    }

    private func addEventTypeRoutes(to router: inout Router) {
        // The body may contain a schema, and examples that together are as large as a batch.
        let schemaBody = BodyPolicy.collected(limit: limits.schemaBytes + limits.batchBodyBytes)
        router.add(.get, "/v1/event-types", handler: asCaller(current(getEventTypes)))
        router.add(.get, "/v1/event-types/{type}", handler: asCaller(current(getEventType)))
        router.add(
            .put, "/v1/event-types/{type}", body: smallBody,
            handler: asAdministrator(
                "event_type.put",
                returning(
                    Self.typeMembers, remedies: Self.typeRemedies, from: getEventType, to: putEventType)))
        router.add(
            .patch, "/v1/event-types/{type}", body: smallBody,
            handler: asAdministrator(
                "event_type.update",
                returning(
                    Self.typeMembers, remedies: Self.typeRemedies, from: getEventType, to: patchEventType)))
        router.add(.delete, "/v1/event-types/{type}", handler: asAdministrator("event_type.delete", deleteEventType))
        router.add(.get, "/v1/event-types/{type}/versions", handler: asCaller(current(getSchemaVersions)))
        router.add(
            .post, "/v1/event-types/{type}/versions", body: schemaBody,
            handler: asAdministrator("schema.create", postSchemaVersion))
        router.add(.get, "/v1/event-types/{type}/versions/{version}", handler: asCaller(current(getSchemaVersion)))
        router.add(
            .post, "/v1/event-types/{type}/validate", body: smallBody,
            handler: asCaller(postTypeValidation, repeating: .storesNothing))
        router.add(
            .post, "/v1/event-types/{type}/infer", body: smallBody,
            handler: asCaller(postInference, repeating: .storesNothing))
        router.add(.get, "/v1/event-types/{type}/candidate", handler: asCaller(current(getCandidate)))
        router.add(
            .put, "/v1/event-types/{type}/candidate", body: schemaBody,
            handler: asAdministrator(
                "candidate.put", returning(["schema"], from: getCandidate, to: putCandidate)))
        router.add(
            .delete, "/v1/event-types/{type}/candidate", handler: asAdministrator("candidate.delete", deleteCandidate))
        router.add(
            .post, "/v1/event-types/{type}/candidate/promote", body: smallBody,
            handler: asAdministrator("candidate.promote", promoteCandidate))
        router.add(.get, "/v1/asyncapi.json", handler: asCaller(getAsyncAPI))
    }

    private func addOperationRoutes(to router: inout Router) {
        router.add(.get, "/livez", handler: asPublic(starting: { .now(getLiveness($0)) }))
        router.add(.get, "/readyz", handler: asPublic(getReadiness))
        router.add(.get, "/metrics", handler: asPublic(getMetrics))
        router.add(.get, "/openapi.yaml", handler: asPublic(getDescription))
        router.add(.get, "/problems", handler: asPublic(getProblems))
        router.add(.get, "/problems/{code}", handler: asPublic(getProblem))
    }
}
