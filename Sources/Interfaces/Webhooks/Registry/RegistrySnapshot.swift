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

    private var apps: [SpaceID: App] = [:]

    subscript(endpoint: EndpointID) -> Webhook? { known(endpoint)?.webhook }

    func known(_ endpoint: EndpointID) -> KnownWebhook? { apps[endpoint.space]?.webhooks[endpoint.name] }

    /// A webhook that posts may be made for now.
    func enabled(_ endpoint: EndpointID) -> KnownWebhook? {
        guard let known = known(endpoint), known.webhook.status == .enabled, !isUnreadable(endpoint) else { return nil }
        return known
    }

    /// Webhooks and subscriptions.
    func count(in space: SpaceID) -> Int {
        apps[space].map { $0.webhooks.count + $0.subscriptions.count } ?? 0
    }

    /// Webhooks of an app, those that cannot be read among them.
    func endpoints(in space: SpaceID) -> [EndpointID] {
        guard let app = apps[space] else { return [] }
        return app.unreadable.union(app.webhooks.keys).map { EndpointID($0, in: space) }
    }

    func subscription(_ endpoint: EndpointID) -> Subscription? { apps[endpoint.space]?.subscriptions[endpoint.name] }

    func subscriptions(in space: SpaceID) -> [EndpointID] {
        apps[space]?.subscriptions.keys.map { EndpointID($0, in: space) } ?? []
    }

    func isKnown(_ endpoint: EndpointID) -> Bool {
        self[endpoint] != nil || isUnreadable(endpoint) || subscription(endpoint) != nil
    }

    func isUnreadable(_ endpoint: EndpointID) -> Bool {
        apps[endpoint.space]?.unreadable.contains(endpoint.name) ?? false
    }

    var unreadableCount: Int { apps.values.reduce(0) { $0 + $1.unreadable.count } }

    /// Apps that are to be told of something.
    var spaces: [SpaceID] { Array(apps.keys) }

    var all: [Webhook] { apps.values.flatMap { $0.webhooks.values.map(\.webhook) } }

    /// Before this nothing of the app can match; nil where there is nobody to tell.
    mutating func earliestSince(in space: SpaceID) -> Timetoken? { told(in: space)?.since }

    /// The channels of webhooks that are enabled, and of subscriptions, which have named `channel.activity`.
    func activityChannels(in space: SpaceID) -> [ChannelSet] {
        guard let app = apps[space] else { return [] }
        let webhooks = app.webhooks.values.map(\.webhook).filter { $0.status == .enabled }.map(\.settings)
        let settings = webhooks + app.subscriptions.values.map(\.settings.selection)
        return settings.filter { $0.types.contains(where: \.isNamedOnly) }
            .map { ChannelSet(space: space, patterns: $0.channels) }
    }

    mutating func matcher(for space: SpaceID) -> WebhookMatcher? { told(in: space)?.matcher }

    private mutating func told(in space: SpaceID) -> Told? {
        if let told = apps[space]?.told { return told }
        guard let app = apps[space] else { return nil }
        let webhooks = app.webhooks.values.map(\.webhook)
        let told = Told(
            matcher: WebhookMatcher(webhooks, app.subscriptions.values),
            since: (webhooks.map(\.since) + app.subscriptions.values.map(\.since)).min())
        apps[space]?.told = told
        return told
    }

    /// Takes a webhook as it is now; nil when it was removed.
    mutating func apply(_ endpoint: EndpointID, _ webhook: Webhook?) {
        var app = apps[endpoint.space] ?? App()
        app.webhooks[endpoint.name] = webhook.map(KnownWebhook.init)
        app.unreadable.remove(endpoint.name)
        app.told = nil
        apps[endpoint.space] = app.isEmpty ? nil : app
    }

    /// Takes a subscription as it is now; nil when it was removed.
    mutating func apply(_ endpoint: EndpointID, subscription: Subscription?) {
        var app = apps[endpoint.space] ?? App()
        app.subscriptions[endpoint.name] = subscription
        app.told = nil
        apps[endpoint.space] = app.isEmpty ? nil : app
    }

    /// The webhook is there, but nobody can say what it is.
    /// - Parameter selection: what it is told of, for one that is seen for the first time; nil: unknown.
    mutating func setUnreadable(_ endpoint: EndpointID, _ selection: Webhook?) {
        var app = apps[endpoint.space] ?? App()
        app.unreadable.insert(endpoint.name)
        if let selection, app.webhooks[endpoint.name] == nil {
            app.webhooks[endpoint.name] = KnownWebhook(selection)
            app.told = nil
        }
        apps[endpoint.space] = app
    }

    /// Forgets an app; returns what it had.
    mutating func drop(_ space: SpaceID) -> [EndpointID] {
        defer { apps[space] = nil }
        return endpoints(in: space) + subscriptions(in: space)
    }
}
