import ChatCore
public import ChatModel
import JSON
import Locking
import Logging
public import Signing
import Templates
import Text

/// Receives posts of other services: verifies the signature, renders the mapping and emits the events. Every request to
/// a known source is logged, regardless of its outcome.
public final class PostReceiver: Sendable {
    let registry: SourceRegistry
    private let logger: Logger
    private let counters = Lock<[String: UInt64]>([:])
    /// Limits the log lines about invalid signatures to one per minute and source, because anyone can cause them.
    private let rejectionLines = LogRateLimit(burst: 1, interval: .seconds(60))
    /// Limits the events about rejected posts, so that a verified sender cannot fill the app's log with errors.
    private let rejectionEvents = LogRateLimit(burst: 10, interval: .seconds(6))

    init(registry: SourceRegistry, logger: Logger) {
        self.registry = registry
        self.logger = logger
    }

    var service: ChatService { registry.service }

    /// The maximum size of a body in bytes. The HTTP server should enforce it before it reads the body.
    public var bodyLimitBytes: Int { service.limits.inboundBodyBytes }

    /// The number of requests since the start, by `InboundRequest.Outcome`.
    public var metrics: [String: UInt64] { counters.withLock { $0 } }

    /// Returns a source for a request. Reads the changes of other nodes if the source is not in memory, because another
    /// node may have just created it.
    ///
    /// - Throws: `.notFound` for an unknown source; the errors of the store.
    @discardableResult
    public func prepare(_ source: String, in app: String? = nil) async throws(ChatError) -> PreparedSource {
        try await registry.load(source, in: app)
        return try known(source, in: app)
    }

    /// Returns a source that is in memory; nil when ``prepare(_:in:)`` must be called.
    ///
    /// - Parameter app: the app in the path; nil for the first app.
    public func prepared(_ source: String, in app: String? = nil) -> PreparedSource? {
        registry.receiver(source, in: app)
    }

    /// Accepts a post. Its events are durable when this method returns.
    ///
    /// - Throws: `.notFound` for an unknown source; the errors of ``start(_:for:)`` and ``finish(_:)``.
    public func accept(
        _ post: InboundPost, for source: String, in app: String? = nil
    ) async throws(ChatError) -> InboundReceipt {
        switch try start(post, for: known(source, in: app)) {
        case .accepted(let receipt): receipt
        case .verified(let verified): try await finish(verified)
        }
    }

    /// Verifies a post. Also maps it and emits its events, if the mapping is short and nothing has to wait.
    ///
    /// - Throws: `.unauthorized` with the slug `signature_invalid` for any invalid signature, in which case no event is
    ///   stored; `.tooLarge` when the body exceeds its limit; `.tooMany` when the app exceeds its rate.
    public func start(_ post: InboundPost, for source: PreparedSource) throws(ChatError) -> StartedPost {
        do throws(ChatError) {
            try checkSize(post)
        } catch {
            recordTooLarge(post, bytes: post.body.count, for: source)
            throw error
        }
        var request = begin(post, source)
        do throws(SignatureRejection) {
            let proof = try SignatureProof(post.message, source.verifiers, at: request.at.unixSeconds)
            request.identity = proof.identity
            request.secretIndex = proof.secretIndex
        } catch {
            request.reason = error.description
            record(error, of: source.source)
            let refusal = ChatError(.unauthorized, "the signature is not valid", slug: "signature_invalid")
            log(request, source) { $0.record(refusal) }
            throw refusal
        }
        // The request is counted after its verification, so that unverified requests do not count against the app's
        // rate.
        let chat = chat(for: source)
        do throws(ChatError) {
            try chat.caller.meters?.admitRequest(at: request.at)
        } catch {
            log(request, source) { $0.record(error, of: post) }
            throw error
        }
        return mapAndEmit(VerifiedPost(post: post, source: source, request: request), chat)
    }

    /// Logs a post that was not read because it is larger than ``bodyLimitBytes``. The log contains nothing of its
    /// body.
    ///
    /// - Parameter bytes: the size of the body; nil when unknown.
    public func recordTooLarge(_ post: InboundPost, bytes: Int?, for source: String, in app: String? = nil) {
        guard let source = registry.receiver(source, in: app) else { return }
        recordTooLarge(post, bytes: bytes, for: source)
    }

    private func recordTooLarge(_ post: InboundPost, bytes: Int?, for source: PreparedSource) {
        var post = post
        post.body = []
        log(begin(post, source), source) { request in
            request.bodyBytes = max(bytes ?? 0, bodyLimitBytes + 1)
            request.record(tooLarge)
        }
    }

