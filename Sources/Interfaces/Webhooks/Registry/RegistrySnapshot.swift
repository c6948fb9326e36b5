import ChatModel

/// The webhooks of all apps in memory, as the directory last said.
struct RegistrySnapshot: Sendable {
    private struct App: Sendable {
        var webhooks: [String: Webhook] = [:]
        /// Made when first asked for after a change: a thousand changes in a row cost one compilation.
        var matcher: WebhookMatcher?
    }

    private var apps: [SpaceID: App] = [:]

    subscript(endpoint: EndpointID) -> Webhook? { apps[endpoint.space]?.webhooks[endpoint.name] }

    func count(in space: SpaceID) -> Int { apps[space]?.webhooks.count ?? 0 }

    func webhooks(in space: SpaceID) -> [Webhook] { apps[space].map { Array($0.webhooks.values) } ?? [] }

    /// Apps that have webhooks.
    var spaces: [SpaceID] { Array(apps.keys) }

    var all: [Webhook] { apps.values.flatMap { $0.webhooks.values } }

    /// Before this nothing of the app can match; nil without webhooks.
    func earliestSince(in space: SpaceID) -> Timetoken? { apps[space]?.webhooks.values.map(\.since).min() }

    mutating func matcher(for space: SpaceID) -> WebhookMatcher? {
        guard let app = apps[space] else { return nil }
        if let matcher = app.matcher { return matcher }
        let matcher = WebhookMatcher(app.webhooks.values)
        apps[space]?.matcher = matcher
        return matcher
    }

    /// Takes a webhook as it is now; nil when it was removed. An older version than the known one is passed over, which
    /// is what a node's own write meets when the directory reports it again.
    mutating func apply(_ endpoint: EndpointID, _ webhook: Webhook?) {
        var app = apps[endpoint.space] ?? App()
        if let webhook, let known = app.webhooks[endpoint.name], known.updated > webhook.updated { return }
        app.webhooks[endpoint.name] = webhook
        app.matcher = nil
        apps[endpoint.space] = app.webhooks.isEmpty ? nil : app
    }

    /// Forgets an app; returns what it had.
    mutating func drop(_ space: SpaceID) -> [Webhook] {
        apps.removeValue(forKey: space).map { Array($0.webhooks.values) } ?? []
    }
}
