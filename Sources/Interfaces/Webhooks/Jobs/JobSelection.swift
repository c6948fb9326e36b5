import ChatCore
import ChatModel
import JSON
import Locking

/// Finds the deliveries that a job's scope selects, page by page. The memory use does not depend on their number.
struct JobSelection: Sendable {
    /// The number of deliveries or events examined in one step.
    static let pageSize = 250
    /// The maximum to which deliveries are counted when the store can count them without examining each of them.
    static let mostCounted = 1_000_000
    /// The maximum number of deliveries that are counted by examining each of them.
    static let mostLookedAt = 20_000

    let registry: WebhookRegistry

    private var queue: any DeliveryQueue { registry.queue }
    private var log: any EventLog { registry.service.engine.log }

    /// The deliveries of one page that belong to a job's scope.
    struct Part: Sendable {
        /// The deliveries of the queue that belong to the scope.
        var ids: [String] = []
        /// The events of the log that belong to the scope, as deliveries to plan.
        var items: [PlannedDelivery] = []
        var examined = 0
        /// The position of the next page; nil after the last page.
        var position: String?

        var count: Int { ids.count + items.count }
    }

    func part(
        of scope: DeliveryScope, in app: AppID, at position: String?, limit: Int
    ) async throws(ChatError) -> Part {
        scope.only == .all
            ? try await eventsPart(of: scope, in: app, at: position, limit: limit)
            : try await queuePart(of: scope, in: app, at: position, limit: limit)
    }

    private func queuePart(
        of scope: DeliveryScope, in app: AppID, at position: String?, limit: Int
    ) async throws(ChatError) -> Part {
        var query = scope.query(in: app, limit: limit)
        query.cursor = position
        let page = try await queue.list(query)
        var part = Part(examined: page.items.count, position: page.cursor)
        for delivery in page.items where scope.admits(type: delivery.type, channel: delivery.channel) {
            if let filter = scope.filter {
                // An event that is no longer stored cannot be examined, so it does not match.
                guard let event = try await log.event(at: delivery.event, in: app), filter.accepts(event) else {
                    continue
                }
            }
            part.ids.append(delivery.id)
        }
        return part
    }

    /// Selects from a page of the log: all events that the webhook matches now, whatever their age.
    private func eventsPart(
        of scope: DeliveryScope, in app: AppID, at position: String?, limit: Int
    ) async throws(ChatError) -> Part {
        guard let id = scope.webhook else { throw ChatError(.malformed, "a replay of all events must name a webhook") }
        var webhook = try await registry.current(SubscriberID(id, in: app))
        webhook.since = .zero
        let matcher = WebhookMatcher([WebhookMatcher.Entry(webhook)])
        let start = position.flatMap { Timetoken(text: $0) } ?? scope.after
        let channels = ChannelSet(app: app, names: [ChannelID.systemName], isAll: true)
        let page = try await log.events(in: channels, after: start, limit: limit)
        var part = Part()
        for event in page.items where event.timetoken < scope.before {
            part.examined += 1
            guard scope.admits(event) else { continue }
            matcher.visit(event) { part.items.append(PlannedDelivery(event, to: $0)) }
        }
        let isOver = !page.hasMore || page.position >= scope.before
        part.position = isOver ? nil : page.position.description
        return part
    }

    /// Counts the deliveries in the scope, up to a limit. `isExact` is false when the limit was reached.
    func count(_ scope: DeliveryScope, in app: AppID) async throws(ChatError) -> (count: Int, isExact: Bool) {
        if scope.only != .all, scope.isWhole {
            let count = try await queue.counts([scope.query(in: app, limit: 1)], most: Self.mostCounted)[0]
            return (count, count < Self.mostCounted)
        }
        var (count, examined) = (0, 0)
        var position: String?
        repeat {
            let part = try await part(of: scope, in: app, at: position, limit: Self.pageSize)
            count += part.count
            examined += part.examined
            position = part.position
        } while position != nil && examined < Self.mostLookedAt
        return (count, position == nil)
    }
}
