import ChatCore
import ChatModel
import HTTPServer
import Locking
import Signing

/// The start of a route's handler (``HTTPServer/Handler``), called once the caller is known.
typealias AuthenticatedStart = @Sendable (Request, Caller) throws -> Handler.Reply

/// A route's handler, called once the caller is known.
typealias AuthenticatedHandler = nonisolated(nonsending) @Sendable (Request, Caller) async throws -> Response

/// The handler of a route that needs no credential.
typealias PublicHandler = nonisolated(nonsending) @Sendable (Request) async throws -> Response

/// The treatment of an `Idempotency-Key` on a route.
enum IdempotentRoute {
    /// The response is stored, so that a repeat gets the same response. The `Idempotency-Key` is stored in the same
    /// commit as the first records of the request. Requests with PUT, DELETE and GET can be repeated without a key.
    case remembered
    /// Like `remembered`, but for a request that stores no records. The `Idempotency-Key` is stored before the request
    /// runs.
    case recordedFirst
    /// The request stores nothing, so the key is ignored.
    case storesNothing
    /// The route handles the `Idempotency-Key` itself, and stores the key in the same commit as the events of the
    /// request.
    case byRoute
    /// The response contains a credential, which must not be stored. A request with an `Idempotency-Key` is rejected.
    case refused
}

/// The executor of a request. Work of more than about a millisecond runs off the loop, because the loop serves all
/// connections.
private enum RequestExecutor {
    /// The event loop. It runs emits, polls and changes of one record, unless the request is large.
    case loop
    /// The thread pool. It runs reads of one record or of a short page of records, which take one or two milliseconds.
    case threadPool
    /// The threads for long work. They run long pages, long filters, validation, mapping, and all large requests.
    case workThreads

    nonisolated(nonsending) func run(
        _ work: nonisolated(nonsending) () async throws -> Response
    ) async throws -> Response {
        switch self {
        case .loop: try await work()
        case .threadPool: try await onThreadPool(work)
        case .workThreads: try await asLongWork(work)
        }
    }
}

extension NativeAPI {
    /// Returns a handler that authenticates the caller, runs `action` in a task, and returns failures as problems. The
    /// parameters are those of ``asCaller(starting:repeating:isConditional:isHeld:)``.
    func asCaller(
        _ action: @escaping AuthenticatedHandler, repeating: IdempotentRoute = .remembered, isConditional: Bool = false,
        isHeld: Bool = false
    ) -> Handler {
        asCaller(
            starting: { request, caller in .later { try await action(request, caller) } }, repeating: repeating,
            isConditional: isConditional, isHeld: isHeld)
    }

    /// Returns a handler that authenticates the caller, runs `action`, and returns failures as problems. The request
    /// needs no task if it runs on the loop and `action` responds without waiting.
    ///
    /// - Parameters:
    ///   - isConditional: true when a POST supports `If-Match`. Other POST requests with `If-Match` are rejected.
    ///   - isHeld: true when the response may wait for events, as in a long poll. Such a request runs on the loop.
    func asCaller(
        starting action: @escaping AuthenticatedStart, repeating: IdempotentRoute = .remembered,
        isConditional: Bool = false, isHeld: Bool = false
    ) -> Handler {
        let action = once(repeating, action)
        return Handler(starting: { request in
            do {
                return begin(
                    request, try caller(of: request), action, repeating, isConditional: isConditional, isHeld: isHeld)
            } catch {
                return .later {
                    let caller: Caller
                    do {
                        caller = try await confirmedCaller(of: request)
                    } catch {
                        throw await problem(error, request, nil)
                    }
                    return try await begin(
                        request, caller, action, repeating, isConditional: isConditional, isHeld: isHeld
                    ).response()
                }
            }
        })
    }

    /// Starts the action of an authenticated request.
    private func begin(
        _ request: Request, _ caller: Caller, _ action: @escaping AuthenticatedStart, _ repeating: IdempotentRoute,
        isConditional: Bool, isHeld: Bool
    ) -> Handler.Reply {
        let meters = caller.meters
        do {
            request.annotations?.credential = caller.credential
            if request.method == .post, !isConditional { try Self.refuseIfMatch(request) }
            let place = place(of: request, repeating, isHeld: isHeld)
            try meters?.admitRequest(at: service.clock.now)
            let reply =
                place == .loop
                ? try action(request, caller)
                : .later { try await place.run { try await action(request, caller).response() } }
            // No closure is created for a response that is known.
            if case .now(let response) = reply { return .now(metered(response, by: meters)) }
            return reply.map {
                metered($0, by: meters)
            } recover: {
                throw await problem($0, request, meters)
            }
        } catch {
            return .later { throw await problem(error, request, meters) }
        }
    }

