import ChatCore
import ChatModel

extension WebhookMatcher {
    /// The maximum number of characters of a filter in an explanation. An explanation may contain thousands of
    /// webhooks.
    private static let shownFilterCharacters = 200

    /// Explains for every webhook why it matches an event or not: the patterns that match, or the first condition that
    /// is not met. The current settings of the webhooks are used.
    ///
    /// - Parameter mayShow: returns true when the caller may see the filter of the settings.
    func explain(_ event: Event, mayShow: (WebhookSettings) -> Bool = { _ in true }) -> [WebhookMatch] {
        let subject = FilterSubject(event)
        let isFrequent = BuiltInTypes.isFrequent(event.type)
        return entries.map { entry in
            let obstacle = Self.reason(entry, event, subject, isFrequent, mayShow)
            // The settings that a webhook had at the time of the event are not stored.
            let isChanged = entry.since < event.timetoken && event.timetoken < entry.updated
            let why = obstacle ?? Self.way(entry, event, isFrequent)
            return WebhookMatch(
                webhook: entry.id, matches: obstacle == nil,
                why: isChanged
                    ? why
                        + "; the webhook's settings have changed since the event, and the current settings were checked"
                    : why)
        }
    }

    private static func reason(
        _ entry: Entry, _ event: Event, _ subject: FilterSubject, _ isFrequent: Bool,
        _ mayShow: (WebhookSettings) -> Bool
    ) -> String? {
        let settings = entry.settings
        if !admits(settings.types, event.type, isFrequent: isFrequent) {
            return settings.types.first { $0.matches(event.type) }.map {
                "type \(event.type) is not included in '\($0)' and must be named exactly"
            } ?? "type \(event.type) is not among the webhook's types"
        }
        if !settings.channels.match(event.channel.name) {
            return event.channel.isSystem && settings.channels.contains(.all)
                ? "channel \(event.channel.name) is not included in '*' and must be named exactly"
                : "channel \(event.channel.name) is not among the webhook's channels"
        }
        if let filter = settings.filter, !filter.accepts(subject) {
            guard mayShow(settings) else { return "the filter does not match" }
            let shown = filter.text.prefix(shownFilterCharacters)
            return "the filter does not match: \(shown)\(shown.endIndex < filter.text.endIndex ? "…" : "")"
        }
        if event.timetoken <= entry.since { return "the event is older than the webhook" }
        return nil
    }

    private static func way(_ entry: Entry, _ event: Event, _ isFrequent: Bool) -> String {
        let type = entry.settings.types.first { admits([$0], event.type, isFrequent: isFrequent) }
        let channel = entry.settings.channels.first { $0.matches(event.channel.name) }
        let patterns =
            "the type matches '\(type?.description ?? "")', the channel matches '\(channel?.description ?? "")'"
        return entry.settings.filter == nil ? patterns : patterns + ", and the filter matches"
    }
}
