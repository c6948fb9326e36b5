extension [UInt8] {
    mutating func append(bigEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }

    /// Appends an array in PostgreSQL's binary format (`array_send`): the number of dimensions, a flag for nulls, the
    /// type of the elements, then the length and the lower bound of the dimension, then each element after its length.
    mutating func append<Item>(
        array elements: [Item?], of type: UInt32, _ appendItem: (inout [UInt8], Item) -> Void
    ) {
        append(bigEndian: Int32(elements.isEmpty ? 0 : 1))
        append(bigEndian: Int32(elements.contains { $0 == nil } ? 1 : 0))
        append(bigEndian: type)
        guard !elements.isEmpty else { return }
        append(bigEndian: Int32(clamping: elements.count))
        append(bigEndian: Int32(1))
        for element in elements {
            guard let element else {
                append(bigEndian: Int32(-1))
                continue
            }
            let start = count
            append(bigEndian: Int32(0))
            appendItem(&self, element)
            let length = Int32(clamping: count - start - 4)
            for offset in 0..<4 { self[start + offset] = UInt8(truncatingIfNeeded: length >> (24 - 8 * offset)) }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The big-endian number at the start of the bytes.
    func bigEndian<Number: FixedWidthInteger>(_: Number.Type) -> Number {
        Number(bigEndian: loadUnaligned(as: Number.self))
    }

    /// A signed number of two, four or eight bytes.
    var signedInteger: Int64? {
        switch count {
        case 2: Int64(bigEndian(Int16.self))
        case 4: Int64(bigEndian(Int32.self))
        case 8: bigEndian(Int64.self)
        default: nil
        }
    }

    /// The elements of an array in PostgreSQL's binary format. Returns `nil` if the array has more than one dimension
    /// or the bytes are malformed.
    func arrayElements<Element>(_ element: (UnsafeRawBufferPointer) -> Element?) -> [Element?]? {
        guard count >= 12 else { return nil }
        let dimensions = bigEndian(Int32.self)
        guard dimensions != 0 else { return [] }
        guard dimensions == 1, count >= 20 else { return nil }
        let total = Int(UnsafeRawBufferPointer(rebasing: self[12...]).bigEndian(Int32.self))
        var rest = self[20...]
        guard total >= 0, total <= rest.count / 4 else { return nil }
        var elements: [Element?] = []
        elements.reserveCapacity(total)
        for _ in 0..<total {
            guard rest.count >= 4 else { return nil }
            let length = Int(UnsafeRawBufferPointer(rebasing: rest).bigEndian(Int32.self))
            rest = rest.dropFirst(4)
            guard length >= 0 else {
                elements.append(nil)
                continue
            }
            guard length <= rest.count else { return nil }
            elements.append(element(UnsafeRawBufferPointer(rebasing: rest.prefix(length))))
            rest = rest.dropFirst(length)
        }
        return elements
    }
}
