import ChatModel

/// Every event type that the gateway gives of its own accord (`events.md` 3), grouped by subject in the files beside.
///
/// The objects in `data` are those that the REST API shows, with the same names. Times are RFC 3339 texts.
public enum BuiltInCatalogue {
    /// In the order of the subjects; no name twice.
    public static let all: [BuiltInType] = [
        messages, reactions, conversation, members, presence, users, channels, channelValues, counts, connections,
        reports,
    ].flatMap(\.self)

    /// The type with this name; nil when the gateway has none.
    public static func named(_ name: String) -> BuiltInType? { byName[name] }

    /// Whether events of the type are kept; those it does not know are.
    static func retention(of name: String) -> Retention { named(name)?.retention ?? .kept }

    private static let byName = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
}
