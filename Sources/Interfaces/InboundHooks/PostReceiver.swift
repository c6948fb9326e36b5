import ChatCore
public import ChatModel
import JSON
import Locking
import Logging
public import Signing

/// Takes posts of other services in: checks the signature, renders the mapping, emits. Every request of a known source
/// leaves an entry in its log, whatever became of it.
public final class PostReceiver: Sendable {
    let registry: SourceRegistry
    private let logger: Logger
    private let counters = Lock<[String: UInt64]>([:])
    /// Anyone can post with a wrong signature, so each source gets one line a minute about it.
    private let rejectionLines = LogRateLimit(burst: 1, interval: .seconds(60))
    /// A good signature does not make a sender harmless: its mistakes must not fill the app's log.
    private let rejectionEvents = LogRateLimit(burst: 10, interval: .seconds(6))

    init(registry: SourceRegistry, logger: Logger) {
        self.registry = registry
        self.logger = logger
    }

    var service: ChatService { registry.service }

    /// The most bytes a post may have; enforce it before the body is read.
    public var bodyLimitBytes: Int { service.limits.inboundBodyBytes }

    /// Counters since the start, by `InboundRequest.Outcome`.
    public var metrics: [String: UInt64] { counters.withLock { $0 } }

    /// Accepts a post. When it returns, its events are durable.
    ///
    /// - Throws: `.notFound` for an unknown source; `.unauthorized` with the slug `signature_invalid`, whatever was wrong
    ///   with the signature, and nothing is stored; `.tooLarge`; `.malformed` for a body that cannot be read; `.invalid`
    ///   with the slug `mapping_failed` and a fault for each reference without a value; what `ChatAccess.emit` throws.
    ///
    /// - Parameter app: as the post's address says; nil where it says none. So for the other verbs.
    public func accept(
        _ post: InboundPost, for source: String, in app: String? = nil
    ) async throws(ChatError) -> InboundReceipt {
        guard let receiver = registry.receiver(source, in: app) else { throw SourceRegistry.unknown }
        do throws(ChatError) {
            try checkSize(post)
        } catch {
            noteTooLarge(post, bytes: post.body.count, for: source, in: app)
            throw error
        }
        var request = begin(post, receiver.source)
        do throws(SignatureRejection) {
            let proof = try SignatureProof(post.message, receiver.verifiers, at: seconds)
            request.identity = proof.identity
            request.secretIndex = proof.secretIndex
        } catch {
            request.reason = error.description
            note(error, of: receiver.source)
            let refusal = ChatError(.unauthorized, "the signature is not valid", slug: "signature_invalid")
            finish(request, receiver.source) { $0.note(refusal) }
            throw refusal
        }
        // Only now: who cannot sign must not use up what the app may take in.
        do throws(ChatError) {
            try service.keyring.app(receiver.source.app)?.meters?.admitRequest(at: service.clock.now)
        } catch {
            finish(request, receiver.source) { $0.note(error, of: post) }
            throw error
        }
        return try await take(post, receiver.source, request)
    }

    /// Notes a post that was not even read, as it is larger than ``bodyLimitBytes``: nothing of its body is kept.
    /// - Parameter bytes: how large it is; nil when its sender has not said.
    public func noteTooLarge(_ post: InboundPost, bytes: Int?, for source: String, in app: String? = nil) {
        guard let source = registry.receiver(source, in: app)?.source else { return }
        var post = post
        post.body = []
        finish(begin(post, source), source) { request in
            request.bodyBytes = max(bytes ?? 0, bodyLimitBytes + 1)
            request.note(tooLarge)
        }
    }

    /// Whether a post came with a `Content-Encoding` to a source whose posts are signed: its sender signed the bytes it sent, and
    /// what is here is what they were made of. Such a one is noted, and not to be accepted.
    public func refusesEncoding(of post: InboundPost, for source: String, in app: String? = nil) -> Bool {
        guard let source = registry.receiver(source, in: app)?.source, Self.isEncoded(post, for: source) else {
            return false
        }
        finish(begin(post, source), source) { $0.note(ChatError(.malformed, Self.encodingRefusal)) }
        return true
    }

    /// Answers a provider's question that comes as a `GET` or `OPTIONS`; nil when the source has no such handshake, or
    /// the request is no such question.
    /// - Throws: `.notFound` for an unknown source.
    public func greet(
        _ post: InboundPost, for source: String, in app: String? = nil
    ) throws(ChatError) -> HandshakeResponse? {
        guard let receiver = registry.receiver(source, in: app) else { throw SourceRegistry.unknown }
        guard let answer = Greeting(receiver.source.settings).answer(post) else { return nil }
        finish(begin(post, receiver.source), receiver.source) { request in
            request.outcome = answer.status == 403 ? .signatureInvalid : .handshake
            if answer.status == 403 { request.reason = "hub.verify_token is not the source's verify_token" }
        }
        return answer
    }

    /// The latest requests of a source, the newest first. They hold whole posts, so they are for who may change the
    /// source.
    /// - Throws: `.notFound`, `.forbidden`.
    public func requests(of source: String, by caller: Caller) async throws(ChatError) -> [InboundRequest] {
        registry.requests.requests(of: try await reached(source, by: caller).recordKey)
    }

