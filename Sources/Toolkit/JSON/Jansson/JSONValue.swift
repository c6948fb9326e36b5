package import CJansson

/// A value inside a parsed document. The value keeps the document alive. The properties and functions of this type
/// never throw and never change the document.
public struct JSONValue: @unchecked Sendable {
    // `@unchecked Sendable` is safe, because `node` is part of the tree of `document`, which never changes and stays
    // alive. The module JSONSchema reads the tree through `node` without a retain per node, so the reader must keep
    // this value alive meanwhile.
    package let document: JSONDocument
    package let node: UnsafeMutablePointer<json_t>

    /// The kinds of JSON values. `integer` is a number that was written without a fraction and an exponent; `real` is
    /// any other number.
    public enum Kind: Sendable { case object, array, string, integer, real, boolean, null }

    /// The kind of this value.
    public var kind: Kind {
        switch node.pointee.type {
        case JSON_OBJECT: .object
        case JSON_ARRAY: .array
        case JSON_STRING: .string
        case JSON_INTEGER: .integer
        case JSON_REAL: .real
        case JSON_TRUE, JSON_FALSE: .boolean
        default: .null
        }
    }

    /// The member with this name; `nil` when there is none or this is not an object.
    public subscript(name: String) -> JSONValue? {
        guard node.pointee.type == JSON_OBJECT else { return nil }
        // Passing the String itself to C would copy it to the heap.
        var name = name
        return name.withUTF8 { name in
            name.withMemoryRebound(to: CChar.self) { json_object_getn(node, $0.baseAddress, $0.count) }
        }.map { JSONValue(document: document, node: $0) }
    }

    /// The element at `index`; `nil` when there is none or this is not an array.
    public subscript(index: Int) -> JSONValue? {
        guard node.pointee.type == JSON_ARRAY, index >= 0 else { return nil }
        return json_array_get(node, index).map { JSONValue(document: document, node: $0) }
    }

    /// The text of a string; `nil` for any other value.
    public var string: String? {
        guard let start = json_string_value(node) else { return nil }
        return start.withMemoryRebound(to: UInt8.self, capacity: json_string_length(node)) {
            String(decoding: UnsafeBufferPointer(start: $0, count: json_string_length(node)), as: UTF8.self)
        }
    }

    /// The number, if it was written without a fraction and an exponent; `nil` for any other value.
    public var integer: Int64? { node.pointee.type == JSON_INTEGER ? Int64(json_integer_value(node)) : nil }

    /// The number as a double; `nil` for any other value. Integers above 2^53 may lose precision.
    public var double: Double? {
        switch node.pointee.type {
        case JSON_INTEGER: Double(json_integer_value(node))
        case JSON_REAL: json_real_value(node)
        default: nil
        }
    }

    /// The Boolean; `nil` for any other value.
    public var boolean: Bool? {
        switch node.pointee.type {
        case JSON_TRUE: true
        case JSON_FALSE: false
        default: nil
        }
    }

    /// True when this is `null`.
    public var isNull: Bool { node.pointee.type == JSON_NULL }

    /// The number of members of an object or elements of an array; 0 for any other value.
    public var count: Int {
        switch node.pointee.type {
        case JSON_OBJECT: json_object_size(node)
        case JSON_ARRAY: json_array_size(node)
        default: 0
        }
    }

    /// The elements of an array, in order; `nil` when this is not an array.
    public var elements: [JSONValue]? {
        guard node.pointee.type == JSON_ARRAY else { return nil }
        return (0..<count).compactMap { self[$0] }
    }

    /// The members of an object in the order in which they were written; `nil` when this is not an object.
    public var members: [(name: String, value: JSONValue)]? {
        guard node.pointee.type == JSON_OBJECT else { return nil }
        var members: [(name: String, value: JSONValue)] = []
        members.reserveCapacity(count)
        var position = json_object_iter(node)
        while let at = position {
            if let name = json_object_iter_key(at), let value = json_object_iter_value(at) {
                members.append((String(cString: name), JSONValue(document: document, node: value)))
            }
            position = json_object_iter_next(node, at)
        }
        return members
    }

    /// The elements of an array of strings; `nil` when this is not an array or contains any other value.
    public var strings: [String]? {
        guard let elements else { return nil }
        let strings = elements.compactMap(\.string)
        return strings.count == elements.count ? strings : nil
    }
}
