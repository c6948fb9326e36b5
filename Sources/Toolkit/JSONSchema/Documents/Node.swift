import CJansson

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
