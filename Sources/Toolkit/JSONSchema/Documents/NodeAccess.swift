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
