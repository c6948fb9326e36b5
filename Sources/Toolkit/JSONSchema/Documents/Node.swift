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
        // The compiler folds this into one bounded move: the cases stand in jansson's order.
        switch pointee.type.rawValue {
        case 0: .object
        case 1: .array
        case 2: .string
        case 3: .integer
        case 4: .real
        case 5: .true
        case 6: .false
        default: .null
        }
    }
}
