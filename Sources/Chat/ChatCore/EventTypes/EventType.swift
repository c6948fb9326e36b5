public import ChatModel

/// A type of events: its name, its settings, and how the `data` of its events is validated against a schema.
///
/// An event may have any type name. Declaring a type adds a description and versions of a schema. The types of
/// `BuiltInCatalogue` are listed beside the types that an app declares, and cannot be changed.
public struct EventType: Sendable {
    /// The treatment of an event whose `data` does not match the newest schema.
    public enum Mode: String, Sendable, CaseIterable {
        /// The event is rejected, and nothing is stored.
        case enforce
        /// The event is stored, and a `schema.violated` event informs the operators.
        case warn
        /// The `data` of the event is not checked.
        case off
    }

    /// The source of the settings of a type.
    public enum Origin: String, Sendable {
        case api, file
        case builtIn = "built_in"
    }

    /// The name that events of the type have in their field `type`.
    public var name: String
    /// The declared settings; the default settings for a type that is not declared.
    public var settings: EventTypeSettings
    /// The source of the settings: the API, a file that the gateway reads at its start, or the gateway itself.
    public var origin: Origin
    /// The number of the newest version; zero when there is no version. The numbers have no gaps and are never reused.
    public var latestVersion: Int
    /// The time at which the type was declared; zero for built-in types.
    public var created: Timetoken
    /// The time at which the type's record last changed. The directory of records sets this and `etag`.
    public var updated: Timetoken
    /// An opaque version of the type's record for `ETag` and `If-Match`. The record's version changes when the settings
    /// change and when a schema version is added.
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
    /// The reason why the type should no longer be used; nil for a type that is not deprecated. Events of a deprecated
    /// type are still accepted.
    public var deprecated: String?
    /// The required compatibility of a new version with the earlier versions.
    public var compatibility = CompatibilityRule()
    /// The time for which events of the type are kept; nil for the app's retention. A change applies only to later
    /// events.
    public var retention: Duration?

    /// Creates the default settings: mode `enforce`, without a description or an owner.
    public init() {}

    /// The allowed values of the retention in hours: from one hour to about 100 years.
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

/// The required compatibility of a new version of a schema with the earlier versions (docs/schemas.md).
public struct CompatibilityRule: Sendable, Hashable {
    /// The direction of compatibility.
    enum Mode: String, Sendable, CaseIterable {
        /// No compatibility is required.
        case none
        /// The new version accepts every value that the old one accepted.
        case backward
        /// The old version accepts every value that the new one accepts.
        case forward
        /// Requires both `backward` and `forward` compatibility.
        case full
    }

    /// The required direction of compatibility.
    var mode: Mode
    /// True when a new version must be compatible with all earlier versions; false when it must be compatible only with
    /// the newest earlier version.
    var isTransitive: Bool
    /// True to treat a new optional member as compatible, although the earlier schema accepted any value for that
    /// member.
    var isLenient: Bool

    /// Creates a rule. By default, the new version must accept every value that the newest version accepts.
    init(_ mode: Mode = .backward, isTransitive: Bool = false, isLenient: Bool = false) {
        self.mode = mode
        self.isTransitive = isTransitive
        self.isLenient = isLenient
    }

    /// Parses a text such as `backward`, `full_transitive`, `backward_lenient` or `backward_transitive_lenient`; nil
    /// for any other text.
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

    /// The text that `init(_:)` parses.
    public var text: String {
        mode.rawValue + (isTransitive ? "_transitive" : "") + (isLenient ? "_lenient" : "")
    }

    /// All texts that `init(_:)` accepts, for use in descriptions and error messages.
    public static let allTexts: [String] =
        ["none"]
        + ["backward", "forward", "full"].flatMap { mode in
            ["", "_transitive", "_lenient", "_transitive_lenient"].map { mode + $0 }
        }
}
