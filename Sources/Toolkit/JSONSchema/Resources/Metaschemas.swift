import JSON

/// The original metaschemas of all dialects and their vocabularies. They are part of the program, so references to them
/// need no network.
enum Metaschemas {
    static let all = draft202012 + draft201909 + draft07 + draft06 + draft04

    /// Returns the text of a metaschema; nil when there is no metaschema with this URI.
    ///
    /// - Parameter uri: the URI of a metaschema, with or without an empty fragment.
    static func text(for uri: String) -> StaticString? {
        let key = uri.hasSuffix("#") ? String(uri.dropLast()) : uri
        return all.first { $0.uri == key }?.text
    }

    static func document(at uri: String) -> JSONDocument? {
        parsed[uri.hasSuffix("#") ? String(uri.dropLast()) : uri]
    }

    /// All metaschemas, which are parsed at the first use (in less than a millisecond). A metaschema that cannot be
    /// parsed would be missing here, which a test detects.
    private static let parsed = Dictionary(
        uniqueKeysWithValues: all.compactMap { metaschema in
            (try? parse(metaschema.text)).map { (metaschema.uri, $0) }
        })

    static func parse(_ text: StaticString) throws(JSONError) -> JSONDocument {
        try JSONDocument(text.withUTF8Buffer { Array($0) })
    }
}

extension Metaschemas {
    /// JSON Schema draft-04, as published by json-schema.org.
    static let draft04: [(uri: String, text: StaticString)] = [
        (
            "http://json-schema.org/draft-04/schema",
            #"""
            {
              "id": "http://json-schema.org/draft-04/schema#",
              "$schema": "http://json-schema.org/draft-04/schema#",
              "description": "Core schema meta-schema",
              "definitions": {
                "schemaArray": {"type": "array", "minItems": 1, "items": {"$ref": "#"}},
                "positiveInteger": {"type": "integer", "minimum": 0},
                "positiveIntegerDefault0": {"allOf": [{"$ref": "#/definitions/positiveInteger"}, {"default": 0}]},
                "simpleTypes": {"enum": ["array", "boolean", "integer", "null", "number", "object", "string"]},
                "stringArray": {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": true}
              },
              "type": "object",
              "properties": {
                "id": {"type": "string"},
                "$schema": {"type": "string"},
                "title": {"type": "string"},
                "description": {"type": "string"},
                "default": {},
                "multipleOf": {"type": "number", "minimum": 0, "exclusiveMinimum": true},
                "maximum": {"type": "number"},
                "exclusiveMaximum": {"type": "boolean", "default": false},
                "minimum": {"type": "number"},
                "exclusiveMinimum": {"type": "boolean", "default": false},
                "maxLength": {"$ref": "#/definitions/positiveInteger"},
                "minLength": {"$ref": "#/definitions/positiveIntegerDefault0"},
                "pattern": {"type": "string", "format": "regex"},
                "additionalItems": {"anyOf": [{"type": "boolean"}, {"$ref": "#"}], "default": {}},
                "items": {"anyOf": [{"$ref": "#"}, {"$ref": "#/definitions/schemaArray"}], "default": {}},
                "maxItems": {"$ref": "#/definitions/positiveInteger"},
                "minItems": {"$ref": "#/definitions/positiveIntegerDefault0"},
                "uniqueItems": {"type": "boolean", "default": false},
                "maxProperties": {"$ref": "#/definitions/positiveInteger"},
                "minProperties": {"$ref": "#/definitions/positiveIntegerDefault0"},
                "required": {"$ref": "#/definitions/stringArray"},
                "additionalProperties": {"anyOf": [{"type": "boolean"}, {"$ref": "#"}], "default": {}},
                "definitions": {"type": "object", "additionalProperties": {"$ref": "#"}, "default": {}},
                "properties": {"type": "object", "additionalProperties": {"$ref": "#"}, "default": {}},
                "patternProperties": {"type": "object", "additionalProperties": {"$ref": "#"}, "default": {}},
                "dependencies": {
                  "type": "object",
                  "additionalProperties": {"anyOf": [{"$ref": "#"}, {"$ref": "#/definitions/stringArray"}]}
                },
                "enum": {"type": "array", "minItems": 1, "uniqueItems": true},
                "type": {
                  "anyOf": [
                    {"$ref": "#/definitions/simpleTypes"},
                    {
                      "type": "array",
                      "items": {"$ref": "#/definitions/simpleTypes"},
                      "minItems": 1,
                      "uniqueItems": true
                    }
                  ]
                },
                "format": {"type": "string"},
                "allOf": {"$ref": "#/definitions/schemaArray"},
                "anyOf": {"$ref": "#/definitions/schemaArray"},
                "oneOf": {"$ref": "#/definitions/schemaArray"},
                "not": {"$ref": "#"}
              },
              "dependencies": {"exclusiveMaximum": ["maximum"], "exclusiveMinimum": ["minimum"]},
              "default": {}
            }
            """#
        )
    ]
}