    /// Wraps an action that reads apps, keys or event types from memory. The action sees what any node has committed
    /// before the request.
    func current(_ action: @escaping AuthenticatedHandler) -> AuthenticatedHandler {
        { request, caller in
            try await service.catchUp()
            return try await action(request, caller)
        }
    }

    /// Returns the problem for the error of an authenticated request.
    private func problem(_ error: any Error, _ request: Request, _ meters: RateMeters?) async -> any Error {
        await recordFailedSignIn(request, error)
        let translated = await problem(error, request)
        return meters.map { limited(translated, by: $0) } ?? translated
    }

    private func place(of request: Request, _ repeating: IdempotentRoute, isHeld: Bool) -> RequestExecutor {
        if request.isLarge || repeating == .storesNothing { return .workThreads }
        if repeating == .byRoute { return .loop }
        guard request.method == .get || request.method == .head else {
            // A body above 2 KiB may contain a long filter, and compiling the filter takes too long for the loop.
            return request.body.bytes.count > 2048 ? .workThreads : .loop
        }
        if isHeld { return .loop }
        let page = request.query["limit"].flatMap { Int($0) } ?? 0
        return page > limits.pageDefault ? .workThreads : .threadPool
    }

    /// Wraps an action on a resource that has no version. The wrapper rejects `If-Match`, because ignoring the field
    /// would overwrite the state that the client wants to protect.
    static func unconditional(_ action: @escaping AuthenticatedHandler) -> AuthenticatedHandler {
        { request, caller in
            try refuseIfMatch(request)
            return try await action(request, caller)
        }
    }

    private static func refuseIfMatch(_ request: Request) throws(ChatError) {
        guard !request.headers.contains("If-Match") else {
            throw ChatError(
                .malformed, "this resource has no version to compare; leave out If-Match", slug: "bad_precondition",
                field: "If-Match")
        }
    }

    /// Wraps an action so that it runs at most once for all requests with the same `Idempotency-Key`.
    private func once(
        _ repeating: IdempotentRoute, _ action: @escaping AuthenticatedStart
    ) -> AuthenticatedStart {
        guard repeating != .byRoute, repeating != .storesNothing else { return action }
        return { request, caller in
            guard request.method == .post || request.method == .patch,
                let key = try IdempotencyKey(request.headers)
            else { return try action(request, caller) }
            guard repeating != .refused else { throw IdempotencyKey.refusal }
            return .later {
                try await claims.once(
                    key, request, caller, service.answers, isNotedFirst: repeating == .recordedFirst
                ) {
                    try await action(request, caller).response()
                }
            }
        }
    }

    /// Returns a handler that runs `action` in a task, for a route that needs no API key, such as a request that is
    /// authenticated in another way.
    func asPublic(_ action: @escaping PublicHandler) -> Handler {
        asPublic(starting: { request in .later { try await action(request) } })
    }

    /// Returns a handler for a route that needs no API key. The request needs no task if `action` responds without
    /// waiting.
    func asPublic(starting action: @escaping @Sendable (Request) throws -> Handler.Reply) -> Handler {
        Handler(starting: { request in
            do {
                let place: RequestExecutor = request.isLarge ? .workThreads : .loop
                let reply =
                    place == .loop
                    ? try action(request) : .later { try await place.run { try await action(request).response() } }
                if case .now = reply { return reply }
                return reply.map(recover: { throw await problem($0, request) })
            } catch {
                return .later { throw await problem(error, request) }
            }
        })
    }

    /// Returns the problem for an error. The request's body is parsed again, so that the problem can point at the
    /// invalid member.
    private func problem(_ error: any Error, _ request: Request) async -> any Error {
        request.isLarge ? await asLongWork { Self.translated(error, request) } : Self.translated(error, request)
    }

