import ChatModel
import Locking

/// The webhooks and subscriptions of all apps in memory, as they were last read from their records.
struct RegistrySnapshot: Sendable {
    private struct App: Sendable {
        var webhooks: [String: CachedWebhook] = [:]
        var subscriptions: [String: Subscription] = [:]
        /// The webhooks whose records exist but cannot be read. For each of them, `webhooks` contains the earlier state
        /// or the readable part. Deliveries to these webhooks are still planned, but they wait until the record can be
        /// read.
        var unreadable: Set<String> = []
        /// The runtime state (``WebhookRuntime``) of each webhook and subscription.
        var runtimes: [String: WebhookRuntime] = [:]
        /// The index of the webhooks and subscriptions, which the planner uses.
        var matcher = WebhookMatcher()

        var isEmpty: Bool { webhooks.isEmpty && subscriptions.isEmpty && unreadable.isEmpty }

        /// Updates the matcher after a change of a subscriber. Also creates the runtime state of a new subscriber, and
        /// removes the runtime state of a deleted subscriber.
        mutating func update(_ name: String, in app: AppID) {
            let entry =
                webhooks[name].map { WebhookMatcher.Entry($0.webhook) }
                ?? subscriptions[name].map { WebhookMatcher.Entry($0) }
            matcher.set(entry, of: name)
            let isKnown = entry != nil || unreadable.contains(name)
            runtimes[name] = isKnown ? runtimes[name] ?? WebhookRuntime(SubscriberID(name, in: app)) : nil
        }
    }

    private var apps: [AppID: App] = [:]

    subscript(subscriber: SubscriberID) -> Webhook? { known(subscriber)?.webhook }

    func known(_ subscriber: SubscriberID) -> CachedWebhook? { apps[subscriber.app]?.webhooks[subscriber.name] }

    /// The runtime state of a webhook or subscription; nil when it is unknown.
    func runtime(of subscriber: SubscriberID) -> WebhookRuntime? { apps[subscriber.app]?.runtimes[subscriber.name] }

    var runtimes: [WebhookRuntime] { apps.values.flatMap { $0.runtimes.values } }

    /// The webhook if posts may be sent to it now; nil otherwise.
    func enabled(_ subscriber: SubscriberID) -> CachedWebhook? {
        guard let known = known(subscriber), known.webhook.status == .enabled, !isUnreadable(subscriber) else {
            return nil
        }
        return known
    }

    /// The number of webhooks and subscriptions of an app.
    func count(in app: AppID) -> Int {
        apps[app].map { $0.webhooks.count + $0.subscriptions.count } ?? 0
    }

    /// The webhooks of an app, including webhooks whose records cannot be read.
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

    /// The apps that have webhooks or subscriptions.
    var appIDs: [AppID] { Array(apps.keys) }

    var all: [Webhook] { apps.values.flatMap { $0.webhooks.values.map(\.webhook) } }

    /// The channels of a subscriber that receives the type `channel.activity`: an enabled webhook or a subscription that
    /// names this type. Nil for any other subscriber.
    func activityChannels(of subscriber: SubscriberID) -> ChannelSet? {
        let webhook = self[subscriber].flatMap { $0.status == .enabled ? $0.settings : nil }
        guard let settings = webhook ?? subscription(subscriber)?.settings.selection,
            settings.types.contains(where: \.isNamedOnly)
        else { return nil }
        return ChannelSet(app: subscriber.app, patterns: settings.channels)
    }

    /// The matcher of an app; nil when the app has no webhooks and no subscriptions. Release the matcher soon: a change of
    /// the app's webhooks copies a matcher that is still in use.
    func matcher(for app: AppID) -> WebhookMatcher? { apps[app]?.matcher }

    /// Sets a webhook to its current state. `webhook` is nil when the webhook was removed.
    mutating func apply(_ subscriber: SubscriberID, _ webhook: Webhook?) {
        change(subscriber) { app in
            app.webhooks[subscriber.name] = webhook.map(CachedWebhook.init)
            app.unreadable.remove(subscriber.name)
        }
    }

    /// Sets a subscription to its current state. `subscription` is nil when the subscription was removed.
    mutating func apply(_ subscriber: SubscriberID, subscription: Subscription?) {
        change(subscriber) { $0.subscriptions[subscriber.name] = subscription }
    }

    /// Marks a webhook as unreadable.
    ///
    /// - Parameter selection: the readable part of a webhook that has no entry in `webhooks` yet; nil when the part is
    ///   unknown.
    mutating func setUnreadable(_ subscriber: SubscriberID, _ selection: Webhook?) {
        change(subscriber) { app in
            app.unreadable.insert(subscriber.name)
            if let selection, app.webhooks[subscriber.name] == nil {
                app.webhooks[subscriber.name] = CachedWebhook(selection)
            }
        }
    }

    /// Changes the entry of an app in place: a copy of the entry would copy all subscribers of the app.
    private mutating func change(_ subscriber: SubscriberID, _ body: (inout App) -> Void) {
        let app = subscriber.app
        body(&apps[app, default: App()])
        apps[app]?.update(subscriber.name, in: app)
        if apps[app]?.isEmpty == true { apps[app] = nil }
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
    /// The plan for the posts; nil before the first post. A new plan is made when one of the secrets has ended.
    private let plan = Lock<PostPlan?>(nil)

    init(_ webhook: Webhook) { self.webhook = webhook }

    func plan(at now: Timetoken, _ plans: PostPlans) -> PostPlan {
        if let plan = plan.withLock({ $0 }), plan.isCurrent(at: now) { return plan }
        let made = plans.plan(for: webhook, at: now)
        plan.withLock { $0 = made }
        return made
    }
}
