import CJansson

extension LayoutAccess {
    /// True when jansson's structures have the layout that `LayoutAccess` expects. This is checked once, by comparing
    /// every field with the results of the documented functions for trees of many sizes. If the version or any field
    /// differs, `PublicAccess` is used.
    static let isTrusted = isExpectedVersion && LayoutCheck<LayoutAccess>.passes()

    private static var isExpectedVersion: Bool {
        MemoryLayout<Int>.size == 8 && String(cString: jansson_version_str()) == "2.14"
    }
}

/// Compares the results of an access method with the results of the documented functions. A value that was read at a
/// wrong offset is only compared and never used as a pointer. The check follows only pointers from the documented
/// functions, with one exception (see `agrees(onArray:)`).
enum LayoutCheck<Layout: NodeAccess> {
    static func passes() -> Bool {
        scalars() && [0, 1, 2, 7, 8, 9, 16, 17, 100, 1_000].allSatisfy { arrays(of: $0) && objects(of: $0) }
    }

    /// Returns true if `Layout` and the documented functions have the same results for a whole tree.
    static func agrees(on node: Node) -> Bool {
        switch node.kind {
        case .object: agrees(onObject: node)
        case .array: agrees(onArray: node)
        case .string:
            Layout.length(ofString: node) == json_string_length(node)
                && Layout.bytes(ofString: node) == PublicAccess.bytes(ofString: node)
        case .integer: Layout.integer(node) == PublicAccess.integer(node)
        case .real: Layout.real(node).bitPattern == PublicAccess.real(node).bitPattern
        case .true, .false, .null: true
        }
    }

    private static func agrees(onArray array: Node) -> Bool {
        let count = json_array_size(array)
        guard Layout.count(ofArray: array) == count else { return false }
        // The table of elements is the only pointer that the documented functions do not return. It is followed only
        // after the count, which is next to it, was equal.
        return (0..<count).allSatisfy { index in
            let element = PublicAccess.element(index, of: array)
            return Layout.element(index, of: array) == element && agrees(on: element)
        }
    }

    private static func agrees(onObject object: Node) -> Bool {
        guard Layout.size(ofObject: object) == json_object_size(object) else { return false }
        var entry = json_object_iter(object)
        guard Layout.firstEntry(in: object) == entry else { return false }
        while let at = entry {
            let value = PublicAccess.value(of: at)
            let isSame =
                Layout.name(of: at) == PublicAccess.name(of: at)
                && Layout.nameLength(of: at) == json_object_iter_key_len(at)
                && Layout.value(of: at) == value && agrees(on: value)
            entry = json_object_iter_next(object, at)
            guard isSame, Layout.entry(after: at, in: object) == entry else { return false }
        }
        return true
    }

    private static func scalars() -> Bool {
        let integers: [Int64] = [0, 1, -1, .max, .min]
        let reals = [0, -0.0, 1.5, -1e308, Double.leastNonzeroMagnitude]
        let lengths = [0, 1, 7, 8, 23, 24, 1_000, 70_000]
        return integers.allSatisfy { check(json_integer(json_int_t($0))) }
            && reals.allSatisfy { check(json_real($0)) } && lengths.allSatisfy { check(text(length: $0)) }
    }

    private static func arrays(of count: Int) -> Bool {
        let array = json_array()
        for index in 0..<count { json_array_append_new(array, json_integer(json_int_t(index))) }
        // Removing an element from the middle moves the following elements, and the table is then larger than its
        // content.
        if count > 2 {
            json_array_remove(array, count / 2)
            json_array_set_new(array, 0, text(length: count))
            json_array_insert_new(array, 1, json_real(0.5))
        }
        return check(array)
    }

    /// Returns true if `Layout` and the documented functions have the same results for an object of up to `count`
    /// members. Adds members so that the object's table grows, then replaces some, deletes some, and adds some again.
    private static func objects(of count: Int) -> Bool {
        let object = json_object()
        for index in 0..<count { set(name(index), json_integer(json_int_t(index)), in: object) }
        for index in stride(from: 0, to: count, by: 3) { set(name(index), text(length: index), in: object) }
        for index in stride(from: 0, to: count, by: 4) { delete(name(index), from: object) }
        for index in stride(from: 0, to: count, by: 8) { set(name(index), json_array(), in: object) }
        return check(object)
    }

    /// Returns true if `Layout` and the documented functions have the same results for a tree, and frees the tree.
    ///
    /// - Parameter node: the root of the tree; nil when memory for the tree could not be allocated. The result is then
    ///   false.
    private static func check(_ node: Node?) -> Bool {
        guard let node else { return false }
        defer { json_decref(node) }
        return agrees(on: node)
    }

    /// Returns a name for an index. The names have many different lengths, so that a wrong length is not equal by
    /// chance.
    private static func name(_ index: Int) -> [UInt8] {
        Array("\(index)".utf8) + Array(repeating: 0x61, count: index % 40)
    }

    private static func text(length: Int) -> Node? {
        withCharacters(Array(repeating: 0x62, count: length)) { json_stringn($0, $1) }
    }

    private static func set(_ name: [UInt8], _ value: Node?, in object: Node?) {
        _ = withCharacters(name) { json_object_setn_new(object, $0, $1, value) }
    }

    private static func delete(_ name: [UInt8], from object: Node?) {
        _ = withCharacters(name) { json_object_deln(object, $0, $1) }
    }

    private static func withCharacters<Result>(
        _ bytes: [UInt8], _ body: (UnsafePointer<CChar>, Int) -> Result
    ) -> Result {
        // One byte is added, because an empty array may have no address.
        (bytes + [0]).withUnsafeBytes {
            body($0.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: CChar.self), bytes.count)
        }
    }
}