    /// Returns true for a post that must be rejected because of its `Content-Encoding`. Such a post is logged. A post
    /// with a `Content-Encoding` is rejected if the source verifies signatures of the body: the sender signed the
    /// encoded bytes, and only the decoded bytes are available.
    public func refusesEncoding(of post: InboundPost, for source: PreparedSource) -> Bool {
        guard Self.isEncoded(post, for: source.source) else { return false }
        log(begin(post, source), source) { $0.record(ChatError(.malformed, Self.encodingRefusal)) }
        return true
    }

    /// Returns the response to a handshake: a `GET` or `OPTIONS` request with which a provider verifies a URL. Returns
    /// nil when the source has no such handshake, or the request is not a handshake.
    ///
    /// - Throws: `.notFound` for an unknown source.
    public func answerChallenge(
        _ post: InboundPost, for source: String, in app: String? = nil
    ) throws(ChatError) -> HandshakeResponse? {
        let source = try known(source, in: app)
        guard let answer = source.source.settings.answer(post) else { return nil }
        log(begin(post, source), source) { request in
            request.outcome = answer.status == 403 ? .signatureInvalid : .handshake
            if answer.status == 403 {
                request.reason = "the parameter hub.verify_token is not the verify_token of the source"
            }
        }
        return answer
    }

    /// The latest requests of a source, the newest first. The caller must have the right to change the source, because
    /// the requests contain complete posts.
    ///
    /// - Throws: `.notFound` for an unknown source; `.forbidden` when the caller's channels and types do not cover
    ///   the source's channels and types.
    public func requests(of source: String, by caller: Caller) async throws(ChatError) -> [InboundRequest] {
        try await registry.allRequests(of: try await reached(source, by: caller).recordKey).requests
    }

    /// Returns a logged request of a source.
    ///
    /// - Throws: `.notFound` for an unknown source, and for a request that is no longer in the log; `.forbidden` when
    ///   the caller's channels and types do not cover the source's channels and types.
    public func request(
        _ id: String, of source: String, by caller: Caller
    ) async throws(ChatError) -> InboundRequest {
        let source = try await reached(source, by: caller)
        guard let request = try await registry.request(id, of: source.recordKey) else {
            throw ChatError(.notFound, "no request has this id; only the latest requests of each source are stored")
        }
        return request
    }

    /// Processes a logged request again, with the source's current mapping. The signature is not verified again. Events
    /// that already exist are returned as duplicates.
    ///
    /// - Throws: `.invalid` for a request that was never verified, for a handshake, and for a request whose body was
    ///   not logged completely; `.forbidden` for a caller who may not change the source; the errors of `accept`.
    public func replay(
        _ id: String, of sourceID: String, url: String?, by caller: Caller
    ) async throws(ChatError) -> InboundReceipt {
        let logged = try await request(id, of: sourceID, by: caller)
        let source = try await reached(sourceID, by: caller)
        guard let identity = logged.identity else {
            throw ChatError(
                .invalid, "the request's signature was not valid, so the request cannot be replayed",
                slug: "not_verified")
        }
        guard logged.outcome != .handshake else { throw Self.notReplayable }
        try Self.requireComplete(logged)
        let post = logged.post(url: url)
        // The signature was verified when the post arrived.
        let prepared = PreparedSource(source, verifiers: [])
        var request = begin(post, prepared)
        request.identity = identity
        request.secretIndex = logged.secretIndex
        request.replayOf = id
        switch mapAndEmit(VerifiedPost(post: post, source: prepared, request: request), chat(for: prepared)) {
        case .accepted(let receipt): return receipt
        case .verified(let verified): return try await finish(verified)
        }
    }
}

extension PostReceiver {
    private func known(_ source: String, in app: String?) throws(ChatError) -> PreparedSource {
        guard let source = registry.receiver(source, in: app) else { throw SourceRegistry.unknown }
        return source
    }

    /// Reads a source and requires that the caller may change it.
    ///
    /// - Throws: `.notFound`, `.forbidden`.
    func reached(_ id: String, by caller: Caller) async throws(ChatError) -> Source {
        let source = try await registry.source(id, by: caller)
        try SourceRegistry.requireReach(of: source, by: caller)
        return source
    }

    /// The error text for a post with a `Content-Encoding` to a source whose signatures cover the body.
    public static let encodingRefusal =
        "the source checks the signature of the body as it was sent; send the body without a Content-Encoding"

    static func isEncoded(_ post: InboundPost, for source: Source) -> Bool {
        guard source.settings.scheme.signsBody else { return false }
        let field = "content-encoding"
        return post.headers.contains { name, value in
            // Most names have another length, and are not copied.
            name.utf8.count == field.utf8.count && name.lowercased() == field
                && !["", "identity"].contains(value.lowercased())
        }
    }

    func checkSize(_ post: InboundPost) throws(ChatError) {
        guard post.body.count <= bodyLimitBytes else { throw tooLarge }
    }

