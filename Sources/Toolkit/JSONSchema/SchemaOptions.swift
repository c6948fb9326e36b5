/// Whether `format` is checked or only noted.
public enum FormatPolicy: Sendable, Equatable {
    /// Formats never fail, unless a schema's metaschema lists the `format-assertion` vocabulary.
    case annotate
    /// Every known format is checked; unknown ones never fail.
    case assert
    /// Only these are checked.
    case only(Set<String>)
}

/// What a schema may cost to compile and to run. Source: the product's own limits; each can be changed.
public struct SchemaLimits: Sendable, Equatable {
    /// Bytes of schema text, for each document taken in.
    public var schemaBytes = 256 * 1024
    /// JSON values in all documents a schema takes in, the metaschemas aside.
    public var schemaNodes = 20_000
    /// Nested arrays and objects in a schema.
    public var schemaDepth = 100
    /// Instructions and table rows of a plan.
    public var planInstructions = 200_000
    public var planBytes = 16 * 1024 * 1024
    /// Bytes of the tables of all patterns.
    public var patternBytes = 8 * 1024 * 1024
    /// Bytes of the places and identifiers of all subschemas: a long name is repeated in the place of each schema below.
    public var placeBytes = 4 * 1024 * 1024
    /// Copies of subschemas because of dynamic references: one for each binding they are reached with.
    public var bindings = 1_000
    /// CPU time of a compile.
    public var compileMilliseconds = 200
    /// Values in all `enum`s together.
    public var enumValues = 10_000
    /// Calls of an evaluation inside each other: what the depth of the value comes to, times what schemas nest on one
    /// value. The default keeps the deepest within a stack of 512 KiB. The parser bounds the depth of a value by itself.
    public var nesting = 400
    /// Members of one object of a value.
    public var membersPerObject = 1_000
    /// Bytes of a value's text.
    public var payloadBytes = 1024 * 1024
    /// Steps of an evaluation beyond ten for each byte of the value's text; counted at loops and calls,
    /// and for each instruction past a program's first.
    public var steps = 100_000
    /// Steps of all backtracking patterns on one value.
    public var patternSteps = 100_000

    public init() {}
}

/// How a schema is read.
public struct SchemaOptions: Sendable {
    /// For schemas without `$schema`.
    public var dialect = Dialect.draft202012
    public var formats = FormatPolicy.assert
    public var limits = SchemaLimits()
    /// Documents that references may lead to, beside the metaschemas.
    public var library: SchemaLibrary
    /// How the parser's values are read; `automatic` takes the direct way where its self-check passed.
    public var access: NodeAccessChoice
    /// Checks `contentEncoding` base64 and `contentMediaType` JSON; off by default, as the standard asks.
    public var assertsContent = false
    /// Whether schemas are held against their metaschema first.
    var checksMetaschema = true

    public init(
        dialect: Dialect = .draft202012, formats: FormatPolicy = .assert, limits: SchemaLimits = SchemaLimits(),
        library: SchemaLibrary = SchemaLibrary(), access: NodeAccessChoice = .automatic
    ) {
        self.dialect = dialect
        self.formats = formats
        self.limits = limits
        self.library = library
        self.access = access
    }
}

/// A published version of JSON Schema. The raw value is its short name on the command line.
public enum Dialect: String, Sendable, CaseIterable {
    case draft202012 = "2020-12"
    case draft201909 = "2019-09"
    case draft07 = "07"
    case draft06 = "06"
    case draft04 = "04"
}

extension Dialect: Comparable {
    /// Earlier versions are smaller.
    public static func < (left: Dialect, right: Dialect) -> Bool { left.age > right.age }

    private var age: Int {
        switch self {
        case .draft202012: 0
        case .draft201909: 1
        case .draft07: 2
        case .draft06: 3
        case .draft04: 4
        }
    }
}
