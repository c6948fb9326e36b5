/// The treatment of `format`.
public enum FormatPolicy: Sendable, Equatable {
    /// Formats never fail, unless the schema's metaschema lists the `format-assertion` vocabulary.
    case annotate
    /// Every known format is checked. Unknown formats never fail.
    case assert
    /// Only these formats are checked.
    case only(Set<String>)
}

/// Limits for compiling and evaluating a schema. The default values are the limits that the gateway uses.
public struct SchemaLimits: Sendable, Equatable {
    /// The maximum length of each schema document in bytes.
    public var schemaBytes = 256 * 1024
    /// The maximum number of JSON values in all documents that a schema uses, except the metaschemas.
    public var schemaNodes = 20_000
    /// The maximum depth of nested arrays and objects in a schema.
    public var schemaDepth = 100
    /// The maximum number of instructions and table rows of a plan.
    public var planInstructions = 200_000
    /// The maximum size of a plan with its tables in bytes.
    public var planBytes = 16 * 1024 * 1024
    /// The maximum size of the tables of all patterns in bytes.
    public var patternBytes = 8 * 1024 * 1024
    /// The maximum size in bytes of the locations and identifiers of all subschemas. The limit is needed because a long
    /// name is repeated in the location of each subschema below it.
    public var placeBytes = 4 * 1024 * 1024
    /// The maximum number of bindings of dynamic references. A subschema is compiled once for each binding with which
    /// it is used.
    public var bindings = 1_000
    /// The maximum CPU time of a compilation, in milliseconds.
    public var compileMilliseconds = 200
    /// The maximum number of values in all `enum`s together.
    public var enumValues = 10_000
    /// The maximum number of nested calls of an evaluation. The number of nested calls is the depth of the value times
    /// the nesting of schemas for one value. The default keeps the stack below 512 KiB. The parser limits the depth of
    /// a value separately.
    public var nesting = 400
    /// The maximum number of members of one object in a value.
    public var membersPerObject = 1_000
    /// The maximum length of a value's text in bytes.
    public var payloadBytes = 1024 * 1024
    /// The maximum number of steps of an evaluation, in addition to ten steps for each byte of the value's text. Loops,
    /// calls, and every instruction of a program after the first count as steps.
    public var steps = 100_000
    /// The maximum number of steps of all backtracking patterns on one value.
    public var patternSteps = 100_000

    /// Creates the default limits.
    public init() {}
}

/// Options for compiling a schema.
public struct SchemaOptions: Sendable {
    /// The dialect of schemas without `$schema`.
    public var dialect = Dialect.draft202012
    /// The treatment of `format`.
    public var formats = FormatPolicy.assert
    /// The limits for compiling and evaluating.
    public var limits = SchemaLimits()
    /// The documents to which references may refer, in addition to the metaschemas.
    public var library: SchemaLibrary
    /// The access method for values.
    public var access: NodeAccessChoice
    /// True to check `contentEncoding` base64 and `contentMediaType` JSON. The default is false, as the standard
    /// requires.
    public var assertsContent = false
    /// True to validate schemas against their metaschema before they are compiled.
    var checksMetaschema = true

    /// Creates options. By default, `format` is checked; `contentEncoding` and `contentMediaType` are not.
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
    /// Returns true if `left` was published before `right`.
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
