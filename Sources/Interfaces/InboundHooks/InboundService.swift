public import ChatCore
public import ChatModel
public import JSON
public import Logging
import Signing

/// Inbound hooks: posts of other services become events. See `docs/sources.md`.
public final class InboundService: Sendable {
    /// The administration of sources.
    public let registry: SourceRegistry
    /// The receiver of posts.
    public let receiver: PostReceiver

    /// Creates the service. Call `run` before using it.
    public init(service: ChatService, logger: Logger) {
        registry = SourceRegistry(service: service, logger: logger)
        receiver = PostReceiver(registry: registry, logger: logger)
    }

    /// Loads the sources and follows their changes until the task is cancelled or the engine closes. The chat service
    /// must be running, with its keyring loaded.
    ///
    /// - Parameter whenReady: called once, when all sources are loaded.
    public func run(whenReady: @escaping @Sendable () -> Void = {}) async throws {
        let revision = try await registry.load()
        whenReady()
        await withDiscardingTaskGroup { group in
            group.addTask { await self.registry.archive.run() }
            await registry.follow(from: revision)
            group.cancelAll()
        }
    }
}

extension PostReceiver {
    /// Processes a post as its source would, and stores nothing. Requires the scope `manage`.
    ///
    /// - Parameter draft: the mapping to use; nil for the source's own mapping.
    /// - Throws: `.notFound` when there is no such source; `.forbidden` without `manage`; `.tooLarge` for a body above
    ///   the limit; `.malformed` for a draft with errors. Errors of the body or of the mapping are part of the result.
    public func test(
        _ post: InboundPost, for id: String, mapping draft: JSONText? = nil, by caller: Caller
    ) async throws(ChatError) -> MappingTestResult {
        let source = try await registry.source(id, by: caller)
        try checkSize(post)
        let mapping = try Self.mapping(draft, of: source)
        var trial = MappingTestResult(isVerified: true)
        trial.mappingVersion = draft == nil ? source.mappingVersion : nil
        let identity = verify(post, source, &trial)
        trial.handshake = post.method == "POST" ? source.settings.answerVerified(post) : source.settings.answer(post)
        guard trial.handshake == nil else { return trial }
        await render(post, source, mapping, identity, &trial)
        return trial
    }

    /// Processes a logged request again and stores nothing. The signature is not verified again. The caller must have
    /// the right to change the source.
    ///
    /// - Throws: the errors of the test of a post; `.invalid` with the slug `not_replayable` when the log contains only
    ///   a part of the body.
    public func test(
        request: InboundRequest, for id: String, mapping draft: JSONText?, by caller: Caller
    ) async throws(ChatError) -> MappingTestResult {
        let source = try await reached(id, by: caller)
        try Self.requireComplete(request)
        let mapping = try Self.mapping(draft, of: source)
        var trial = MappingTestResult(isVerified: request.identity != nil)
        trial.secretIndex = request.secretIndex
        trial.rejection = request.identity == nil ? request.reason : nil
        trial.mappingVersion = draft == nil ? source.mappingVersion : nil
        await render(request.post(url: nil), source, mapping, request.identity ?? .none, &trial)
        return trial
    }

    private func verify(_ post: InboundPost, _ source: Source, _ trial: inout MappingTestResult) -> DeliveryIdentity {
        guard !Self.isEncoded(post, for: source) else {
            trial.isVerified = false
            trial.rejection = Self.encodingRefusal
            return .none
        }
        do throws(SignatureRejection) {
            // Settings are checked before they are stored, so this fails only for an invalid record. Posts to such a
            // source are never verified.
            let verifiers = try? source.settings.verifiers()
            guard let verifiers else { throw .mismatch }
            let proof = try SignatureProof(post.message, verifiers, at: service.clock.now.unixSeconds)
            trial.secretIndex = proof.secretIndex
            return proof.identity
        } catch {
            trial.isVerified = false
            trial.rejection = error.description
            return .none
        }
    }

    private static func mapping(_ draft: JSONText?, of source: Source) throws(ChatError) -> Mapping {
        guard let draft else { return source.settings.mapping }
        return try Mapping(draft, at: "#/mapping")
    }

    /// Renders the mapping for a tested post, and adds the events and the errors to `trial`. Events are rendered even
    /// if the signature is invalid, because the owner of a source may test a body without a signature.
    private func render(
        _ post: InboundPost, _ source: Source, _ mapping: Mapping, _ identity: DeliveryIdentity,
        _ trial: inout MappingTestResult
    ) async {
        do throws(ChatError) {
            let renderings = mapping.render(
                try bodies(of: post, source, mapping, identity), limits: service.limits)
            trial.dropped = renderings.reduce(0) { $0 + $1.dropped }
            let events = renderings.flatMap(\.events)
            var work = ValidationBudget()
            let admitted = try await service.chat(for: source.caller).prepare(events, within: &work).results
            for (event, admitted) in zip(events, admitted) {
                switch event {
                case .success(let draft): trial.outcomes.append(Self.outcome(draft, admitted))
                case .failure(let error): trial.errors.append(error)
                }
            }
        } catch {
            trial.errors.append(error)
        }
    }

    private static func outcome(
        _ rendered: EventDraft, _ admitted: Result<EventDraft, ChatError>
    ) -> MappingTestResult.Outcome {
        switch admitted {
        case .success(let draft): MappingTestResult.Outcome(rendered: rendered, prepared: draft, refusal: nil)
        case .failure(let error): MappingTestResult.Outcome(rendered: rendered, prepared: nil, refusal: error)
        }
    }
}