    /// The caller, identified by `Authorization: Bearer <API key or user's token>` (RFC 6750, 2.1) or by the cookie of
    /// a page that has signed in.
    ///
    /// The keyring is in memory, so the lookup reads no storage.
    ///
    /// - Throws: `.unauthorized` without a credential and for an invalid credential. The error for an invalid key does
    ///   not depend on the reason. `.malformed` for a credential in the URL, because logs and browser histories store
    ///   URLs. `.forbidden` for a cookie that another site's page sent.
    func caller(of request: Request) throws(ChatError) -> Caller {
        if !request.query.items.isEmpty { try Self.refuseCredentials(in: request.query) }
        if let caller = try bearer(request.headers) { return caller }
        if let caller = try signedInCaller(of: request) { return caller }
        throw ChatError(
            .unauthorized, "send an API key as 'Authorization: Bearer <key>'", slug: "credential_missing")
    }

    /// Like ``caller(of:)``. Before it rejects a request, this node reads the changes of the other nodes, because
    /// another node may have made the key a moment ago.
    ///
    /// - Throws: the errors of ``caller(of:)``; `.unavailable` when the store cannot be read.
    nonisolated(nonsending) func confirmedCaller(of request: Request) async throws(ChatError) -> Caller {
        try await service.confirmingRefusal { () throws(ChatError) in try caller(of: request) }
    }

    /// The caller of the credential after `Bearer`; nil without the header field. The credential is read in place.
    private func bearer(_ headers: Headers) throws(ChatError) -> Caller? {
        try headers.withValue(of: "Authorization") { field throws(ChatError) in
            let credential = try Self.credential(in: field)
            // A token begins with "ey", the encoded form of `{` and a quotation mark or a space. The search for a key
            // would compute the digest of the token. The text of a key may have the form of a token.
            if credential.starts(with: "ey".utf8) {
                do throws(ChatError) {
                    if let caller = try tokens.caller(of: Secret(credential.span)) { return caller }
                } catch {
                    guard let caller = service.keyring.caller(of: credential.span) else { throw error }
                    return caller
                }
            }
            if let caller = service.keyring.caller(of: credential.span) { return caller }
            if let caller = try tokens.caller(of: Secret(credential.span)) { return caller }
            throw UserTokens.unknown
        }
    }

    /// The text after `Bearer` and spaces.
    private static func credential(
        in field: UnsafeBufferPointer<UInt8>
    ) throws(ChatError) -> UnsafeBufferPointer<UInt8> {
        let scheme: StaticString = "bearer"
        var start = 0
        // All letters of the scheme are ASCII, and setting this bit gives their lower case.
        while start < min(field.count, scheme.utf8CodeUnitCount), field[start] | 0x20 == scheme.utf8Start[start] {
            start += 1
        }
        let isBearer = start == scheme.utf8CodeUnitCount && start < field.count && field[start] == UInt8(ascii: " ")
        while start < field.count, field[start] == UInt8(ascii: " ") { start += 1 }
        guard isBearer, start < field.count else {
            throw ChatError(
                .unauthorized, "the only supported scheme is 'Bearer'; send 'Authorization: Bearer <key>'",
                slug: "credential_invalid")
        }
        return UnsafeBufferPointer(rebasing: field[start...])
    }

    /// The names of query parameters in which other services accept credentials.
    private static let credentialNames: Set<String> = [
        "key", "api_key", "apikey", "access_token", "token", "auth", "authorization", "bearer",
    ]

    private static let credentialInitials = credentialNames.compactMap(\.utf8.first)

    private static func refuseCredentials(in query: Query) throws(ChatError) {
        for item in query.items where isCredential(item.name) {
            throw ChatError(
                .malformed,
                "credentials are not accepted in URLs ('\(item.name)'); send 'Authorization: Bearer <key>', "
                    + "or get a ticket from POST /v1/stream-tickets",
                slug: "credential_in_url", field: item.name)
        }
    }

    /// Returns true for a name of ``credentialNames``, in any case. Most other names differ in the first letter, so that
    /// no string is made of them.
    private static func isCredential(_ name: String) -> Bool {
        guard let first = name.utf8.first, first >= 0x80 || credentialInitials.contains(first | 0x20) else {
            return false
        }
        return credentialNames.contains(name.lowercased())
    }
}
