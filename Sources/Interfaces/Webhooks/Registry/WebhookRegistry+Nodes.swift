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
            self?.otherStates.forget()
            for subscriber in Self.subscribers(argument) {
                await self?.resetCircuitHere(of: subscriber, forgetsFailures: argument["failures"]?.boolean ?? false)
            }
            return .null
        }
    }

    /// The states of webhooks of one app on all nodes together, in the same order. The states on other nodes may be a
    /// second old. A node that does not answer is left out.
    func states(of subscribers: [SubscriberID]) async -> [WebhookState] {
        let own = statesHere(of: subscribers)
        guard !subscribers.isEmpty, service.nodes.node != 0 else { return own }
        return Self.sum(own, await otherStates.states(of: subscribers) { await self.readOtherStates(of: subscribers) })
    }

    /// The states of webhooks of one app on each of the other nodes.
    private func readOtherStates(of subscribers: [SubscriberID]) async -> [[WebhookState]] {
        let argument = Self.argument(subscribers)
        let answers = try? await service.nodes.callAll(Self.stateCall, argument, for: subscribers[0].app)
        return (answers?.all ?? []).map { _, answer in
            ((try? JSONDocument(answer))?.root["states"]?.elements ?? []).map { WebhookState($0) }
        }
    }

    private static func sum(_ own: [WebhookState], _ others: [[WebhookState]]) -> [WebhookState] {
        var states = own
        for other in others where other.count == states.count {
            for (index, state) in other.enumerated() { states[index].add(state) }
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
        let others = await readOtherStates(of: [runtime.subscriber])
        let states = Self.sum(statesHere(of: [runtime.subscriber]), others)
        guard let success = states[0].lastSuccess else { return false }
        return runtime.follow(successAt: success, now: service.clock.now)
    }

    func callReset(of subscriber: SubscriberID, forgetsFailures: Bool) async throws(ChatError) {
        let argument = Self.argument([subscriber], forgetsFailures: forgetsFailures)
        defer { otherStates.forget() }
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
