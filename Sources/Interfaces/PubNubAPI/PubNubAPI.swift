public import ChatCore
import ChatModel
public import LongPolling
public import HTTPServer
import JSON
import Locking

/// A route's handler, called once the request is admitted.
typealias WireHandler = nonisolated(nonsending) @Sendable (WireRequest) async throws -> Response

/// The HTTP API of PubNub. PubNub's SDKs work with this gateway when their `origin` is set to the gateway; see
/// `docs/pubnub-migration.md`.
///
/// A translator without state: it parses a request, calls `ChatCore` and prints the result. This file contains the
/// table of routes. Each resource has its own file, and `Errors.swift` contains all error texts.
public struct PubNubAPI: Sendable {
    let service: ChatService
    let polls: LongPollTable
    private let origins: CORSPolicy.Origins
    let print = SubscribePrinter()
    let channelLists = ChannelLists()
    let tokens = VerifiedTokenCache()
    let heartbeatJoins = HeartbeatJoins()
    let presenceTimeouts = PresenceTimeouts()

    var limits: Limits { service.limits }

    /// Creates the API.
    ///
    /// - Parameters:
    ///   - service: the chat service. It must be running (`ChatService.run`) before the first request.
    ///   - polls: the table of waiting long polls. The table must use the event loop on which `service` runs its hub.
    ///   - origins: the web origins whose pages may call the API. All origins by default, as at PubNub, because the
    ///     keys are public.
    public init(service: ChatService, polls: LongPollTable, origins: CORSPolicy.Origins = .any) {
        self.service = service
        self.polls = polls
        self.origins = origins
    }

    /// Adds every route. Unknown paths with the same beginning as a route get an error in PubNub's format.
    public func addRoutes(to router: inout Router) {
        let others = router.routes.count
        addOwnRoutes(to: &router)
        let beginnings = Set(router.routes.dropFirst(others).map { Self.beginning(of: $0.pattern.description) })
        let notFound = router.notFound
        router.notFound = Handler(starting: { request in
            guard beginnings.contains(Self.beginning(of: request.path)) else { return try notFound.start(request) }
            return .now(WireError.unknownPath.response(in: .generic("Balancer"), at: .zero))
        })
    }

