import ChatCore
import ChatModel

extension WebhookMatcher {
    /// Of a filter that is told of: an answer may name a hundred thousand.
    private static let shownFilterCharacters = 200

    /// Every webhook with the first condition that did not hold, or with the patterns that led to it.
    func explain(_ event: Event) -> [WebhookMatch] {
        let subject = FilterSubject(event)
        let isChatty = BuiltInTypes.isChatty(event.type)
        return entries.map { entry in
            if let obstacle = Self.obstacle(entry, event, subject, isChatty) {
                return WebhookMatch(webhook: entry.id, matches: false, why: obstacle)
            }
            return WebhookMatch(webhook: entry.id, matches: true, why: Self.way(entry, event, isChatty))
        }
    }

    private static func obstacle(
        _ entry: Entry, _ event: Event, _ subject: FilterSubject, _ isChatty: Bool
    ) -> String? {
        let settings = entry.settings
        if !admits(settings.types, event.type, isChatty: isChatty) {
            return isChatty && settings.types.contains(.all)
                ? "type \(event.type) is left out by '*' and must be named"
                : "type \(event.type) is not among its types"
        }
        if !settings.channels.match(event.channel.name) {
            return event.channel.isSystem && settings.channels.contains(.all)
                ? "channel \(event.channel.name) is left out by '*' and must be named"
                : "channel \(event.channel.name) is not among its channels"
        }
        if let filter = settings.filter, !filter.accepts(subject) {
            let shown = filter.text.prefix(shownFilterCharacters)
            return "the filter does not hold: \(shown)\(shown.endIndex < filter.text.endIndex ? "…" : "")"
        }
        if event.timetoken <= entry.since { return "the event is older than the webhook" }
        return nil
    }

    private static func way(_ entry: Entry, _ event: Event, _ isChatty: Bool) -> String {
        let type = entry.settings.types.first { admits([$0], event.type, isChatty: isChatty) }
        let channel = entry.settings.channels.first { $0.matches(event.channel.name) }
        let patterns = "type by '\(type?.description ?? "")', channel by '\(channel?.description ?? "")'"
        return entry.settings.filter == nil ? patterns : patterns + ", and the filter holds"
    }
}