    private var tooLarge: ChatError { ChatError(.tooLarge, "a post may have at most \(bodyLimitBytes) bytes") }

    static let notReplayable = ChatError(
        .invalid, "only the beginning of this request's body was stored, so the request cannot be replayed or tested",
        slug: "not_replayable")

    /// Rejects a request whose body was truncated, because a mapping of a part of the body would give wrong events.
    static func requireComplete(_ request: InboundRequest) throws(ChatError) {
        guard !request.isTruncated else { throw notReplayable }
    }

    private func begin(_ post: InboundPost, _ source: PreparedSource) -> InboundRequest {
        let now = service.clock.now
        return InboundRequest(post, id: RequestLog.id(at: now), at: now, by: source.source)
    }

    private func log(_ request: InboundRequest, _ source: PreparedSource, _ note: (inout InboundRequest) -> Void) {
        var request = request
        note(&request)
        counters.withLock { $0[request.outcome.rawValue, default: 0] += 1 }
        registry.requests.add(request, of: source.recordKey)
    }

    /// Maps a verified post and emits its events, if the mapping is short and nothing has to wait.
    private func mapAndEmit(_ verified: VerifiedPost, _ chat: ChatAccess) -> StartedPost {
        let source = verified.source.source
        if let answer = source.settings.answerVerified(verified.post) {
            return accepted(InboundReceipt(handshake: answer), verified)
        }
        // A post with CloudEvents may be a batch. A mapping that fails here is applied once more by `finish`, which
        // reports its error.
        guard verified.post.body.count <= Self.quickBytes, !source.settings.mapping.needsCloudEvents,
            var drafts = try? drafts(of: verified, TemplateLimits(steps: Self.quickSteps)), !drafts.isEmpty
        else { return .verified(verified) }
        let stage: VerifiedPost.Stage
        do throws(ChatError) {
            let emit = try chat.start(&drafts)
            if case .emitted(let outcome) = emit { return accepted(InboundReceipt(events: outcome.events), verified) }
            stage = .started(chat, emit)
        } catch {
            stage = .failed(error)
        }
        var started = verified
        started.stage = stage
        return .verified(started)
    }

    /// Completes a post that ``start(_:for:)`` began. Its events are durable when this method returns.
    ///
    /// - Throws: `.tooLarge` when the mapped data or the work of the mapping exceeds its limit; `.malformed` for an
    ///   invalid body; `.invalid` with the slug `mapping_failed` and one fault for each reference without a value; the
    ///   errors of `ChatAccess.emit`.
    public func finish(_ verified: VerifiedPost) async throws(ChatError) -> InboundReceipt {
        do throws(ChatError) {
            let receipt = InboundReceipt(events: try await events(of: verified))
            log(verified.request, verified.source) { $0.record(receipt) }
            return receipt
        } catch {
            log(verified.request, verified.source) { $0.record(error, of: verified.post) }
            await report(error, verified.source.source)
            throw error
        }
    }

    private func events(of verified: VerifiedPost) async throws(ChatError) -> AppendedEvents {
        switch verified.stage {
        case .failed(let error): throw Self.emitFailure(error)
        case .started(let chat, let emit):
            do throws(ChatError) { return try await chat.finish(emit).events } catch { throw Self.emitFailure(error) }
        case nil:
            // Runs off the event loop, which all requests share, because a mapping may take long.
            let drafts = try await asLongWork { () async throws(ChatError) in
                try self.drafts(of: verified, TemplateLimits())
            }
            guard !drafts.isEmpty else { return [] }
            let chat = chat(for: verified.source)
            do throws(ChatError) { return try await chat.emit(drafts).events } catch { throw Self.emitFailure(error) }
        }
    }

    /// The error for events that are rejected. An invalid name comes from the sender's body. The body itself is
    /// well-formed, so the error is not `.malformed`.
    private static func emitFailure(_ error: ChatError) -> ChatError {
        guard error.code == .malformed else { return error }
        return ChatError(
            .invalid, "the mapping makes an event that is rejected: \(error.message)", slug: "mapping_failed")
    }

    private func accepted(_ receipt: InboundReceipt, _ verified: VerifiedPost) -> StartedPost {
        log(verified.request, verified.source) { $0.record(receipt) }
        return .accepted(receipt)
    }

    private func chat(for source: PreparedSource) -> ChatAccess {
        var caller = source.caller
        if let meters = service.keyring.meters(of: caller.app) { caller.meters = meters }
        return service.chat(for: caller)
    }

    /// The maximum size in bytes of a body that is mapped on the event loop.
    private static let quickBytes = 4 * 1024
    /// The maximum number of steps of a mapping that is applied on the event loop. A longer mapping is applied again by
    /// `finish`.
    private static let quickSteps = 256