    /// The first segment of a path or, if that is a version, the first two segments: `/publish`, `/v2/subscribe`.
    private static func beginning(of path: String) -> Substring {
        let segments = path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true)
        guard let first = segments.first, segments.count > 1 else { return path[...] }
        let isVersion = first.first == "v" && first.dropFirst().allSatisfy(\.isNumber)
        return path[..<(isVersion ? segments[1] : first).endIndex]
    }

    private func addOwnRoutes(to router: inout Router) {
        add(.get, "/time/0", in: .generic("Balancer"), to: &router) { _ in try await getTime() }
        addPublishRoutes(to: &router)
        add(
            .get, "/v2/subscribe/{s}/{C}/{callback}", in: .subscribe, for: .channels(.read, at: 3, key: 2), to: &router,
            starting: startSubscribe)
        addHistoryRoutes(to: &router)
        addGroupRoutes(to: &router)
        addPresenceRoutes(to: &router)
        addActionRoutes(to: &router)
        addObjectRoutes(to: &router)
        addAccessRoutes(to: &router)
        addUnservedRoutes(to: &router)
    }

    private func addPublishRoutes(to router: inout Router) {
        let body = BodyPolicy.collected(limit: limits.emitBodyBytes)
        let writing = AccessRule.channels(.write, at: 4, key: 2)
        add(
            .get, "/v1/files/publish-file/{p}/{s}/{signature}/{c}/{callback}/{json*}", in: .publish,
            for: .channels(.write, at: 6, key: 4), to: &router, starting: getFileMessage)
        add(
            .get, "/publish/{p}/{s}/{signature}/{c}/{callback}/{json*}", in: .publish, for: writing, to: &router,
            starting: getPublish)
        add(
            .post, "/publish/{p}/{s}/{signature}/{c}/{callback}", body, in: .publish, for: writing, to: &router,
            starting: postPublish)
        add(
            .post, "/publish/{p}/{s}/{signature}/{c}/{callback}/{json*}", body, in: .publish, for: writing, to: &router,
            starting: postPublish)
        add(
            .get, "/signal/{p}/{s}/{signature}/{c}/{callback}/{json*}", in: .publish, for: writing, to: &router,
            starting: getSignal)
    }

    private func addHistoryRoutes(to router: inout Router) {
        let body = BodyPolicy.collected(limit: limits.emitBodyBytes)
        add(
            .get, "/v3/history/sub-key/{s}/channel/{C}", in: .history, for: .channels(.read, at: 5, key: 3),
            to: &router, getHistory)
        add(
            .get, "/v3/history-with-actions/sub-key/{s}/channel/{c}", in: .history,
            for: .channels(.read, at: 5, key: 3), to: &router, getHistoryWithActions)
        add(
            .get, "/v2/history/sub-key/{s}/channel/{c}", in: .history, for: .channels(.read, at: 5, key: 3),
            to: &router, getOldHistory)
        add(
            .delete, "/v3/history/sub-key/{s}/channel/{c}", body, in: .deletion, for: .channels(.delete, at: 5, key: 3),
            to: &router, deleteHistory)
        add(
            .get, "/v3/history/sub-key/{s}/message-counts/{C}", in: .history, for: .channels(.read, at: 5, key: 3),
            to: &router, getCounts)
    }

    /// Adds a route.
    ///
    /// - Parameters:
    ///   - family: the format of the resource's errors.
    ///   - rule: the permissions that a token must grant if the app requires tokens; nil when the call needs none.
    func add(
        _ method: HTTPMethod, _ pattern: RoutePattern, _ body: BodyPolicy = .none, in family: ErrorFamily,
        for rule: AccessRule? = nil, to router: inout Router,
        _ action: @escaping WireHandler
    ) {
        add(
            method, pattern, body, in: family, for: rule, to: &router,
            starting: { request in
                .later { try await action(request) }
            })
    }

    /// Adds a route whose requests may need no task. The parameters are those of
    /// ``add(_:_:_:in:for:to:_:)``.
    func add(
        _ method: HTTPMethod, _ pattern: RoutePattern, _ body: BodyPolicy = .none, in family: ErrorFamily,
        for rule: AccessRule? = nil, to router: inout Router,
        starting action: @escaping @Sendable (WireRequest) throws -> Handler.Reply
    ) {
        @Sendable func begin(_ request: consuming WireRequest) throws -> Handler.Reply {
            do {
                request.token = try admit(&request, rule)
                let reply = try start(action, request, family)
                // No closure is created for a response that is known.
                if case .now = reply { return reply }
                return reply.map(recover: { try refusal($0, in: family) })
            } catch {
                return .now(try refusal(error, in: family))
            }
        }
        let handler = Handler(starting: { request in
            let request = WireRequest(request)
            guard isUnknown(request, rule) else { return try begin(request) }
            // Another node may have made the app a moment ago.
            return .later {
                do { try await service.catchUp() } catch { return try refusal(error, in: family) }
                return try await begin(request).response()
            }
        })
        router.add(method, pattern, body: body, options: routeOptions(family), handler: handler)
    }

    /// True when other nodes use the store, and this node does not know the subscribe key of the request.
    private func isUnknown(_ request: WireRequest, _ rule: AccessRule?) -> Bool {
        guard service.isShared, let rule, let key = request.segment(rule.keyAt) else { return false }
        return service.keyring.keyset(subscribeKey: key) == nil
    }

    /// Starts an action on the executor that suits the request.
    private func start(
        _ action: @escaping @Sendable (WireRequest) throws -> Handler.Reply, _ request: WireRequest,
        _ family: ErrorFamily
    ) throws -> Handler.Reply {
        if request.request.isLarge || request["channel-group"] != nil {
            // Runs off the loop, because a long filter takes milliseconds to compile, and groups may contain thousands
            // of channels.
            return .later { try await asLongWork { try await action(request).response() } }
        }
        guard family.readsRecords else { return try action(request) }
        return .later { try await onThreadPool { try await action(request).response() } }
    }

    /// Returns the response for the error of an action.
    ///
    /// - Throws: `error`, if it is neither a `WireError` nor a `ChatError`.
    private func refusal(_ error: any Error, in family: ErrorFamily) throws -> Response {
        switch error {
        case let error as WireError: error.response(in: family, at: Self.now(service))
        case let error as ChatError: WireError(error).response(in: family, at: Self.now(service))
        default: throw error
        }
    }

    /// The time in the response of `/time/0` and in the error of a rejected publish. It is the clock's time and not a
    /// position of the log, which would reveal that other users have sent events.
    static func now(_ service: ChatService) -> Timetoken { service.clock.now }

    private func routeOptions(_ family: ErrorFamily) -> RouteOptions {
        var routeOptions = RouteOptions(
            cors: CORSPolicy(
                origins: origins,
                // The fields are listed for browsers that do not support `*`, and because `*` does not cover
                // `Authorization`.
                allowedHeaders: ["Content-Type", "If-Match", "Content-Encoding", "Accept", "Authorization", "*"],
                exposedHeaders: ["ETag", "Retry-After", "X-Request-Id"]),
            decodesPath: false,
            // All resources share one format for these errors, with two exceptions. A subscribe call never gets a 503.
            // A publish that is too large gets the same error whether the server or the route rejects it.
            refusal: { [clock = service.clock] problem in
                switch family {
                case .subscribe: WireError(problem).response(in: family, at: .zero)
                case .publish where problem.status == 413:
                    WireError.messageTooLarge.response(in: family, at: clock.now)
                default: WireError(problem).response(in: .generic("Balancer"), at: .zero)
                }
            })
        // One SDK posts plain JSON with a header that declares it as compressed.
        routeOptions.trustsContentEncoding = false
        return routeOptions
    }
}

