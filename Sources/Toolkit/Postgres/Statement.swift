/// One SQL statement with its parameters.
///
/// The text refers to the parameters as `$1`, `$2` and so on. A connection prepares each text once, so the text should
/// be a constant and all data should be parameters.
public struct Statement: Sendable, Equatable {
    /// The SQL text of exactly one statement.
    public var text: String
    /// The values of `$1`, `$2` and so on; at most 65,535.
    public var parameters: [Value]

    /// Creates a statement.
    public init(_ text: String, _ parameters: [Value] = []) {
        self.text = text
        self.parameters = parameters
    }
}

/// A parameter of a ``Statement``. It is sent in PostgreSQL's binary format with the type that each case names.
///
/// PostgreSQL converts a `bigint` to a column's smaller integer type by itself. For other types of columns, convert in
/// the statement, for instance `$1::jsonb`.
public enum Value: Sendable, Equatable {
    /// NULL. The server infers the type.
    case null
    /// A `bigint`.
    case integer(Int64)
    /// A `text`. The server rejects the character U+0000.
    case text(String)
    /// A `bytea`.
    case bytes([UInt8])
    /// A `boolean`.
    case boolean(Bool)
    /// A `double precision`.
    case double(Double)
    /// A `bigint[]` with one dimension.
    case integers([Int64?])
    /// A `text[]` with one dimension.
    case texts([String?])
    /// A `bytea[]` with one dimension.
    case byteStrings([[UInt8]?])
}

/// The object identifiers of the types that the module sends or reads (PostgreSQL's `pg_type.dat`).
enum TypeID {
    static let unknown: UInt32 = 0
    static let boolean: UInt32 = 16
    static let bytes: UInt32 = 17
    static let bigint: UInt32 = 20
    static let smallint: UInt32 = 21
    static let integer: UInt32 = 23
    static let text: UInt32 = 25
    static let real: UInt32 = 700
    static let double: UInt32 = 701
    static let bytesArray: UInt32 = 1001
    static let textArray: UInt32 = 1009
    static let bigintArray: UInt32 = 1016
    static let jsonb: UInt32 = 3802

    /// The types above whose binary form is not their text.
    static let areNotText = [
        boolean, bytes, bigint, smallint, integer, real, double, bytesArray, textArray, bigintArray,
    ]
}

extension Value {
    var typeID: UInt32 {
        switch self {
        case .null: TypeID.unknown
        case .integer: TypeID.bigint
        case .text: TypeID.text
        case .bytes: TypeID.bytes
        case .boolean: TypeID.boolean
        case .double: TypeID.double
        case .integers: TypeID.bigintArray
        case .texts: TypeID.textArray
        case .byteStrings: TypeID.bytesArray
        }
    }

    /// Appends the binary form.
    func append(to buffer: inout [UInt8]) {
        switch self {
        case .null: break
        case .integer(let number): buffer.append(bigEndian: number)
        case .text(let text): buffer.append(contentsOf: text.utf8)
        case .bytes(let bytes): buffer.append(contentsOf: bytes)
        case .boolean(let flag): buffer.append(flag ? 1 : 0)
        case .double(let number): buffer.append(bigEndian: number.bitPattern)
        case .integers(let elements):
            buffer.append(array: elements, of: TypeID.bigint) { $0.append(bigEndian: $1) }
        case .texts(let elements):
            buffer.append(array: elements, of: TypeID.text) { $0.append(contentsOf: $1.utf8) }
        case .byteStrings(let elements):
            buffer.append(array: elements, of: TypeID.bytes) { $0.append(contentsOf: $1) }
        }
    }
}
