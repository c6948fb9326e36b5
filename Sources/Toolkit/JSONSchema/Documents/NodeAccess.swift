import CJansson

/// How a tree is read. Two ways exist, `PublicAccess` and `LayoutAccess`, and everything that runs per node is generic
/// over them: specialised once for each, an access costs no branch, no witness call and no retain.
///
/// Whoever calls has looked at the kind; asking an array for members is a programmer's error that nobody checks.
/// Pointers live as long as the tree.
protocol NodeAccess {
    static func size(ofObject object: Node) -> Int
    /// Members in the order they were written.
    static func firstEntry(in object: Node) -> Entry?
    static func entry(after entry: Entry, in object: Node) -> Entry?
    static func name(of entry: Entry) -> UnsafePointer<UInt8>
    static func nameLength(of entry: Entry) -> Int
    static func value(of entry: Entry) -> Node
    static func member(of object: Node, named name: UnsafePointer<UInt8>, length: Int) -> Node?

    static func count(ofArray array: Node) -> Int
    /// The element at `index`, which is below the count.
    static func element(_ index: Int, of array: Node) -> Node

    /// UTF-8, checked by the parser; may hold NUL, so only the length ends it.
    static func bytes(ofString string: Node) -> UnsafePointer<UInt8>
    static func length(ofString string: Node) -> Int

    static func integer(_ node: Node) -> Int64
    /// Finite: the parser refuses what overflows.
    static func real(_ node: Node) -> Double
}

/// A member during a walk over its object: jansson's iterator, on both ways of access.
typealias Entry = UnsafeMutableRawPointer

extension NodeAccess {
    @inline(__always) static func nameBytes(of entry: Entry) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: name(of: entry), count: nameLength(of: entry))
    }

    @inline(__always) static func text(ofString string: Node) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: bytes(ofString: string), count: length(ofString: string))
    }
}

/// Which way of access a schema is to be evaluated with.
public enum NodeAccessChoice: String, Sendable, CaseIterable {
    /// jansson's structures when the self-check at start-up found them as expected, else its functions.
    case automatic = "auto"
    /// jansson's documented functions.
    case `public`
    /// As `automatic`; the name under which tests and figures ask for the structures.
    case layout

    /// Whether the structures are read, which never happens unless the self-check passed.
    var readsLayout: Bool { self != .public && LayoutAccess.isTrusted }
}

/// A place in a parsed tree, borrowed from a `JSONValue` that its user keeps alive: evaluation touches no reference
/// count.
typealias Node = UnsafeMutablePointer<json_t>

/// What stands at a node. The raw values are jansson's own (`json_type`, jansson.h), so a set of kinds is a mask of
/// `1 << rawValue`.
enum NodeKind: UInt8 {
    case object, array, string, integer, real, `true`, `false`, null

    /// The bit of this kind in a set of kinds.
    @inline(__always) var bit: UInt8 { 1 << rawValue }
}

extension Node {
    @inline(__always) var kind: NodeKind {
        // The cases stand in jansson's order, and an enum without payloads is its case's number. A `switch` would become a
        // jump through a table wherever the kind is used as a number.
        unsafeBitCast(UInt8(truncatingIfNeeded: min(pointee.type.rawValue, 7)), to: NodeKind.self)
    }
}

/// Reads a tree through jansson's documented functions: right with every version, a library call per access.
enum PublicAccess: NodeAccess {
    @inline(__always) static func size(ofObject object: Node) -> Int { json_object_size(object) }

    @inline(__always) static func firstEntry(in object: Node) -> Entry? { json_object_iter(object) }

    @inline(__always) static func entry(after entry: Entry, in object: Node) -> Entry? {
        json_object_iter_next(object, entry)
    }

    // jansson answers null only to a null argument or a wrong kind, which `NodeAccess` rules out: hence the unchecked
    // unwrapping here and below.
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
