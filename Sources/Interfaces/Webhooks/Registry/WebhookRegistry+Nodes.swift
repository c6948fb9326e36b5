import ChatCore
import ChatModel
import JSON
import Locking

/// The calls between nodes about webhooks. Attempts of one webhook may be made by one node after the other, and each
/// node has the state of its own attempts in memory.
extension WebhookRegistry {
    private static let stateCall = "webhook.states"
    private static let resetCall = "webhook.reset"

    func answerCalls() {
        service.nodes.answer(Self.stateCall) { [weak self] argument in
            let subscribers = Self.subscribers(argument)
            guard let states = self?.statesHere(of: subscribers) else { throw Self.unknown }
            return JSONText { writer in
                writer.beginObject()
                writer.key("states")
                writer.beginArray()
                for state in states { state.print(to: &writer) }
                writer.endArray()
                writer.endObject()
            }
        }
        service.nodes.answer(Self.resetCall) { [weak self] argument in
            for subscriber in Self.subscribers(argument) {
                await self?.resetCircuitHere(of: subscriber, forgetsFailures: argument["failures"]?.boolean ?? false)
            }
            return .null
        }
    }

    /// The states of webhooks of one app on all nodes together, in the same order. A node that does not answer is left
    /// out.
    func states(of subscribers: [SubscriberID]) async -> [WebhookState] {
        var states = statesHere(of: subscribers)
        guard !subscribers.isEmpty else { return states }
        let argument = Self.argument(subscribers)
        let answers = try? await service.nodes.callAll(Self.stateCall, argument, for: subscribers[0].app)
        for (_, answer) in answers?.all ?? [] {
            let others = (try? JSONDocument(answer))?.root["states"]?.elements ?? []
            guard others.count == states.count else { continue }
            for (index, other) in others.enumerated() { states[index].add(WebhookState(other)) }
        }
        return states
    }

    private func statesHere(of subscribers: [SubscriberID]) -> [WebhookState] {
        let now = service.clock.now
        let runtimes = snapshot.withLock { snapshot in subscribers.map { snapshot.runtime(of: $0) } }
        return runtimes.map { WebhookState($0, at: now) }
    }

    /// The webhooks with their states on all nodes.
    func withHealth(_ webhooks: [Webhook]) async -> [Webhook] {
        let states = await states(of: webhooks.map(\.subscriber))
        return zip(webhooks, states).map { webhook, state in
            var webhook = webhook
            (webhook.failingSince, webhook.lastError) = (state.failingSince, state.lastError)
            webhook.circuit = state.circuit
            return webhook
        }
    }

    /// Returns true when another node has delivered to a webhook since this node's failures began. This node then counts
    /// its failures anew.
    func hasSucceededElsewhere(_ runtime: WebhookRuntime) async -> Bool {
        guard let success = await states(of: [runtime.subscriber])[0].lastSuccess else { return false }
        return runtime.follow(successAt: success, now: service.clock.now)
    }

    func callReset(of subscriber: SubscriberID, forgetsFailures: Bool) async throws(ChatError) {
        let argument = Self.argument([subscriber], forgetsFailures: forgetsFailures)
        _ = try await service.nodes.callAll(Self.resetCall, argument, for: subscriber.app)
    }

    private static func argument(_ subscribers: [SubscriberID], forgetsFailures: Bool = false) -> JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("app", subscribers[0].app.name)
            writer.member("webhooks", subscribers.map(\.name))
            writer.member("failures", forgetsFailures)
            writer.endObject()
        }
    }

    private static func subscribers(_ argument: JSONValue) -> [SubscriberID] {
        let app = AppID(argument["app"]?.string ?? "")
        return (argument["webhooks"]?.strings ?? []).map { SubscriberID($0, in: app) }
    }
}
