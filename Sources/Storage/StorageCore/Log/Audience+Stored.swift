package import ChatModel

extension Audience {
    private static let storedInsiders = "insiders"
    private static let storedWire = "wire"

    /// The stored form of the audience: nil for all subscribers, or a fixed word, or a rule. A rule is stored as a
    /// colon and the rule's name, followed by its subjects, each on its own line. Names contain no line breaks.
    package var stored: String? {
        switch self {
        case .subscribers: nil
        case .insiders: Self.storedInsiders
        case .webhooks: "webhooks"
        case .wire: Self.storedWire
        case .rule(let rule, let subjects): ([":" + rule.rawValue] + subjects).joined(separator: "\n")
        }
    }

    /// Parses the stored form. An unknown rule of a later version is read as `.webhooks`, which no user may read, so
    /// that the event is not shown to the wrong users.
    package init(stored: String?) {
        guard let stored else {
            self = .subscribers
            return
        }
        guard stored != Self.storedInsiders else {
            self = .insiders
            return
        }
        guard stored != Self.storedWire else {
            self = .wire
            return
        }
        let lines = stored.split(separator: "\n", omittingEmptySubsequences: false)
        guard let name = lines.first, name.first == ":", let rule = AudienceRule(rawValue: String(name.dropFirst()))
        else {
            self = .webhooks
            return
        }
        self = .rule(rule, subjects: lines.dropFirst().map(String.init))
    }
}
