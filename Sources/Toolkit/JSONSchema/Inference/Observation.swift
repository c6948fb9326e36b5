public import JSON

/// The observed values at one location of the documents.
struct Observation {
    /// The types, in the order in which a schema lists them.
    enum Sort: CaseIterable { case object, array, string, integer, number, boolean, null }

    private(set) var sorts: Set<Sort> = []
    private(set) var strings = StringObservation()
    private(set) var objects = 0
    private(set) var members: [Member] = []
    private var positions: [Name: Int] = [:]
    /// True when an observed member is not described in the draft. The object must then allow other members.
    private(set) var isPartial = false
    /// One observation for the elements of all arrays at this location; empty when no elements were observed.
    private(set) var items: [Observation] = []

    struct Member {
        let name: Name
        var value = Observation()
        /// The number of objects with this member.
        var count = 0
    }

    /// The maximum number of locations in a draft. The limit keeps drafts of hostile documents within the limits of a
    /// schema.
    static let placeLimit = 1_000
    /// The maximum depth of a document. Each level of a document takes two levels of a schema, and a schema may have
    /// 100 levels.
    private static let depthLimit = 40
    private static let nameBytes = 256

    mutating func add(_ value: JSONValue, depth: Int, places: inout Int, _ options: InferenceOptions) {
        switch value.kind {
        case .null: sorts.insert(.null)
        case .boolean: sorts.insert(.boolean)
        case .integer: sorts.insert(.integer)
        // A number such as 1.0 also counts as `number`, because this notation suggests that the number may have a
        // fraction.
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

/// The observed strings at one location.
struct StringObservation {
    private(set) var count = 0
    private(set) var words: [Name] = []
    private var known: Set<Name> = []
    private(set) var hasTooMany = false
    private var formats = Self.recognised

    /// The maximum length in bytes of a string that can become an `enum` value.
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

    /// The format of all observed strings; nil when they have no common format.
    var format: Format? { count > 0 ? formats.first : nil }

    func isEnumeration(_ options: InferenceOptions) -> Bool {
        count > 0 && !hasTooMany && format == nil && count >= max(options.enumEvidence, 4 * words.count)
    }
}

extension Format {
    /// Returns true when a text has the format and probably not by accident. `note:x`, for instance, is a valid URI but
    /// probably not intended as one.
    fileprivate func isUnmistakable(_ text: [UInt8]) -> Bool {
        guard text.withUnsafeBufferPointer(accepts) else { return false }
        guard self == .uri else { return true }
        return String(decoding: text, as: UTF8.self).contains("://")
    }
}

/// Creates a draft of a schema from sample documents.
///
/// The draft accepts every document from which it was created. It describes the common structure of the documents. It
/// contains no bounds and no patterns, and an `enum` or `format` only if the documents leave little doubt. Review a
/// draft before using it as a schema.
public enum SchemaInference {
    /// Returns a draft (2020-12) for these values, with members in the order of their first occurrence. The same values
    /// in the same order always result in the same text.
    public static func draft(of values: [JSONValue], options: InferenceOptions = InferenceOptions()) -> JSONText {
        var places = Observation.placeLimit
        while true {
            let text = draft(of: values, options, places: places)
            // Because of long names, a draft may still exceed the limit of a schema. Then a draft with fewer locations
            // is created.
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

/// Options for creating a draft of a schema.
public struct InferenceOptions: Sendable, Equatable {
    /// True to reject members that appear in no document.
    public var closesObjects: Bool
    /// The maximum number of different strings that become an `enum`. With 0, no `enum` is created.
    public var enumLimit: Int
    /// The minimum number of observed strings at a location for which an `enum` is created. The number of observed
    /// strings must also be at least four times the number of different strings.
    var enumEvidence: Int

    /// Creates options.
    public init(closesObjects: Bool = false, enumLimit: Int = 8, enumEvidence: Int = 20) {
        self.closesObjects = closesObjects
        self.enumLimit = enumLimit
        self.enumEvidence = enumEvidence
    }
}
