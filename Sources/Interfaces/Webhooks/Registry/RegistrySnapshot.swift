import ChatModel
import Locking

/// The webhooks and subscriptions of all apps in memory, as the directory last said.
struct RegistrySnapshot: Sendable {
    private struct App: Sendable {
        var webhooks: [String: CachedWebhook] = [:]
        var subscriptions: [String: Subscription] = [:]
        /// Webhooks whose record is there and cannot be read. In `webhooks` stands what is known of one all the same, as it
        /// was before or as much as can be read: what is owed to it is planned on, and held.
        var unreadable: Set<String> = []
        /// Made when first asked for after a change: a thousand changes in a row cost one compilation.
        var compiled: AppSubscribers?

        var isEmpty: Bool { webhooks.isEmpty && subscriptions.isEmpty && unreadable.isEmpty }
    }

    /// What the planner asks of an app.
    private struct AppSubscribers: Sendable {
        let matcher: WebhookMatcher
        /// Before this nothing can match.
        let since: Timetoken?
    }

    private var apps: [AppID: App] = [:]

    subscript(subscriber: SubscriberID) -> Webhook? { known(subscriber)?.webhook }

    func known(_ subscriber: SubscriberID) -> CachedWebhook? { apps[subscriber.app]?.webhooks[subscriber.name] }

    /// A webhook that posts may be made for now.
    func enabled(_ subscriber: SubscriberID) -> CachedWebhook? {
        guard let known = known(subscriber), known.webhook.status == .enabled, !isUnreadable(subscriber) else {
            return nil
        }
        return known
    }

    /// Webhooks and subscriptions.
    func count(in app: AppID) -> Int {
        apps[app].map { $0.webhooks.count + $0.subscriptions.count } ?? 0
    }

    /// Webhooks of an app, those that cannot be read among them.
    func subscribers(in app: AppID) -> [SubscriberID] {
        guard let entry = apps[app] else { return [] }
        return entry.unreadable.union(entry.webhooks.keys).map { SubscriberID($0, in: app) }
    }

    func subscription(_ subscriber: SubscriberID) -> Subscription? {
        apps[subscriber.app]?.subscriptions[subscriber.name]
    }

    func subscriptions(in app: AppID) -> [SubscriberID] {
        apps[app]?.subscriptions.keys.map { SubscriberID($0, in: app) } ?? []
    }

    func isKnown(_ subscriber: SubscriberID) -> Bool {
        self[subscriber] != nil || isUnreadable(subscriber) || subscription(subscriber) != nil
    }

    func isUnreadable(_ subscriber: SubscriberID) -> Bool {
        apps[subscriber.app]?.unreadable.contains(subscriber.name) ?? false
    }

    var unreadableCount: Int { apps.values.reduce(0) { $0 + $1.unreadable.count } }

    /// The apps that have subscribers.
    var appIDs: [AppID] { Array(apps.keys) }

    var all: [Webhook] { apps.values.flatMap { $0.webhooks.values.map(\.webhook) } }

    /// Before this nothing of the app can match; nil where there is nobody to tell.
    mutating func earliestSince(in app: AppID) -> Timetoken? { compiled(in: app)?.since }

    /// The channels of webhooks that are enabled, and of subscriptions, which have named `channel.activity`.
    func activityChannels(in app: AppID) -> [ChannelSet] {
        guard let entry = apps[app] else { return [] }
        let webhooks = entry.webhooks.values.map(\.webhook).filter { $0.status == .enabled }.map(\.settings)
        let settings = webhooks + entry.subscriptions.values.map(\.settings.selection)
        return settings.filter { $0.types.contains(where: \.isNamedOnly) }
            .map { ChannelSet(app: app, patterns: $0.channels) }
    }

    mutating func matcher(for app: AppID) -> WebhookMatcher? { compiled(in: app)?.matcher }

    private mutating func compiled(in app: AppID) -> AppSubscribers? {
        if let compiled = apps[app]?.compiled { return compiled }
        guard let entry = apps[app] else { return nil }
        let webhooks = entry.webhooks.values.map(\.webhook)
        let subscribers = AppSubscribers(
            matcher: WebhookMatcher(webhooks, entry.subscriptions.values),
            since: (webhooks.map(\.since) + entry.subscriptions.values.map(\.since)).min())
        apps[app]?.compiled = subscribers
        return subscribers
    }

    /// Takes a webhook as it is now; nil when it was removed.
    mutating func apply(_ subscriber: SubscriberID, _ webhook: Webhook?) {
        var app = apps[subscriber.app] ?? App()
        app.webhooks[subscriber.name] = webhook.map(CachedWebhook.init)
        app.unreadable.remove(subscriber.name)
        app.compiled = nil
        apps[subscriber.app] = app.isEmpty ? nil : app
    }

    /// Takes a subscription as it is now; nil when it was removed.
    mutating func apply(_ subscriber: SubscriberID, subscription: Subscription?) {
        var app = apps[subscriber.app] ?? App()
        app.subscriptions[subscriber.name] = subscription
        app.compiled = nil
        apps[subscriber.app] = app.isEmpty ? nil : app
    }

    /// The webhook is there, but nobody can say what it is.
    /// - Parameter selection: what it is told of, for one that is seen for the first time; nil: unknown.
    mutating func setUnreadable(_ subscriber: SubscriberID, _ selection: Webhook?) {
        var app = apps[subscriber.app] ?? App()
        app.unreadable.insert(subscriber.name)
        if let selection, app.webhooks[subscriber.name] == nil {
            app.webhooks[subscriber.name] = CachedWebhook(selection)
            app.compiled = nil
        }
        apps[subscriber.app] = app
    }

    /// Forgets an app; returns what it had.
    mutating func drop(_ app: AppID) -> [SubscriberID] {
        defer { apps[app] = nil }
        return subscribers(in: app) + subscriptions(in: app)
    }
}

/// A webhook as the registry last heard of it, with what its posts have in common. A class: each delivery asks for it, and a
/// webhook has many parts.
final class CachedWebhook: Sendable {
    let webhook: Webhook
    /// Made when the first post is, and again when one of its secrets has ended.
    private let plan = Lock<PostPlan?>(nil)

    init(_ webhook: Webhook) { self.webhook = webhook }

    func plan(at now: Timetoken, _ plans: PostPlans) -> PostPlan {
        if let plan = plan.withLock({ $0 }), plan.isCurrent(at: now) { return plan }
        let made = plans.plan(for: webhook, at: now)
        plan.withLock { $0 = made }
        return made
    }
}
