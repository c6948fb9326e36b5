import CJansson

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
