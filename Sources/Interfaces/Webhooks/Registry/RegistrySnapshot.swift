import ChatModel

/// The webhooks and subscriptions of all apps in memory, as the directory last said.
struct RegistrySnapshot: Sendable {
    private struct App: Sendable {
        var webhooks: [String: KnownWebhook] = [:]
        var subscriptions: [String: Subscription] = [:]
        /// Webhooks whose record is there and cannot be read. In `webhooks` stands what is known of one all the same, as it
        /// was before or as much as can be read: what is owed to it is planned on, and held.
        var unreadable: Set<String> = []
        /// Made when first asked for after a change: a thousand changes in a row cost one compilation.
        var told: Told?

        var isEmpty: Bool { webhooks.isEmpty && subscriptions.isEmpty && unreadable.isEmpty }
    }

    /// What the planner asks of an app.
    private struct Told: Sendable {
        let matcher: WebhookMatcher
        /// Before this nothing can match.
        let since: Timetoken?
    }

    private var apps: [AppID: App] = [:]

    subscript(endpoint: EndpointID) -> Webhook? { known(endpoint)?.webhook }

    func known(_ endpoint: EndpointID) -> KnownWebhook? { apps[endpoint.app]?.webhooks[endpoint.name] }

    /// A webhook that posts may be made for now.
    func enabled(_ endpoint: EndpointID) -> KnownWebhook? {
        guard let known = known(endpoint), known.webhook.status == .enabled, !isUnreadable(endpoint) else { return nil }
        return known
    }

    /// Webhooks and subscriptions.
    func count(in app: AppID) -> Int {
        apps[app].map { $0.webhooks.count + $0.subscriptions.count } ?? 0
    }

    /// Webhooks of an app, those that cannot be read among them.
    func endpoints(in app: AppID) -> [EndpointID] {
        guard let app = apps[app] else { return [] }
        return app.unreadable.union(app.webhooks.keys).map { EndpointID($0, in: app) }
    }

    func subscription(_ endpoint: EndpointID) -> Subscription? { apps[endpoint.app]?.subscriptions[endpoint.name] }

    func subscriptions(in app: AppID) -> [EndpointID] {
        apps[app]?.subscriptions.keys.map { EndpointID($0, in: app) } ?? []
    }

    func isKnown(_ endpoint: EndpointID) -> Bool {
        self[endpoint] != nil || isUnreadable(endpoint) || subscription(endpoint) != nil
    }

    func isUnreadable(_ endpoint: EndpointID) -> Bool {
        apps[endpoint.app]?.unreadable.contains(endpoint.name) ?? false
    }

    var unreadableCount: Int { apps.values.reduce(0) { $0 + $1.unreadable.count } }

    /// Apps that are to be told of something.
    var apps: [AppID] { Array(apps.keys) }

    var all: [Webhook] { apps.values.flatMap { $0.webhooks.values.map(\.webhook) } }

    /// Before this nothing of the app can match; nil where there is nobody to tell.
    mutating func earliestSince(in app: AppID) -> Timetoken? { told(in: app)?.since }

    /// The channels of webhooks that are enabled, and of subscriptions, which have named `channel.activity`.
    func activityChannels(in app: AppID) -> [ChannelSet] {
        guard let app = apps[app] else { return [] }
        let webhooks = app.webhooks.values.map(\.webhook).filter { $0.status == .enabled }.map(\.settings)
        let settings = webhooks + app.subscriptions.values.map(\.settings.selection)
        return settings.filter { $0.types.contains(where: \.isNamedOnly) }
            .map { ChannelSet(app: app, patterns: $0.channels) }
    }

    mutating func matcher(for app: AppID) -> WebhookMatcher? { told(in: app)?.matcher }

    private mutating func told(in app: AppID) -> Told? {
        if let told = apps[app]?.told { return told }
        guard let app = apps[app] else { return nil }
        let webhooks = app.webhooks.values.map(\.webhook)
        let told = Told(
            matcher: WebhookMatcher(webhooks, app.subscriptions.values),
            since: (webhooks.map(\.since) + app.subscriptions.values.map(\.since)).min())
        apps[app]?.told = told
        return told
    }

    /// Takes a webhook as it is now; nil when it was removed.
    mutating func apply(_ endpoint: EndpointID, _ webhook: Webhook?) {
        var app = apps[endpoint.app] ?? App()
        app.webhooks[endpoint.name] = webhook.map(KnownWebhook.init)
        app.unreadable.remove(endpoint.name)
        app.told = nil
        apps[endpoint.app] = app.isEmpty ? nil : app
    }

    /// Takes a subscription as it is now; nil when it was removed.
    mutating func apply(_ endpoint: EndpointID, subscription: Subscription?) {
        var app = apps[endpoint.app] ?? App()
        app.subscriptions[endpoint.name] = subscription
        app.told = nil
        apps[endpoint.app] = app.isEmpty ? nil : app
    }

    /// The webhook is there, but nobody can say what it is.
    /// - Parameter selection: what it is told of, for one that is seen for the first time; nil: unknown.
    mutating func setUnreadable(_ endpoint: EndpointID, _ selection: Webhook?) {
        var app = apps[endpoint.app] ?? App()
        app.unreadable.insert(endpoint.name)
        if let selection, app.webhooks[endpoint.name] == nil {
            app.webhooks[endpoint.name] = KnownWebhook(selection)
            app.told = nil
        }
        apps[endpoint.app] = app
    }

    /// Forgets an app; returns what it had.
    mutating func drop(_ app: AppID) -> [EndpointID] {
        defer { apps[app] = nil }
        return endpoints(in: app) + subscriptions(in: app)
    }
}
