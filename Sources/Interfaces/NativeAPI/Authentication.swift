import ChatCore
import ChatModel
import HTTPServer
import Locking

/// What a route does once it is known who asks.
typealias AuthenticatedHandler = nonisolated(nonsending) @Sendable (Request, Caller) async throws -> Response

/// What a route does for anybody.
typealias PublicHandler = nonisolated(nonsending) @Sendable (Request) async throws -> Response

/// A route's way with an `Idempotency-Key`.
enum IdempotentRoute {
    /// Its answer is remembered, and the note that it was begun is in the commit of its first records. PUT, DELETE and GET can be
    /// repeated as they are.
    case remembered
    /// The same for what does not store records: the note is written before.
    case notedFirst
    /// It stores nothing, so that a key makes no difference.
    case storesNothing
    /// The route sees to it itself, in the commit of its events.
    case byRoute
    /// It returns a credential, which is not stored.
    case refused
}

/// The executor of a request. Work of more than about a millisecond leaves the loop, which serves all connections.
private enum RequestExecutor {
    /// Emits, which must be cheap, polls and changes of a record, unless the request is large.
    case loop
    /// Reads of a record or a short page of records, which take a millisecond or two to parse and to print.
    case threadPool
    /// Long pages; what compiles a long filter, validates or maps; and large requests.
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
    /// A handler that runs `action` for the holder of an API key, and says what fails as a problem.
    ///
    /// - Parameters:
    ///   - isConditional: whether a POST keeps to `If-Match`; others refuse it.
    ///   - isHeld: whether the answer waits for events: such a request stays on the loop, where it is held.
    func asCaller(
        _ action: @escaping AuthenticatedHandler, repeating: IdempotentRoute = .remembered, isConditional: Bool = false,
        isHeld: Bool = false
    ) -> Router.Handler {
        { request in
            do {
                let caller = try caller(of: request)
                request.notes?.credential = caller.credential
                if request.method == .post, !isConditional { try Self.refuseIfMatch(request) }
                let action = try once(repeating, request, action)
                let place = place(of: request, repeating, isHeld: isHeld)
                guard let meters = caller.meters else {
                    return try await place.run { try await action(request, caller) }
                }
                return try await held(to: meters, request) { try await place.run { try await action(request, caller) } }
            } catch {
                await noteFailedSignIn(request, error)
                // The body is parsed once more, to point at the member at fault.
                throw request.isLarge
                    ? await asLongWork { Self.translated(error, request) } : Self.translated(error, request)
            }
        }
    }

    private func place(of request: Request, _ repeating: IdempotentRoute, isHeld: Bool) -> RequestExecutor {
        if request.isLarge || repeating == .storesNothing { return .workThreads }
        guard [.get, .head].contains(request.method) else {
            // The filter of a webhook may be in it.
            return repeating != .byRoute && request.body.bytes.count > 2048 ? .workThreads : .loop
        }
        if isHeld { return .loop }
        let page = request.query["limit"].flatMap { Int($0) } ?? 0
        return page > limits.pageDefault ? .workThreads : .threadPool
    }

    /// An action on something that has no version: to ignore `If-Match` would overwrite what its sender wants to keep.
    static func unconditional(_ action: @escaping AuthenticatedHandler) -> AuthenticatedHandler {
        { request, caller in
            try refuseIfMatch(request)
            return try await action(request, caller)
        }
    }

    private static func refuseIfMatch(_ request: Request) throws(ChatError) {
        guard request.headers["If-Match"] == nil else {
            throw ChatError(.malformed, "this has no version of its own: leave out If-Match", slug: "bad_precondition")
        }
    }

    /// The action, carried out once for a request with an `Idempotency-Key`.
    private func once(
        _ repeating: IdempotentRoute, _ request: Request, _ action: @escaping AuthenticatedHandler
    ) throws(ChatError) -> AuthenticatedHandler {
        guard request.method == .post || request.method == .patch, ![.byRoute, .storesNothing].contains(repeating),
            let key = try IdempotencyKey(request.headers)
        else { return action }
        guard repeating != .refused else { throw IdempotencyKey.refusal }
        return { request, caller in
            try await claims.once(key, request, caller, service.answers, isNotedFirst: repeating == .notedFirst) {
                try await action(request, caller)
            }
        }
    }

    /// The same for routes that need no API key: probes, and those that bring another proof.
    func asAnybody(_ action: @escaping PublicHandler) -> Router.Handler {
        { request in
            do {
                let place: RequestExecutor = request.isLarge ? .workThreads : .loop
                return try await place.run { try await action(request) }
            } catch {
                throw request.isLarge
                    ? await asLongWork { Self.translated(error, request) } : Self.translated(error, request)
            }
        }
    }

    /// Who asks, by `Authorization: Bearer <API key or user's token>` (RFC 6750, 2.1), or by the cookie of a page that has
    /// signed in.
    ///
    /// The keyring is in memory: nothing waits, and nothing about the credential is kept but its digest.
    /// - Throws: `.unauthorized` without a credential or with one that does not hold, for a key in the same words for every
    ///   reason; `.malformed` for one in the URL, where logs and histories would keep it; `.forbidden` for a cookie that
    ///   another site's page has sent along.
    func caller(of request: Request) throws(ChatError) -> Caller {
        try Self.refuseCredentials(in: request.query)
        if let key = try Self.bearer(request.headers) {
            let digest = Keyring.digest(of: key)
            if let caller = service.keyring.caller(digest: digest) { return caller }
            if let caller = try tokens.caller(of: key, digest: digest) { return caller }
            throw UserTokens.unknown
        }
        if let caller = try signedInCaller(of: request) { return caller }
        throw ChatError(
            .unauthorized, "send an API key as 'Authorization: Bearer <key>'", slug: "credential_missing")
    }

    /// The text after `Bearer`, nil without the field.
    private static func bearer(_ headers: Headers) throws(ChatError) -> String? {
        guard let field = headers["Authorization"] else { return nil }
        let scheme = field.utf8.prefix(while: { $0 != UInt8(ascii: " ") })
        let key = field[scheme.endIndex...].drop(while: { $0 == " " })
        guard scheme.count == 6, Substring(scheme).lowercased() == "bearer", !key.isEmpty else {
            throw ChatError(
                .unauthorized, "only the scheme 'Bearer' is known here: 'Authorization: Bearer <key>'",
                slug: "credential_invalid")
        }
        return String(key)
    }

    /// Names under which credentials are put into URLs elsewhere.
    private static let credentialNames: Set<String> = [
        "key", "api_key", "apikey", "access_token", "token", "auth", "authorization", "bearer",
    ]

    private static func refuseCredentials(in query: Query) throws(ChatError) {
        guard !query.isEmpty else { return }
        for item in query.items where credentialNames.contains(item.name.lowercased()) {
            throw ChatError(
                .malformed,
                "credentials are not accepted in URLs ('\(item.name)'); send 'Authorization: Bearer <key>', "
                    + "or ask POST /v1/stream-tickets for a ticket",
                slug: "credential_in_url")
        }
    }
}