extension PubNubAPI {
    /// `GET /time/0`: returns an array with the time of the clock as an integer. Clients use the call to check whether
    /// the service is available. The call reads no data from the store.
    func getTime() async throws -> Response {
        let now = Self.now(service)
        return .wire { writer in
            writer.beginArray()
            writer.integer(now.rawValue)
            writer.endArray()
        }
    }
}

/// Calls to PubNub services that this gateway does not offer. The errors have texts that SDKs understand.
extension PubNubAPI {
    func addUnservedRoutes(to router: inout Router) {
        for method in [HTTPMethod.get, .post, .delete] {
            add(
                method, "/v1/files/{s}/channels/{rest*}", .collected(limit: limits.emitBodyBytes),
                in: .generic("Files"),
                to: &router
            ) { _ in Self.noFiles }
        }
        for pattern in ["/v1/push/sub-key/{s}/devices/{rest*}", "/v2/push/sub-key/{s}/devices-apns2/{rest*}"] {
            add(.get, RoutePattern(pattern), in: .generic("Push"), to: &router) { _ in Self.noPush }
        }
    }

    private static var noFiles: Response {
        .wire(402) { writer in
            writer.beginObject()
            writer.member("status", 402)
            writer.key("error")
            writer.beginObject()
            writer.member("message", "Files service not enabled for subkey")
            writer.member("source", "Files")
            writer.member("code", 3005)
            writer.endObject()
            writer.endObject()
        }
    }

    private static var noPush: Response {
        .wire(403) { writer in
            writer.beginObject()
            writer.member(
                "error",
                "Use of the mobile push notifications API requires Push Notifications which is not enabled for this subscribe key."
            )
            writer.endObject()
        }
    }
}
