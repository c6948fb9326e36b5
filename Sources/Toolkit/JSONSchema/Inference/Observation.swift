public import JSON

/// What was seen at one place of the documents.
struct Observation {
    /// In the order in which they are listed.
    enum Sort: CaseIterable { case object, array, string, integer, number, boolean, null }

    private(set) var sorts: Set<Sort> = []
    private(set) var strings = StringObservation()
    private(set) var objects = 0
    private(set) var members: [Member] = []
    private var positions: [Name: Int] = [:]
    /// Some member was left out, so the object must stay open.
    private(set) var isPartial = false
    /// What all elements have in common; at most one.
    private(set) var items: [Observation] = []

    struct Member {
        let name: Name
        var value = Observation()
        /// Objects that have it.
        var count = 0
    }

    /// Places that are described: keeps a draft of hostile documents within the limits of a schema.
    static let placeLimit = 1_000
    /// Each level of a document is two of a schema, which may be nested 100 deep.
    private static let depthLimit = 40
    private static let nameBytes = 256

    mutating func take(_ value: JSONValue, depth: Int, places: inout Int, _ options: InferenceOptions) {
        switch value.kind {
        case .null: sorts.insert(.null)
        case .boolean: sorts.insert(.boolean)
        case .integer: sorts.insert(.integer)
        // Also 1.0: whoever writes it so means a number that may have a fraction.
        case .real: sorts.insert(.number)
        case .string:
            sorts.insert(.string)
            strings.take(Array((value.string ?? "").utf8), options)
        case .array:
            sorts.insert(.array)
            takeElements(value, depth, &places, options)
        case .object:
            sorts.insert(.object)
            takeMembers(value, depth, &places, options)
        }
    }

    private mutating func takeElements(
        _ array: JSONValue, _ depth: Int, _ places: inout Int, _ options: InferenceOptions
    ) {
        guard let elements = array.elements, !elements.isEmpty, depth < Self.depthLimit else { return }
        if items.isEmpty {
            guard places > 0 else { return }
            places -= 1
            items = [Observation()]
        }
        for element in elements { items[0].take(element, depth: depth + 1, places: &places, options) }
    }

    private mutating func takeMembers(
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
            members[position].value.take(value, depth: depth + 1, places: &places, options)
        }
    }
}

/// The strings seen at one place.
struct StringObservation {
    private(set) var count = 0
    private(set) var words: [Name] = []
    private var known: Set<Name> = []
    private(set) var hasTooMany = false
    private var formats = Self.recognised

    /// Words longer than this are texts.
    private static let wordBytes = 40
    private static let recognised: [Format] = [.dateTime, .uuid, .ipv4, .email, .uri]

    mutating func take(_ text: [UInt8], _ options: InferenceOptions) {
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

    /// The format that all strings have.
    var format: Format? { count > 0 ? formats.first : nil }

    func isEnumeration(_ options: InferenceOptions) -> Bool {
        count > 0 && !hasTooMany && format == nil && count >= max(options.enumEvidence, 4 * words.count)
    }
}

extension Format {
    /// Whether a text has the format and hardly by accident: `note:x` is a URI too, but nobody means it so.
    fileprivate func isUnmistakable(_ text: [UInt8]) -> Bool {
        guard text.withUnsafeBufferPointer(accepts) else { return false }
        guard self == .uri else { return true }
        return String(decoding: text, as: UTF8.self).contains("://")
    }
}

/// A first draft of a schema, from documents it shall describe.
///
/// The draft accepts every document it was made from. It says what they have in common and guesses little: no bounds, no
/// patterns, and lists of words or formats only where the documents leave small doubt. Whoever declares it reads it first.
public enum SchemaInference {
    /// The draft (2020-12) of these values, members in the order in which they first appeared. The same values in the
    /// same order always give the same text.
    public static func draft(of values: [JSONValue], options: InferenceOptions = InferenceOptions()) -> JSONText {
        var places = Observation.placeLimit
        while true {
            let text = draft(of: values, options, places: places)
            // Long names can still make a draft that nobody could declare; then fewer places are described.
            if places == 1 || text.count <= SchemaLimits().schemaBytes { return text }
            places /= 2
        }
    }

    private static func draft(of values: [JSONValue], _ options: InferenceOptions, places: Int) -> JSONText {
        var observation = Observation()
        var places = places
        for value in values { observation.take(value, depth: 1, places: &places, options) }
        return JSONText { writer in
            writer.beginObject()
            writer.member("$schema", "https://json-schema.org/draft/2020-12/schema")
            observation.print(into: &writer, options)
            writer.endObject()
        }
    }
}

/// How much a draft concludes from few documents.
public struct InferenceOptions: Sendable, Equatable {
    /// Whether members that appeared in no document are refused.
    public var closesObjects: Bool
    /// Strings with at most so many different words become an `enum`; 0 for never.
    public var enumLimit: Int
    /// Strings seen at a place before an `enum` is concluded, and at least four times as many as different words.
    var enumEvidence: Int

    public init(closesObjects: Bool = false, enumLimit: Int = 8, enumEvidence: Int = 20) {
        self.closesObjects = closesObjects
        self.enumLimit = enumLimit
        self.enumEvidence = enumEvidence
    }
}
