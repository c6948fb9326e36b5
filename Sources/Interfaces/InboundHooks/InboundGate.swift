import ChatKit
public import ChatModel
import JSON
import Locking
import Logging
import Signing

/// Takes posts of other services in: checks the signature, renders the mapping, emits.
public final class InboundGate: Sendable {
    private let registry: SourceRegistry
    private let logger: Logger
    private let counters = Lock<[String: UInt64]>([:])
    /// Anyone can post with a wrong signature, so each source gets one line a minute about it.
    private let rejectionLines = Throttle(burst: 1, interval: .seconds(60))
    /// A good signature does not make a sender harmless: its mistakes must not fill the app's log.
    private let rejectionEvents = Throttle(burst: 10, interval: .seconds(6))

    init(registry: SourceRegistry, logger: Logger) {
        self.registry = registry
        self.logger = logger
    }

    private var service: ChatService { registry.service }

    /// The most bytes a post may have; enforce it before the body is read.
    public var bodyLimitBytes: Int { service.limits.inboundBodyBytes }

    /// Accepts a post. When it returns, its events are durable.
    ///
    /// - Throws: `.notFound` for an unknown source; `.unauthorized` with the slug `signature_invalid`, whatever was wrong
    ///   with the signature, and nothing is stored; `.tooLarge`; `.malformed` for a body that is no JSON; `.invalid` with
    ///   the slug `mapping_failed` and a fault for each reference without a value; what `Chat.emit` throws.
    public func accept(_ post: InboundPost, for source: String) async throws(ChatError) -> InboundReceipt {
        guard let receiver = registry.receiver(source) else { throw SourceRegistry.unknown }
        try checkSize(post)
        let message = post.message
        let identity = try verify(message, receiver)
        do throws(ChatError) {
            var emissions: [Emission] = []
            for body in try parse(post, receiver.source, identity) {
                let rendering = receiver.source.settings.mapping.render(
                    MappedPost(source: source, message: message, query: post.query, body: body), limits: service.limits)
                let filled = try rendering.events.map { result throws(ChatError) in try result.get() }
                emissions += Self.named(filled, identity, body, source)
            }
            return try await emit(emissions, receiver.source.caller)
        } catch {
            await report(error, receiver.source)
            throw error
        }
    }

    /// Tries a post out without storing anything. Demands the scope `manage`.
    /// - Throws: `.notFound`, `.forbidden`, `.tooLarge`; a body or mapping that fails is part of the answer.
    public func test(
        _ post: InboundPost, for source: String, by caller: Caller
    ) async throws(ChatError) -> InboundTrial {
        let source = try await registry.source(source, by: caller)
        try checkSize(post)
        let message = SignedMessage(body: post.body, url: post.url, headers: post.headers)
        var trial = InboundTrial(isVerified: true)
        var identity = DeliveryIdentity.none
        do throws(SignatureRejection) {
            identity = try Self.verifier(of: source)?.verify(message, at: seconds) ?? .none
        } catch {
            trial.isVerified = false
            trial.rejection = error.description
        }
        do throws(ChatError) {
            let chat = service.chat(for: source.caller)
            for body in try parse(post, source, identity) {
                let mapped = MappedPost(source: source.id, message: message, query: post.query, body: body)
                for result in source.settings.mapping.render(mapped, limits: service.limits).events {
                    switch result {
                    case .success(let emission): trial.outcomes.append(Self.outcome(emission, chat))
                    case .failure(let error): trial.errors.append(error)
                    }
                }
            }
        } catch {
            trial.errors.append(error)
        }
        return trial
    }

    /// Counters since the start: `accepted`, `duplicate`, `signature_invalid`, `rejected`.
    public var metrics: [String: UInt64] { counters.withLock { $0 } }

    // MARK: Steps

    private var seconds: Int64 { Int64(service.clock.now.rawValue / Timetoken.ticksPerSecond) }

    private func checkSize(_ post: InboundPost) throws(ChatError) {
        guard post.body.count <= bodyLimitBytes else {
            throw ChatError(.tooLarge, "a post may have at most \(bodyLimitBytes) bytes")
        }
    }

    private func verify(
        _ message: SignedMessage, _ receiver: SourceRegistry.Receiver
    ) throws(ChatError) -> DeliveryIdentity {
        guard let verifier = receiver.verifier else { return .none }
        do throws(SignatureRejection) {
            return try verifier.verify(message, at: seconds)
        } catch {
            count("signature_invalid")
            if let unsaid = rejectionLines.admit(receiver.source.id) {
                logger.notice(
                    "signature not accepted",
                    metadata: ["source": "\(receiver.source.id)", "reason": "\(error)", "unsaid": "\(unsaid)"])
            }
            throw ChatError(.unauthorized, "the signature is not valid", slug: "signature_invalid")
        }
    }

    private static func verifier(of source: Source) -> (any SignatureScheme)? {
        // Settings are compiled before they are stored; what cannot be compiled matches nothing, so no rejection is lost.
        (try? source.settings.verifier()) ?? nil
    }

    /// The bodies to map: more than one only of a batch of CloudEvents.
    private func parse(
        _ post: InboundPost, _ source: Source, _ identity: DeliveryIdentity
    ) throws(ChatError) -> [PostBody] {
        let needs = source.settings.mapping.needs
        var isNeeded = !needs.isDisjoint(with: [.body, .form, .cloudevent])
        if case .bodyPointer = identity { isNeeded = true }
        return isNeeded ? try PostBody.read(post, needs: needs, limits: service.limits) : [.unread]
    }

    private func emit(_ emissions: [Emission], _ caller: Caller) async throws(ChatError) -> InboundReceipt {
        let chat = service.chat(for: caller)
        do throws(ChatError) {
            let events = try await chat.emit(emissions).events
            count(events.allSatisfy(\.isDuplicate) ? "duplicate" : "accepted")
            return InboundReceipt(events: events)
        } catch {
            // A name the sender's body made up: understood, and refused for its meaning.
            guard error.code == .malformed else { throw error }
            throw ChatError(
                .invalid, "the mapping gives an event that is refused: \(error.message)", slug: "mapping_failed")
        }
    }

    private static func outcome(_ emission: Emission, _ chat: Chat) -> InboundTrial.Outcome {
        do throws(ChatError) {
            return InboundTrial.Outcome(emission: emission, draft: try chat.admit(emission), refusal: nil)
        } catch {
            return InboundTrial.Outcome(emission: emission, draft: nil, refusal: error)
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
            emission.deduplicationKey = "in/\(source)/\(short)" + (index == 0 ? "" : "/\(index)")
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

    /// Tells the app's operators that a post of a known sender was turned away.
    private func report(_ error: ChatError, _ source: Source) async {
        guard [.malformed, .invalid, .tooLarge, .forbidden].contains(error.code) else { return }
        count("rejected")
        guard let unsaid = rejectionEvents.admit(source.id) else { return }
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
            try await service.report("source.rejected", data: data, in: source.space)
        } catch {
            // The sender has its answer; only the operators' notice is missing.
            logger.warning(
                "source.rejected not reported", metadata: ["source": "\(source.id)", "error": "\(error.message)"])
        }
    }

    private func count(_ what: String) { counters.withLock { $0[what, default: 0] += 1 } }
}
