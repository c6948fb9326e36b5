/// Rows in aligned columns.
package struct Table {
    package let titles: [String]
    private var rows: [[String]] = []

    package init(_ titles: [String]) { self.titles = titles }

    /// - Parameter cells: one for each title; what is missing is left empty.
    package mutating func add(_ cells: [String]) {
        rows.append(titles.indices.map { $0 < cells.count ? SanitizedText.safe(cells[$0]) : "" })
    }

    /// The lines, two blanks between columns and none at their end.
    package func lines(_ style: Style) -> [String] {
        let titles = titles.map { $0.uppercased() }
        let widths = titles.indices.map { column in
            ([titles] + rows).reduce(0) { max($0, SanitizedText.width($1[column])) }
        }
        func line(_ cells: [String]) -> String {
            var text = ""
            for (column, cell) in cells.enumerated() {
                text += cell
                if cells[(column + 1)...].contains(where: { !$0.isEmpty }) {
                    text += String(repeating: " ", count: widths[column] - SanitizedText.width(cell) + 2)
                }
            }
            return text
        }
        return [style.heading(line(titles))] + rows.map(line)
    }

    /// Names and values, one a line.
    package static func pairs(_ pairs: [(name: String, value: String)], _ style: Style) -> [String] {
        let width = pairs.reduce(0) { max($0, SanitizedText.width($1.name)) }
        return pairs.map { name, value in
            let gap = String(repeating: " ", count: width - SanitizedText.width(name) + 2)
            return style.faint(SanitizedText.safe(name)) + gap + SanitizedText.safe(value)
        }
    }
}
