import CJansson

/// An access method for parsed trees. There are two, `PublicAccess` and `LayoutAccess`. Code that runs for each node is
/// generic and specialized for each of them, so that an access costs no branch, no witness call and no retain.
///
/// Callers must check the kind first; asking an array for members is an unchecked programming error. Pointers are valid
/// as long as the tree.
protocol NodeAccess {
    static func size(ofObject object: Node) -> Int
    /// The first member, in the order of the text.
    static func firstEntry(in object: Node) -> Entry?
    static func entry(after entry: Entry, in object: Node) -> Entry?
    static func name(of entry: Entry) -> UnsafePointer<UInt8>
    static func nameLength(of entry: Entry) -> Int
    static func value(of entry: Entry) -> Node
    static func member(of object: Node, named name: UnsafePointer<UInt8>, length: Int) -> Node?

    static func count(ofArray array: Node) -> Int
    /// The element at `index`, which is below the count.
    static func element(_ index: Int, of array: Node) -> Node

    /// The string as UTF-8 that the parser has validated. It may contain NUL, so only the length marks its end.
    static func bytes(ofString string: Node) -> UnsafePointer<UInt8>
    static func length(ofString string: Node) -> Int

    static func integer(_ node: Node) -> Int64
    /// The value of a real number. Always finite, because the parser rejects overflow.
    static func real(_ node: Node) -> Double
}

/// A member during iteration over its object: jansson's iterator, for both access methods.
typealias Entry = UnsafeMutableRawPointer

extension NodeAccess {
    @inline(__always) static func nameBytes(of entry: Entry) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: name(of: entry), count: nameLength(of: entry))
    }

    @inline(__always) static func text(ofString string: Node) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: bytes(ofString: string), count: length(ofString: string))
    }
}

/// The access method of a schema's evaluation.
public enum NodeAccessChoice: String, Sendable, CaseIterable {
    /// jansson's structures if the self-check succeeded, otherwise its functions.
    case automatic = "auto"
    /// jansson's documented functions.
    case `public`
    /// Same as `automatic`. Tests and statistics use this name for direct access.
    case layout

    /// True when the structures are read directly, which requires a successful self-check.
    var readsLayout: Bool { self != .public && LayoutAccess.isTrusted }
}

/// A node of a parsed tree, borrowed from a `JSONValue` that the caller keeps alive. Evaluation changes no reference
/// counts.
typealias Node = UnsafeMutablePointer<json_t>

/// The kind of a node. The raw values are jansson's (`json_type`, jansson.h), so a set of kinds is a mask of `1 <<
/// rawValue`.
enum NodeKind: UInt8 {
    case object, array, string, integer, real, `true`, `false`, null

    /// The bit of this kind in a set of kinds.
    @inline(__always) var bit: UInt8 { 1 << rawValue }
}

extension Node {
    @inline(__always) var kind: NodeKind {
        // The cases have jansson's order, and an enum without payloads is represented by the number of its case. A
        // `switch` would compile to a jump table wherever the kind is used as a number.
        unsafeBitCast(UInt8(truncatingIfNeeded: min(pointee.type.rawValue, 7)), to: NodeKind.self)
    }
}

/// Reads a tree through jansson's documented functions. Correct with every version, at the cost of a library call per
/// access.
enum PublicAccess: NodeAccess {
    @inline(__always) static func size(ofObject object: Node) -> Int { json_object_size(object) }

    @inline(__always) static func firstEntry(in object: Node) -> Entry? { json_object_iter(object) }

    @inline(__always) static func entry(after entry: Entry, in object: Node) -> Entry? {
        json_object_iter_next(object, entry)
    }

    // jansson returns null only for a null argument or a wrong kind, which the rules of `NodeAccess` exclude. Hence the
    // unchecked unwrapping here and below.
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
