public import ChatModel

/// A kind of event: the meaning of its events, and how their `data` is validated against a schema.
///
/// A type exists as soon as an event names it; declaring it adds a description and versions of a schema. The gateway's
/// own types (`BuiltInCatalogue`) are listed beside those that an app declares, and cannot be changed.
public struct EventType: Sendable {
    /// The treatment of an event whose `data` does not match the newest schema.
    public enum Mode: String, Sendable, CaseIterable {
        /// The event is refused, and nothing is stored.
        case enforce
        /// The event is stored, and `schema.violated` informs the operators.
        case warn
        /// Nothing is checked.
        case off
    }

    /// The source of the latest settings.
    public enum Origin: String, Sendable {
        case api, file
        case builtIn = "built_in"
    }

    /// The name that events have as their `type`.
    public var name: String
    /// The declared settings; the default ones for a type that is not declared.
    public var settings: EventTypeSettings
    /// The source of the settings: the API, a file at the start, or the gateway itself.
    public var origin: Origin
    /// The newest version's number; zero while there is none. Numbers have no gaps and are never reused.
    public var latestVersion: Int
    /// The time at which the type was declared; zero for built-in types.
    public var created: Timetoken
    /// When the record last changed; with `etag`, set by the directory.
    public var updated: Timetoken
    /// An opaque version for `ETag` and `If-Match`; changes with each change of the settings and with each version.
    public var etag: String

    /// True for the gateway's own types.
    public var isBuiltIn: Bool { origin == .builtIn }
}

/// The settings that an app declares for an event type.
public struct EventTypeSettings: Sendable, Equatable {
    public var description = ""
    /// The person or team responsible for the type.
    public var owner = ""
    /// The treatment of events that do not match the newest schema.
    public var mode = EventType.Mode.enforce
    /// The reason why the type should no longer be emitted; nil while it is in use. Emits are still accepted.
    public var deprecated: String?
    /// The required compatibility of a new version with the earlier ones.
    public var compatibility = CompatibilityRule()
    /// The retention of its events emitted from then on; nil for the app's retention.
    public var retention: Duration?

    /// Enforced settings without a description or an owner.
    public init() {}

    /// The allowed retention in hours: one hour to a century.
    public static let retentionHours = 1...876_000

    static let descriptionBytes = 4096
    static let ownerBytes = 200

    func check() throws(ChatError) {
        guard description.utf8.count <= Self.descriptionBytes else {
            throw ChatError(
                .malformed, "description must be at most \(Self.descriptionBytes) bytes long", field: "description")
        }
        guard owner.utf8.count <= Self.ownerBytes else {
            throw ChatError(.malformed, "owner must be at most \(Self.ownerBytes) bytes long", field: "owner")
        }
        guard (deprecated?.utf8.count ?? 0) <= Self.descriptionBytes else {
            throw ChatError(
                .malformed, "deprecated must be at most \(Self.descriptionBytes) bytes long", field: "deprecated")
        }
    }
}

/// The required compatibility of a new version of a schema with the earlier ones (docs/schemas.md).
public struct CompatibilityRule: Sendable, Hashable {
    /// The direction of compatibility.
    enum Mode: String, Sendable, CaseIterable {
        /// Nothing is required.
        case none
        /// The new version accepts every value that the old one accepted.
        case backward
        /// The old version accepts every value that the new one accepts.
        case forward
        /// Both `backward` and `forward`.
        case full
    }

    /// The required direction of compatibility.
    var mode: Mode
    /// True when the rule applies to all earlier versions, not only the newest.
    var isTransitive: Bool
    /// True when a new optional member counts as compatible although an open schema previously accepted any value under
    /// its name.
    var isLenient: Bool

    /// A rule; by default the new version must accept every value that the newest version accepted.
    init(_ mode: Mode = .backward, isTransitive: Bool = false, isLenient: Bool = false) {
        self.mode = mode
        self.isTransitive = isTransitive
        self.isLenient = isLenient
    }

    /// Reads a text such as `backward`, `full_transitive`, `backward_lenient`, `backward_transitive_lenient`; nil for
    /// any other text.
    public init?(_ text: String) {
        var words = text.split(separator: "_", omittingEmptySubsequences: false)
        isLenient = words.last == "lenient"
        if isLenient { words.removeLast() }
        isTransitive = words.last == "transitive"
        if isTransitive { words.removeLast() }
        guard words.count == 1, let mode = Mode(rawValue: String(words[0])) else { return nil }
        self.mode = mode
        guard mode != .none || (!isTransitive && !isLenient) else { return nil }
    }

    /// The text that `init(_:)` reads.
    public var text: String {
        mode.rawValue + (isTransitive ? "_transitive" : "") + (isLenient ? "_lenient" : "")
    }

    /// Every text that `init(_:)` accepts, for descriptions and messages.
    public static let allTexts: [String] =
        ["none"]
        + ["backward", "forward", "full"].flatMap { mode in
            ["", "_transitive", "_lenient", "_transitive_lenient"].map { mode + $0 }
        }
}
