import ChatModel

extension BuiltInCatalogue {
    /// The types of events about a channel's metadata and metacounters: texts and counters that are stored with a
    /// channel by key.
    static let channelValues: [BuiltInType] = [
        metadata("channel.metadata.created", "Metadata was added to a channel.", "The added values by key."),
        metadata(
            "channel.metadata.updated", "Metadata of a channel changed.", "The changed keys with their new values."),
        keys("channel.metadata.deleted", "Metadata of a channel was removed."),
        metacounter("channel.metacounter.created", "Counters were added to a channel."),
        metacounter(
            "channel.metacounter.updated", "Counters of a channel changed.",
            more: """
                ,
                  "mode": {"enum": ["set", "inc", "dec"], "description": "The operation that changed the counters."}
                """),
        keys("channel.metacounter.deleted", "Counters of a channel were removed."),
    ]

    private static func metadata(_ name: String, _ description: String, _ values: String) -> BuiltInType {
        BuiltInType(
            name, .kept, description,
            members: """
                "required": ["metadata"],
                "properties": {
                  "metadata": {
                    "type": "object",
                    "minProperties": 1,
                    "additionalProperties": {"type": "string"},
                    "description": "\(values)"
                  },
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [#"{"metadata":{"topic":"lunch"}}"#], refuses: [#"{"metadata":{"seats":4}}"#, #"{"metadata":{}}"#])
    }

    private static func metacounter(_ name: String, _ description: String, more: String = "") -> BuiltInType {
        BuiltInType(
            name, .kept, description,
            members: """
                "required": ["metacounter"],
                "properties": {
                  "metacounter": {
                    "type": "object",
                    "minProperties": 1,
                    "additionalProperties": {"type": "integer"},
                    "description": "The affected counters with their new values."
                  }\(more),
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [#"{"metacounter":{"likes":41,"balance":-3}}"#],
            refuses: [#"{"metacounter":{"likes":"41"}}"#, #"{"metacounter":{}}"#])
    }

    private static func keys(_ name: String, _ description: String) -> BuiltInType {
        BuiltInType(
            name, .kept, description,
            members: """
                "required": ["keys"],
                "properties": {
                  "keys": {
                    "type": "array",
                    "items": {"type": "string"},
                    "minItems": 1,
                    "description": "The removed keys."
                  },
                  "channel": {"$ref": "#/$defs/channel"}
                }
                """,
            accepts: [#"{"keys":["topic"],"channel":\#(SharedTerms.crew)}"#],
            refuses: [#"{"keys":"topic"}"#, #"{"keys":[]}"#])
    }
}
