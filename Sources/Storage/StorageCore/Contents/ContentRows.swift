/// Some rows of a ``ContentTable``, column by column.
package struct ContentRows: Sendable {
    /// The values of one column. Only the list of the column's kind has elements.
    package struct Column: Sendable {
        package var integers: [Int64?] = []
        package var doubles: [Double?] = []
        package var texts: [String?] = []
        package var byteStrings: [[UInt8]?] = []
    }

    package let table: ContentTable
    package var columns: [Column]
    /// The number of rows.
    package private(set) var count = 0
    /// The size of the texts and byte strings.
    package private(set) var bytes = 0

    package init(of table: ContentTable) {
        self.table = table
        columns = table.columns.map { _ in Column() }
    }

    /// Appends a row. The closures return the value of the column with an index.
    package mutating func append(
        _ kinds: [ContentColumn], integer: (Int) -> Int64?, double: (Int) -> Double?, text: (Int) -> String?,
        byteString: (Int) -> [UInt8]?
    ) {
        for (index, column) in kinds.enumerated() {
            switch column.kind {
            case .integer, .boolean: columns[index].integers.append(integer(index))
            case .double: columns[index].doubles.append(double(index))
            case .text, .timetokens:
                let value = text(index)
                bytes += value?.utf8.count ?? 0
                columns[index].texts.append(value)
            case .bytes:
                let value = byteString(index)
                bytes += value?.count ?? 0
                columns[index].byteStrings.append(value)
            }
        }
        count += 1
    }
}

/// The number of rows of a table, and a checksum that does not depend on their order. Checksums of different processes
/// are not comparable.
package struct ContentChecksum: Sendable, Equatable {
    package private(set) var rows = 0
    private var sum: UInt64 = 0

    package init() {}

    package mutating func add(_ rows: ContentRows) {
        let kinds = rows.table.columns.map(\.kind)
        self.rows += rows.count
        for row in 0..<rows.count {
            var hasher = Hasher()
            for (kind, column) in zip(kinds, rows.columns) {
                switch kind {
                case .integer, .boolean: hasher.combine(column.integers[row])
                case .double: hasher.combine(column.doubles[row])
                case .text, .timetokens: hasher.combine(column.texts[row].map { Array($0.utf8) })
                case .bytes: hasher.combine(column.byteStrings[row])
                }
            }
            sum &+= UInt64(bitPattern: Int64(hasher.finalize()))
        }
    }
}