    private func drafts(of verified: VerifiedPost, _ work: TemplateLimits) throws(ChatError) -> [EventDraft] {
        let (source, identity) = (verified.source.source, verified.request.identity ?? .none)
        var drafts: [EventDraft] = []
        let mapping = source.settings.mapping
        let bodies = try bodies(of: verified.post, source, mapping, identity)
        for (mapped, rendering) in zip(bodies, mapping.render(bodies, limits: service.limits, work)) {
            let filled = try rendering.events.map { result throws(ChatError) in try result.get() }
            drafts += Self.named(filled, identity, mapped.body, source.id)
        }
        let cause = InboundOrigin(source: source.id, request: verified.request.id).cause
        for index in drafts.indices { drafts[index].cause = cause }
        return drafts
    }

    /// The bodies of a post that are mapped separately. Only a batch of CloudEvents has several bodies.
    func bodies(
        of post: InboundPost, _ source: Source, _ mapping: Mapping, _ identity: DeliveryIdentity
    ) throws(ChatError) -> [MappedPost] {
        var isNeeded = mapping.needsBody
        if case .bodyPointer = identity { isNeeded = true }
        let bodies =
            isNeeded
            ? try PostBody.read(post, asCloudEvents: mapping.needsCloudEvents, limits: service.limits) : [.unread]
        return bodies.map { MappedPost(source: source.id, message: post.message, query: post.query, body: $0) }
    }

    /// Returns the events with their deduplication keys. The keys are derived from the sender's delivery id, so that a
    /// repeated delivery is recognized.
    private static func named(
        _ drafts: [EventDraft], _ identity: DeliveryIdentity, _ body: PostBody, _ source: String
    ) -> [EventDraft] {
        guard let id = body.cloudEvent?.identity ?? id(identity, body), !id.isEmpty else { return drafts }
        // A delivery id may have any length, but the length of a deduplication key is limited.
        let short = id.utf8.count <= 128 ? id : Hex.encode(sha256(Array(id.utf8)))
        return drafts.enumerated().map { index, draft in
            var draft = draft
            // The delivery id is the last part of the key. It may contain slashes, so in front of the index it would
            // make the key ambiguous.
            draft.deduplicationKey = "in/\(source)/\(index)/\(short)"
            return draft
        }
    }

    private static func id(_ identity: DeliveryIdentity, _ body: PostBody) -> String? {
        switch identity {
        case .none: nil
        case .value(let id): id
        case .bodyPointer(let pointer): body.text(at: pointer)
        }
    }

    // MARK: Reporting

    private func record(_ rejection: SignatureRejection, of source: Source) {
        guard let unsaid = rejectionLines.admit(source.path) else { return }
        logger.notice(
            "rejected a post to a source: its signature is not valid",
            metadata: [
                "source": "\(source.id)", "app": "\(source.app.name)", "reason": "\(rejection)",
                "unsaid": "\(unsaid)",
            ])
    }

    /// Reports to the app's operators that a post of a verified sender was rejected.
    private func report(_ error: ChatError, _ source: Source) async {
        guard [.malformed, .invalid, .tooLarge, .forbidden].contains(error.code) else { return }
        guard let unsaid = rejectionEvents.admit(source.path) else { return }
        let data = JSONText { writer in
            writer.beginObject()
            writer.member("source", source.id)
            writer.member("reason", error.message)
            if let slug = error.slug { writer.member("code", slug) }
            writer.member("errors", error.faults.prefix(10).map { "\($0.place): \($0.detail)" })
            if unsaid > 0 { writer.member("unreported_before", unsaid) }
            writer.endObject()
        }
        do throws(ChatError) {
            try await service.report("source.rejected", data: data, in: source.app)
        } catch {
            // The sender gets its response in any case. Only the event for the operators is missing.
            logger.warning(
                "cannot emit the event source.rejected",
                metadata: ["source": "\(source.id)", "error": "\(error.message)"])
        }
    }
}

/// The state of a post after ``PostReceiver/start(_:for:)``.
public enum StartedPost: Sendable {
    /// The post is complete.
    case accepted(InboundReceipt)
    /// The post is verified. ``PostReceiver/finish(_:)`` completes it.
    case verified(VerifiedPost)
}

/// A post with a valid signature.
public struct VerifiedPost: Sendable {
    enum Stage {
        case started(ChatAccess, StartedEmit)
        case failed(ChatError)
    }

    let post: InboundPost
    let source: PreparedSource
    let request: InboundRequest
    /// The state of the emit; nil when the post is not mapped yet.
    var stage: Stage?
}

extension Timetoken {
    /// The time in whole Unix seconds.
    var unixSeconds: Int64 { Int64(rawValue / Self.ticksPerSecond) }
}
