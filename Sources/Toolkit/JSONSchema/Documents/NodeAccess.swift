import CJansson

/// A way to read parsed trees: `PublicAccess` or `LayoutAccess`. Code that runs for each node is generic and
/// specialized for both types, so that an access needs no branch, no witness call and no retain.
///
/// Callers must check the kind of a node first. Requesting the members of an array, for instance, is undefined
/// behavior. Pointers are valid as long as the tree exists.
protocol NodeAccess {
    static func size(ofObject object: Node) -> Int
    /// Returns the first member in the order of the text; nil for an empty object.
    static func firstEntry(in object: Node) -> Entry?
    static func entry(after entry: Entry, in object: Node) -> Entry?
    static func name(of entry: Entry) -> UnsafePointer<UInt8>
    static func nameLength(of entry: Entry) -> Int
    static func value(of entry: Entry) -> Node
    static func member(of object: Node, named name: UnsafePointer<UInt8>, length: Int) -> Node?

    static func count(ofArray array: Node) -> Int
    /// Returns the element at `index`, which must be below the number of elements.
    static func element(_ index: Int, of array: Node) -> Node

    /// Returns the bytes of a string as UTF-8, which the parser has validated. The string may contain NUL, so use its
    /// length to find its end.
    static func bytes(ofString string: Node) -> UnsafePointer<UInt8>
    static func length(ofString string: Node) -> Int

    static func integer(_ node: Node) -> Int64
    /// Returns the value of a real number. It is always finite, because the parser rejects numbers that overflow.
    static func real(_ node: Node) -> Double
}

/// A member of an object during an iteration: jansson's iterator, which both access methods use.
typealias Entry = UnsafeMutableRawPointer

extension NodeAccess {
    @inline(__always) static func nameBytes(of entry: Entry) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: name(of: entry), count: nameLength(of: entry))
    }

    @inline(__always) static func text(ofString string: Node) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: bytes(ofString: string), count: length(ofString: string))
    }
}

/// The access method that a schema uses for values.
public enum NodeAccessChoice: String, Sendable, CaseIterable {
    /// Uses jansson's structures directly if the check of their layout has succeeded. Otherwise uses jansson's
    /// documented functions.
    case automatic = "auto"
    /// Uses jansson's documented functions.
    case `public`
    /// Has the same effect as `automatic`. Tests and statistics use this name for direct access.
    case layout

    /// True when jansson's structures are read directly. This requires a successful self-check.
    var readsLayout: Bool { self != .public && LayoutAccess.isTrusted }
}

/// A node of a parsed tree. The caller must keep the `JSONValue` of the tree alive, because an evaluation does not
/// retain nodes.
typealias Node = UnsafeMutablePointer<json_t>

/// The kind of a node. The raw values are the values of jansson's `json_type` (jansson.h). A set of kinds is a mask
/// with the bits `1 << rawValue`.
enum NodeKind: UInt8 {
    case object, array, string, integer, real, `true`, `false`, null

    /// The bit of this kind in a set.
    @inline(__always) var bit: UInt8 { 1 << rawValue }
}

extension Node {
    @inline(__always) var kind: NodeKind {
        // The conversion is valid, because the cases are in jansson's order and an enum without payloads is represented
        // by the number of its case. A `switch` would compile to a slower jump table.
        unsafeBitCast(UInt8(truncatingIfNeeded: min(pointee.type.rawValue, 7)), to: NodeKind.self)
    }
}

/// Reads a tree through jansson's documented functions. This works with every version of jansson but needs a library
/// call for each access.
enum PublicAccess: NodeAccess {
    @inline(__always) static func size(ofObject object: Node) -> Int { json_object_size(object) }

    @inline(__always) static func firstEntry(in object: Node) -> Entry? { json_object_iter(object) }

    @inline(__always) static func entry(after entry: Entry, in object: Node) -> Entry? {
        json_object_iter_next(object, entry)
    }

    // The results are unwrapped without a check here and below. jansson returns null only for a null argument or a
    // wrong kind, which `NodeAccess` excludes.
    @inline(__always) static func name(of entry: Entry) -> UnsafePointer<UInt8> {
        UnsafeRawPointer(json_object_iter_key(entry).unsafelyUnwrapped).assumingMemoryBound(to: UInt8.self)
    }

    @inline(__always) static func nameLength(of entry: Entry) -> Int { json_object_iter_key_len(entry) }

    @inline(__always) static func value(of entry: Entry) -> Node { json_object_iter_value(entry).unsafelyUnwrapped }

    @inline(__always) static func member(
        of object: Node, named name: UnsafePointer<UInt8>, length: Int
    ) -> Node? {
        json_object_getn(object, UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self), length)
    }

    @inline(__always) static func count(ofArray array: Node) -> Int { json_array_size(array) }

    @inline(__always) static func element(_ index: Int, of array: Node) -> Node {
        json_array_get(array, index).unsafelyUnwrapped
    }

    @inline(__always) static func bytes(ofString string: Node) -> UnsafePointer<UInt8> {
        UnsafeRawPointer(json_string_value(string).unsafelyUnwrapped).assumingMemoryBound(to: UInt8.self)
    }

    @inline(__always) static func length(ofString string: Node) -> Int { json_string_length(string) }

    @inline(__always) static func integer(_ node: Node) -> Int64 { Int64(json_integer_value(node)) }

    @inline(__always) static func real(_ node: Node) -> Double { json_real_value(node) }
}
