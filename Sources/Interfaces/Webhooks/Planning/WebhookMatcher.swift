import ChatKit
import ChatModel

/// Finds the webhooks and subscriptions of one app that are told of an event, without asking each of them.
///
/// Immutable: made anew when a webhook of the app changes. A webhook is looked up by what narrows it most: its types if
/// all of them are named, else its channels, else it is asked every time.
struct WebhookMatcher: Sendable {
    /// A class, so that looking at one copies nothing.
    final class Entry: Sendable {
        let id: String
        let settings: WebhookSettings
        let since: Timetoken
        /// Whether several of its patterns can lead to it for one event.
        let isFoundTwice: Bool

        /// - Parameter id: a webhook's or a subscription's.
        init(_ id: String, _ settings: WebhookSettings, since: Timetoken) {
            self.id = id
            self.settings = settings
            self.since = since
            let keys = WebhookMatcher.namesAll(settings.types) ? settings.channels : settings.types
            isFoundTwice = keys.count > 1
        }

        /// Whether the channels it names include this one. Written out: the generic search of a sequence costs five times
        /// as much, and this is what is asked most often.
        func admits(channel: String) -> Bool {
            for pattern in settings.channels where pattern.matches(channel) { return true }
            return false
        }
    }

    /// Patterns of one dimension, each with the entries it leads to.
    private struct Index: Sendable {
        private var exact: [ExactText: [Int]] = [:]
        private var below: [ExactText: [Int]] = [:]

        mutating func insert(_ patterns: [NamePattern], _ entry: Int) {
            for pattern in patterns {
                switch pattern {
                case .exact(let name): exact[ExactText(name), default: []].append(entry)
                case .below(let prefix): below[ExactText(prefix), default: []].append(entry)
                case .all: break
                }
            }
        }

        func visit(_ name: String, _ body: (Int) -> Void) {
            if !exact.isEmpty, let entries = exact[ExactText(name)] { entries.forEach(body) }
            guard !below.isEmpty else { return }
            // Bytes, as patterns are matched: a dot with a combining mark behind it is no `Character` of its own.
            let bytes = name.utf8
            var from = bytes.startIndex
            while let dot = bytes[from...].firstIndex(of: UInt8(ascii: ".")) {
                from = bytes.index(after: dot)
                // A prefix covers what lies below it, never itself with an empty last part.
                guard from < bytes.endIndex else { return }
                if let entries = below[ExactText(Substring(bytes[..<from]))] { entries.forEach(body) }
            }
        }
    }

    let entries: [Entry]
    private var byType = Index()
    private var byChannel = Index()
    private var others: [Int] = []

    init(_ webhooks: some Collection<Webhook>, _ subscriptions: some Collection<Subscription> = []) {
        let told =
            webhooks.map { Entry($0.id, $0.settings, since: $0.since) }
            + subscriptions.map { Entry($0.id, $0.settings.selection, since: $0.since) }
        entries = told.sorted { $0.id < $1.id }
        for (index, entry) in entries.enumerated() {
            if !Self.namesAll(entry.settings.types) {
                byType.insert(entry.settings.types, index)
            } else if !Self.namesAll(entry.settings.channels) {
                byChannel.insert(entry.settings.channels, index)
            } else {
                others.append(index)
            }
        }
    }

    /// Calls `body` with the id of each webhook and subscription that is told of the event, each once.
    func visit(_ event: Event, _ body: (String) -> Void) {
        let subject = FilterSubject(event)
        let channel = event.channel.name
        let type = event.type
        lazy var isChatty = BuiltInTypes.isChatty(type)
        var visited: [Int] = []
        func consider(_ index: Int) {
            let entry = entries[index]
            guard event.timetoken > entry.since, entry.admits(channel: channel),
                Self.admits(entry.settings.types, type, isChatty: isChatty)
            else { return }
            if entry.isFoundTwice {
                if visited.contains(index) { return }
                visited.append(index)
            }
            if let filter = entry.settings.filter, !filter.accepts(subject) { return }
            body(entry.id)
        }
        byType.visit(type, consider)
        byChannel.visit(channel, consider)
        others.forEach(consider)
    }

    /// Whether the types a webhook names include this one. `*` leaves out the chatty ones (`product.md` 6).
    static func admits(_ patterns: [NamePattern], _ type: String, isChatty: @autoclosure () -> Bool) -> Bool {
        for pattern in patterns {
            if case .all = pattern {
                if !isChatty() { return true }
            } else if pattern.matches(type) {
                return true
            }
        }
        return false
    }

    fileprivate static func namesAll(_ patterns: [NamePattern]) -> Bool { patterns.contains(.all) }
}
