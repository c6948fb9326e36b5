import Glibc

extension NodeAccess {
    /// Returns true when two values are equal according to `const`, `enum` and `uniqueItems`: 1 equals 1.0, 0 equals
    /// -0.0, the order of members is irrelevant, and strings are compared by their bytes. The recursion is at most as
    /// deep as the shallower tree.
    static func areEqual(_ left: Node, _ right: Node) -> Bool {
        switch (left.kind, right.kind) {
        case (.string, .string): equalStrings(left, right)
        case (.integer, .integer): integer(left) == integer(right)
        case (.real, .real): real(left) == real(right)
        case (.integer, .real): Number.compare(integer(left), real(right)) == 0
        case (.real, .integer): Number.compare(integer(right), real(left)) == 0
        case (.array, .array): equalArrays(left, right)
        case (.object, .object): equalObjects(left, right)
        case (let left, let right): left == right
        }
    }

    @inline(__always) private static func equalStrings(_ left: Node, _ right: Node) -> Bool {
        let length = length(ofString: left)
        return length == self.length(ofString: right)
            && memcmp(bytes(ofString: left), bytes(ofString: right), length) == 0
    }

    private static func equalArrays(_ left: Node, _ right: Node) -> Bool {
        let count = count(ofArray: left)
        guard count == self.count(ofArray: right) else { return false }
        for index in 0..<count where !areEqual(element(index, of: left), element(index, of: right)) { return false }
        return true
    }

    private static func equalObjects(_ left: Node, _ right: Node) -> Bool {
        guard size(ofObject: left) == size(ofObject: right) else { return false }
        var position = firstEntry(in: left)
        // Objects with the same members usually have them in the same order, so the member at the same position is
        // tried before a lookup.
        var twin = firstEntry(in: right)
        while let entry = position {
            guard let other = twin.flatMap({ named(as: entry, $0) }) ?? counterpart(of: entry, in: right),
                areEqual(value(of: entry), other)
            else { return false }
            position = self.entry(after: entry, in: left)
            twin = twin.flatMap { self.entry(after: $0, in: right) }
        }
        return true
    }

    @inline(__always) private static func named(as entry: Entry, _ twin: Entry) -> Node? {
        let length = nameLength(of: entry)
        let isSame = length == nameLength(of: twin) && memcmp(name(of: entry), name(of: twin), length) == 0
        return isSame ? value(of: twin) : nil
    }

    @inline(__always) private static func counterpart(of entry: Entry, in object: Node) -> Node? {
        member(of: object, named: name(of: entry), length: nameLength(of: entry))
    }
}