    /// - Throws: `.notFound` also when it has fallen out of the log.
    public func request(
        _ id: String, of source: String, by caller: Caller
    ) async throws(ChatError) -> InboundRequest {
        let source = try await reached(source, by: caller)
        guard let request = registry.requests.request(id, of: source.recordKey) else {
            throw ChatError(.notFound, "no such request; only the latest of each source are kept")
        }
        return request
    }

    /// Takes a logged request in once more, with the source's present mapping. The signature is not checked again; what
    /// it became before is found again as a duplicate.
    ///
    /// - Throws: `.invalid` for a request that was never verified, for a handshake, and where the body was too long to be
    ///   kept whole; `.forbidden` for who may not change the source; what `accept` throws.
    public func replay(
        _ id: String, of sourceID: String, url: String?, by caller: Caller
    ) async throws(ChatError) -> InboundReceipt {
        let logged = try await request(id, of: sourceID, by: caller)
        let source = try await reached(sourceID, by: caller)
        guard let identity = logged.identity else {
            throw ChatError(.invalid, "its signature was not accepted, so it is not replayed", slug: "not_verified")
        }
        guard logged.outcome != .handshake else { throw Self.notReplayable }
        try Self.demandWhole(logged)
        let post = logged.post(url: url)
        var request = begin(post, source)
        request.identity = identity
        request.secretIndex = logged.secretIndex
        request.replayOf = id
        return try await take(post, source, request)
    }
}

extension PostReceiver {
    var seconds: Int64 { Int64(service.clock.now.rawValue / Timetoken.ticksPerSecond) }

    /// A source all of which the caller reaches.
    func reached(_ id: String, by caller: Caller) async throws(ChatError) -> Source {
        let source = try await registry.source(id, by: caller)
        try SourceRegistry.demandReach(of: source, by: caller)
        return source
    }

    public static let encodingRefusal =
        "posts to this source are signed as they are sent, so their bodies come without a Content-Encoding"

    static func isEncoded(_ post: InboundPost, for source: Source) -> Bool {
        guard source.settings.scheme.signsBody else { return false }
        return post.headers.contains { name, value in
            name.lowercased() == "content-encoding" && !["", "identity"].contains(value.lowercased())
        }
    }

    func checkSize(_ post: InboundPost) throws(ChatError) {
        guard post.body.count <= bodyLimitBytes else { throw tooLarge }
    }

    private var tooLarge: ChatError { ChatError(.tooLarge, "a post may have at most \(bodyLimitBytes) bytes") }

    static let notReplayable = ChatError(
        .invalid, "only posts whose whole body was kept can be replayed or tried", slug: "not_replayable")

    /// The beginning of a body is another body.
    static func demandWhole(_ request: InboundRequest) throws(ChatError) {
        guard !request.isTruncated else { throw notReplayable }
    }

    private func begin(_ post: InboundPost, _ source: Source) -> InboundRequest {
        let now = service.clock.now
        return InboundRequest(post, id: RequestLog.id(at: now), at: now, by: source)
    }

    private func finish(_ request: InboundRequest, _ source: Source, _ note: (inout InboundRequest) -> Void) {
        var request = request
        note(&request)
        counters.withLock { $0[request.outcome.rawValue, default: 0] += 1 }
        registry.requests.add(request, of: source.recordKey)
    }

    /// What follows once a post is known to be its sender's.
    private func take(
        _ post: InboundPost, _ source: Source, _ request: InboundRequest
    ) async throws(ChatError) -> InboundReceipt {
        do throws(ChatError) {
            let receipt: InboundReceipt
            if let answer = Greeting(source.settings).answerVerified(post) {
                receipt = InboundReceipt(handshake: answer)
            } else {
                // Away from the loop that all requests share: a small post may be long work for a mapping.
                var emissions = try await asLongWork {
                    () async throws(ChatError) -> [Emission] in
                    try self.emissions(of: post, source, request.identity ?? .none)
                }
                let cause = InboundOrigin(source: source.id, request: request.id).cause
                for index in emissions.indices { emissions[index].cause = cause }
                receipt = try await emit(emissions, source.caller)
            }
            finish(request, source) { $0.note(receipt) }
            return receipt
        } catch {
            finish(request, source) { $0.note(error, of: post) }
            await report(error, source)
            throw error
        }
    }

    private func emissions(
        of post: InboundPost, _ source: Source, _ identity: DeliveryIdentity
    ) throws(ChatError) -> [Emission] {
        var emissions: [Emission] = []
        let mapping = source.settings.mapping
        let bodies = try bodies(of: post, source, mapping, identity)
        for (mapped, rendering) in zip(bodies, mapping.render(bodies, limits: service.limits)) {
            let filled = try rendering.events.map { result throws(ChatError) in try result.get() }
            emissions += Self.named(filled, identity, mapped.body, source.id)
        }
        return emissions
    }

