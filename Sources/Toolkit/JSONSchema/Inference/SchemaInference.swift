public import JSON

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
