import ChatModel
import Locking

/// The webhooks and subscriptions of all apps in memory, as last read from the directory.
struct RegistrySnapshot: Sendable {
    private struct App: Sendable {
        var webhooks: [String: CachedWebhook] = [:]
        var subscriptions: [String: Subscription] = [:]
        /// Webhooks whose record exists and cannot be read. `webhooks` still has what is known of one, either its
        /// earlier state or the readable part: its deliveries are planned and held.
        var unreadable: Set<String> = []
        /// The state since the start, of each webhook and subscription above.
        var runtimes: [String: WebhookRuntime] = [:]
        /// Built on first use after a change: a thousand changes in a row cost one build.
        var compiled: AppSubscribers?

        var isEmpty: Bool { webhooks.isEmpty && subscriptions.isEmpty && unreadable.isEmpty }

        /// Makes the state of a subscriber that is new, and frees that of one that is gone.
        mutating func updateRuntime(of subscriber: SubscriberID) {
            let name = subscriber.name
            let isKnown = webhooks[name] != nil || subscriptions[name] != nil || unreadable.contains(name)
            runtimes[name] = isKnown ? runtimes[name] ?? WebhookRuntime(subscriber) : nil
        }
    }

    /// The subscribers of an app, as the planner needs them.
    private struct AppSubscribers: Sendable {
        let matcher: WebhookMatcher
        /// No event before this position can match.
        let since: Timetoken?
    }

    private var apps: [AppID: App] = [:]

    subscript(subscriber: SubscriberID) -> Webhook? { known(subscriber)?.webhook }

    func known(_ subscriber: SubscriberID) -> CachedWebhook? { apps[subscriber.app]?.webhooks[subscriber.name] }

    /// The state of a webhook or subscription since the start; nil when it is unknown.
    func runtime(of subscriber: SubscriberID) -> WebhookRuntime? { apps[subscriber.app]?.runtimes[subscriber.name] }

    var runtimes: [WebhookRuntime] { apps.values.flatMap { $0.runtimes.values } }

    /// A webhook to which posts may be sent now; nil otherwise.
    func enabled(_ subscriber: SubscriberID) -> CachedWebhook? {
        guard let known = known(subscriber), known.webhook.status == .enabled, !isUnreadable(subscriber) else {
            return nil
        }
        return known
    }

    /// The number of webhooks and subscriptions.
    func count(in app: AppID) -> Int {
        apps[app].map { $0.webhooks.count + $0.subscriptions.count } ?? 0
    }

    /// The webhooks of an app, including those that cannot be read.
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

    /// The apps with subscribers.
    var appIDs: [AppID] { Array(apps.keys) }

    var all: [Webhook] { apps.values.flatMap { $0.webhooks.values.map(\.webhook) } }

    /// No event of the app before this position can match; nil when the app has no subscribers.
    mutating func earliestSince(in app: AppID) -> Timetoken? { compiled(in: app)?.since }

    /// The channels of enabled webhooks and of subscriptions that have named `channel.activity`.
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

    /// Sets a webhook to its current state; nil when it was removed.
    mutating func apply(_ subscriber: SubscriberID, _ webhook: Webhook?) {
        var app = apps[subscriber.app] ?? App()
        app.webhooks[subscriber.name] = webhook.map(CachedWebhook.init)
        app.unreadable.remove(subscriber.name)
        app.updateRuntime(of: subscriber)
        app.compiled = nil
        apps[subscriber.app] = app.isEmpty ? nil : app
    }

    /// Sets a subscription to its current state; nil when it was removed.
    mutating func apply(_ subscriber: SubscriberID, subscription: Subscription?) {
        var app = apps[subscriber.app] ?? App()
        app.subscriptions[subscriber.name] = subscription
        app.updateRuntime(of: subscriber)
        app.compiled = nil
        apps[subscriber.app] = app.isEmpty ? nil : app
    }

    /// Marks a webhook as unreadable.
    ///
    /// - Parameter selection: the readable part of a webhook that is seen for the first time; nil when it is unknown.
    mutating func setUnreadable(_ subscriber: SubscriberID, _ selection: Webhook?) {
        var app = apps[subscriber.app] ?? App()
        app.unreadable.insert(subscriber.name)
        app.updateRuntime(of: subscriber)
        if let selection, app.webhooks[subscriber.name] == nil {
            app.webhooks[subscriber.name] = CachedWebhook(selection)
            app.compiled = nil
        }
        apps[subscriber.app] = app
    }

    /// Removes an app; returns its subscribers.
    mutating func drop(_ app: AppID) -> [SubscriberID] {
        defer { apps[app] = nil }
        return subscribers(in: app) + subscriptions(in: app)
    }
}

/// A webhook as the registry last read it, with the parts that all its posts share. A class, because each delivery
/// reads it and a webhook has many fields.
final class CachedWebhook: Sendable {
    let webhook: Webhook
    /// Built with the first post, and rebuilt when one of its secrets has ended.
    private let plan = Lock<PostPlan?>(nil)

    init(_ webhook: Webhook) { self.webhook = webhook }

    func plan(at now: Timetoken, _ plans: PostPlans) -> PostPlan {
        if let plan = plan.withLock({ $0 }), plan.isCurrent(at: now) { return plan }
        let made = plans.plan(for: webhook, at: now)
        plan.withLock { $0 = made }
        return made
    }
}
