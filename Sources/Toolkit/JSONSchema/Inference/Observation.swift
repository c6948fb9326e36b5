public import JSON

/// The observed values at one place of the documents.
struct Observation {
    /// The types, in the order in which a schema lists them.
    enum Sort: CaseIterable { case object, array, string, integer, number, boolean, null }

    private(set) var sorts: Set<Sort> = []
    private(set) var strings = StringObservation()
    private(set) var objects = 0
    private(set) var members: [Member] = []
    private var positions: [Name: Int] = [:]
    /// True when a member was omitted, so that the object must stay open.
    private(set) var isPartial = false
    /// The observation of all elements; contains at most one item.
    private(set) var items: [Observation] = []

    struct Member {
        let name: Name
        var value = Observation()
        /// The number of objects with this member.
        var count = 0
    }

    /// The maximum number of places in a draft, which keeps drafts from hostile documents within the limits of a
    /// schema.
    static let placeLimit = 1_000
    /// Largest depth: each level of a document is two levels of a schema, which may be nested 100 deep.
    private static let depthLimit = 40
    private static let nameBytes = 256

    mutating func add(_ value: JSONValue, depth: Int, places: inout Int, _ options: InferenceOptions) {
        switch value.kind {
        case .null: sorts.insert(.null)
        case .boolean: sorts.insert(.boolean)
        case .integer: sorts.insert(.integer)
        // Includes 1.0, because this notation suggests a number that may have a fraction.
        case .real: sorts.insert(.number)
        case .string:
            sorts.insert(.string)
            strings.add(Array((value.string ?? "").utf8), options)
        case .array:
            sorts.insert(.array)
            addElements(value, depth, &places, options)
        case .object:
            sorts.insert(.object)
            addMembers(value, depth, &places, options)
        }
    }

    private mutating func addElements(
        _ array: JSONValue, _ depth: Int, _ places: inout Int, _ options: InferenceOptions
    ) {
        guard let elements = array.elements, !elements.isEmpty, depth < Self.depthLimit else { return }
        if items.isEmpty {
            guard places > 0 else { return }
            places -= 1
            items = [Observation()]
        }
        for element in elements { items[0].add(element, depth: depth + 1, places: &places, options) }
    }

    private mutating func addMembers(
        _ object: JSONValue, _ depth: Int, _ places: inout Int, _ options: InferenceOptions
    ) {
        objects += 1
        for (text, value) in object.members ?? [] {
            let name = Name(text)
            if positions[name] == nil {
                guard places > 0, depth < Self.depthLimit, name.bytes.count <= Self.nameBytes else {
                    isPartial = true
                    continue
                }
                places -= 1
                positions[name] = members.count
                members.append(Member(name: name))
            }
            guard let position = positions[name] else { continue }
            members[position].count += 1
            members[position].value.add(value, depth: depth + 1, places: &places, options)
        }
    }
}

/// The observed strings at one place.
struct StringObservation {
    private(set) var count = 0
    private(set) var words: [Name] = []
    private var known: Set<Name> = []
    private(set) var hasTooMany = false
    private var formats = Self.recognised

    /// Longest string that may be an `enum` value, in bytes.
    private static let wordBytes = 40
    private static let recognised: [Format] = [.dateTime, .uuid, .ipv4, .email, .uri]

    mutating func add(_ text: [UInt8], _ options: InferenceOptions) {
        count += 1
        formats.removeAll { !$0.isUnmistakable(text) }
        guard !hasTooMany else { return }
        let word = Name(String(decoding: text, as: UTF8.self))
        if known.insert(word).inserted { words.append(word) }
        if words.count > options.enumLimit || text.count > Self.wordBytes {
            hasTooMany = true
            (words, known) = ([], [])
        }
    }

    /// The format of all observed strings.
    var format: Format? { count > 0 ? formats.first : nil }

    func isEnumeration(_ options: InferenceOptions) -> Bool {
        count > 0 && !hasTooMany && format == nil && count >= max(options.enumEvidence, 4 * words.count)
    }
}

extension Format {
    /// True when a text has the format and hardly by accident: `note:x` is also a URI, but probably not meant as one.
    fileprivate func isUnmistakable(_ text: [UInt8]) -> Bool {
        guard text.withUnsafeBufferPointer(accepts) else { return false }
        guard self == .uri else { return true }
        return String(decoding: text, as: UTF8.self).contains("://")
    }
}

/// Creates a first draft of a schema from documents that it should describe.
///
/// The draft accepts every document it was made from. It describes what they have in common and guesses little: no
/// bounds, no patterns, and lists of words or formats only when the documents leave little doubt. It should be read
/// before it is declared.
public enum SchemaInference {
    /// The draft (2020-12) for these values, with members in the order of their first appearance. The same values in
    /// the same order always give the same text.
    public static func draft(of values: [JSONValue], options: InferenceOptions = InferenceOptions()) -> JSONText {
        var places = Observation.placeLimit
        while true {
            let text = draft(of: values, options, places: places)
            // With long names a draft may still exceed the limit of a schema; fewer places are described then.
            if places == 1 || text.count <= SchemaLimits().schemaBytes { return text }
            places /= 2
        }
    }

    private static func draft(of values: [JSONValue], _ options: InferenceOptions, places: Int) -> JSONText {
        var observation = Observation()
        var places = places
        for value in values { observation.add(value, depth: 1, places: &places, options) }
        return JSONText { writer in
            writer.beginObject()
            writer.member("$schema", "https://json-schema.org/draft/2020-12/schema")
            observation.print(into: &writer, options)
            writer.endObject()
        }
    }
}

/// Thresholds for the conclusions of a draft.
public struct InferenceOptions: Sendable, Equatable {
    /// True to reject members that appear in no document.
    public var closesObjects: Bool
    /// The maximum number of different strings that become an `enum`; 0 for never.
    public var enumLimit: Int
    /// Least number of strings at a place before an `enum` is concluded. There must also be at least four times as many
    /// as different strings.
    var enumEvidence: Int

    /// Creates thresholds.
    public init(closesObjects: Bool = false, enumLimit: Int = 8, enumEvidence: Int = 20) {
        self.closesObjects = closesObjects
        self.enumLimit = enumLimit
        self.enumEvidence = enumEvidence
    }
}
