/// Colours for people, or none.
package struct Style: Sendable {
    package let isColoured: Bool

    package static let plain = Style(isColoured: false)

    package init(isColoured: Bool) { self.isColoured = isColoured }

    /// Colours on a terminal that can show them, unless `NO_COLOR` is set to anything (no-color.org).
    package init(isTerminal: Bool, environment: [String: String]) {
        isColoured = isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    package func heading(_ text: String) -> String { paint(text, "1") }
    package func faint(_ text: String) -> String { paint(text, "2") }
    package func good(_ text: String) -> String { paint(text, "32") }
    package func bad(_ text: String) -> String { paint(text, "31") }
    package func name(_ text: String) -> String { paint(text, "36") }

    private func paint(_ text: String, _ code: String) -> String {
        isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
