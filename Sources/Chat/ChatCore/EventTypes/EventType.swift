public import ChatModel

/// A kind of event: what such events mean, and how their `data` is held against a schema.
///
/// A type exists by being named; declaring it gives it a description, and versions of a schema. The gateway's own types
/// (`BuiltInCatalogue`) are listed beside those an app declares and cannot be changed.
public struct EventType: Sendable {
    /// What happens to an event whose `data` the newest schema refuses.
    public enum Mode: String, Sendable, CaseIterable {
        /// It is refused, and nothing is stored.
        case enforce
        /// It is stored, and the operators are told by `schema.violated`.
        case warn
        /// Nothing is checked.
        case off
    }

    /// Who wrote the settings last.
    public enum Origin: String, Sendable {
        case api, file
        case builtIn = "built_in"
    }

    public var name: String
    public var settings: EventTypeSettings
    public var origin: Origin
    /// Zero while there is none. Numbers have no gaps, and none is given twice.
    public var latestVersion: Int
    public var created: Timetoken
    /// When the record last changed; with `etag`, set by the directory.
    public var updated: Timetoken
    /// Opaque, for `ETag` and `If-Match`; changes with each change of the settings and with each version.
    public var etag: String

    public var isBuiltIn: Bool { origin == .builtIn }
}

/// What an app says about an event type.
public struct EventTypeSettings: Sendable, Equatable {
    public var description = ""
    /// Whom to ask about it.
    public var owner = ""
    public var mode = EventType.Mode.enforce
    /// Why nobody should emit it any more; nil while it is in use. Emits still pass.
    public var deprecated: String?
    /// What a new version must be to the earlier ones.
    public var compatibility = CompatibilityRule()
    /// How long its events stay, from then on; nil: as long as the app's.
    public var retention: Duration?

    public init() {}

    /// What a retention may be, in hours: an hour to a century.
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

/// What a new version of a schema must be to the earlier ones (`json-schema.md` 12).
public struct CompatibilityRule: Sendable, Hashable {
    public enum Mode: String, Sendable, CaseIterable {
        /// Anything goes.
        case none
        /// The new version accepts whatever the old one accepted.
        case backward
        /// The old version accepts whatever the new one accepts.
        case forward
        /// Both.
        case full
    }

    public var mode: Mode
    /// Held against all earlier versions, not only the newest.
    var isTransitive: Bool
    /// A new optional member counts as compatible although an open schema accepted anything under its name before.
    public var isLenient: Bool

    public init(_ mode: Mode = .backward, isTransitive: Bool = false, isLenient: Bool = false) {
        self.mode = mode
        self.isTransitive = isTransitive
        self.isLenient = isLenient
    }

    /// `backward`, `full_transitive`, `backward_lenient`, `backward_transitive_lenient`.
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

    public var text: String {
        mode.rawValue + (isTransitive ? "_transitive" : "") + (isLenient ? "_lenient" : "")
    }

    /// Every text that can be read, for descriptions and messages.
    public static let allTexts: [String] =
        ["none"]
        + ["backward", "forward", "full"].flatMap { mode in
            ["", "_transitive", "_lenient", "_transitive_lenient"].map { mode + $0 }
        }
}