    /// The bodies to map: more than one only of a batch of CloudEvents.
    func bodies(
        of post: InboundPost, _ source: Source, _ mapping: Mapping, _ identity: DeliveryIdentity
    ) throws(ChatError) -> [MappedPost] {
        var isNeeded = !mapping.needs.isDisjoint(with: [.body, .form, .cloudevent])
        if case .bodyPointer = identity { isNeeded = true }
        let bodies = isNeeded ? try PostBody.read(post, needs: mapping.needs, limits: service.limits) : [.unread]
        return bodies.map { MappedPost(source: source.id, message: post.message, query: post.query, body: $0) }
    }

    private func emit(_ emissions: [Emission], _ caller: Caller) async throws(ChatError) -> InboundReceipt {
        guard !emissions.isEmpty else { return InboundReceipt() }
        var caller = caller
        caller.meters = service.keyring.app(caller.app)?.meters
        do throws(ChatError) {
            return InboundReceipt(events: try await service.chat(for: caller).emit(emissions).events)
        } catch {
            // A name the sender's body made up: understood, and refused for its meaning.
            guard error.code == .malformed else { throw error }
            throw ChatError(
                .invalid, "the mapping gives an event that is refused: \(error.message)", slug: "mapping_failed")
        }
    }

    /// Gives the events the sender's own name of the delivery, so that a repeat is recognised (`conventions.md` 6).
    private static func named(
        _ emissions: [Emission], _ identity: DeliveryIdentity, _ body: PostBody, _ source: String
    ) -> [Emission] {
        guard let id = body.cloudEvent?.identity ?? id(identity, body), !id.isEmpty else { return emissions }
        // An id may be of any length; the key may not.
        let short = id.utf8.count <= 128 ? id : Hex.encode(sha256(Array(id.utf8)))
        return emissions.enumerated().map { index, emission in
            var emission = emission
            // An id may have slashes: it stands last, or another could look like it with the index.
            emission.deduplicationKey = "in/\(source)/\(index)/\(short)"
            return emission
        }
    }

    private static func id(_ identity: DeliveryIdentity, _ body: PostBody) -> String? {
        switch identity {
        case .none: nil
        case .value(let id): id
        case .bodyPointer(let pointer): body.text(at: pointer)
        }
    }

    // MARK: Telling

    private func note(_ rejection: SignatureRejection, of source: Source) {
        guard let unsaid = rejectionLines.admit(source.path) else { return }
        logger.notice(
            "signature not accepted",
            metadata: [
                "source": "\(source.id)", "app": "\(source.app.name)", "reason": "\(rejection)",
                "unsaid": "\(unsaid)",
            ])
    }

    /// Tells the app's operators that a post of a known sender was turned away.
    private func report(_ error: ChatError, _ source: Source) async {
        guard [.malformed, .invalid, .tooLarge, .forbidden].contains(error.code) else { return }
        guard let unsaid = rejectionEvents.admit(source.path) else { return }
        let data = JSONText { writer in
            writer.beginObject()
            writer.member("source", source.id)
            writer.member("reason", error.message)
            if let slug = error.slug { writer.member("code", slug) }
            writer.member("errors", error.faults.prefix(10).map { "\($0.pointer): \($0.detail)" })
            if unsaid > 0 { writer.member("unreported_before", unsaid) }
            writer.endObject()
        }
        do throws(ChatError) {
            try await service.report("source.rejected", data: data, in: source.app)
        } catch {
            // The sender has its answer; only the operators' notice is missing.
            logger.warning(
                "source.rejected not reported", metadata: ["source": "\(source.id)", "error": "\(error.message)"])
        }
    }
}

/// How often something may be said about each of some names: a few times in a row, then once in a while, with the number
/// of what was left unsaid. Keeps strangers from filling the log.
final class LogRateLimit: Sendable {
    private struct Bucket {
        var tokens: Double
        var filled: ContinuousClock.Instant
        var suppressed = 0
    }

    /// Names remembered; beyond it all are forgotten, which at worst says a little more.
    private static let mostNames = 4096

    private let buckets = Lock<[String: Bucket]>([:])
    private let burst: Double
    private let interval: Duration

    /// - Parameters:
    ///   - burst: how often in a row.
    ///   - interval: after which one more may be said.
    init(burst: Int, interval: Duration) {
        self.burst = Double(burst)
        self.interval = interval
    }

    /// How many were left unsaid before this one, which may be said; nil when it may not.
    func admit(_ name: String, at now: ContinuousClock.Instant = .now) -> Int? {
        buckets.withLock { buckets in
            if buckets.count >= Self.mostNames, buckets[name] == nil { buckets.removeAll() }
            var bucket = buckets[name] ?? Bucket(tokens: burst, filled: now)
            bucket.tokens = min(burst, bucket.tokens + (now - bucket.filled) / interval)
            bucket.filled = now
            guard bucket.tokens >= 1 else {
                bucket.suppressed += 1
                buckets[name] = bucket
                return nil
            }
            let suppressed = bucket.suppressed
            bucket.tokens -= 1
            bucket.suppressed = 0
            buckets[name] = bucket
            return suppressed
        }
    }
}
