import FoundationEssentials
import Glibc

/// The outputs of a command. Results go to `output`; errors and progress go to `errors`.
package struct Console: Sendable {
    package let output: Sink
    package let errors: Sink

    package static let process = Console(output: .descriptor(STDOUT_FILENO), errors: .descriptor(STDERR_FILENO))
}

/// The standard output or the error output of a program.
package struct Sink: Sendable {
    package let isTerminal: Bool
    package let style: Style
    /// The width of the terminal in columns; a usual width, such as 80, when there is no terminal.
    package let width: @Sendable () -> Int
    private let write: @Sendable ([UInt8]) -> Void

    package init(
        isTerminal: Bool, style: Style, width: @escaping @Sendable () -> Int = { 80 },
        write: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.isTerminal = isTerminal
        self.style = style
        self.width = width
        self.write = write
    }

    package func line(_ text: String) { write(Array((text + "\n").utf8)) }

    /// Writes bytes as a line.
    package func line(_ bytes: [UInt8]) { write(bytes + [0x0A]) }

    /// Writes text without a line end.
    package func text(_ text: String) { write(Array(text.utf8)) }
}

extension Sink {
    package static func descriptor(_ descriptor: Int32) -> Sink {
        let isTerminal = isatty(descriptor) == 1
        return Sink(
            isTerminal: isTerminal,
            style: Style(isTerminal: isTerminal, environment: ProcessInfo.processInfo.environment),
            width: { columns(of: descriptor) }, write: { writeAll($0, to: descriptor) })
    }

    private static func columns(of descriptor: Int32) -> Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Blocks until all bytes are written, so a slow reader slows down the command.
    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&waiting, 1, -1)
                } else if errno != EINTR {
                    end(descriptor)
                }
            }
        }
    }

    /// Ends the program, because the reader of the output has ended (`parley history a | head -1`) or the disk is full.
    private static func end(_ descriptor: Int32) {
        if errno == EPIPE {
            // A program in a pipeline ends by SIGPIPE in this case. The signal is otherwise ignored, because a broken
            // connection causes it too.
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
        }
        exit(1)
    }
}

/// Makes untrusted text safe for a terminal.
package enum SanitizedText {
    /// Returns the text with all control characters of terminals made visible: C0, DEL, C1, and characters that change
    /// the text direction.
    ///
    /// JSON escapes C0 but not C1. U+009B, which is in C1, begins a control sequence as ESC [ does.
    package static func safe(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isObeyed) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isObeyed(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Returns the width of a text in columns. A wide East Asian character or an emoji has a width of two columns.
    package static func width(_ text: String) -> Int {
        text.reduce(0) { $0 + ($1.unicodeScalars.first.map(isWide) == true ? 2 : 1) }
    }

    /// Returns true for a wide character: East Asian Width W or F (UAX 11), determined by Unicode blocks.
    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}

/// The colours of text output; none when colours are disabled.
package struct Style: Sendable {
    package let isColoured: Bool

    package static let plain = Style(isColoured: false)

    package init(isColoured: Bool) { self.isColoured = isColoured }

    /// Enables colours on a terminal that supports them, unless the variable `NO_COLOR` is set (no-color.org).
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

/// Rows in aligned columns.
package struct Table {
    package let titles: [String]
    private var rows: [[String]] = []

    package init(_ titles: [String]) { self.titles = titles }

    /// Adds a row. Control characters in the cells are made visible.
    ///
    /// - Parameter cells: the texts of the columns. Missing texts are empty.
    package mutating func add(_ cells: [String]) {
        rows.append(titles.indices.map { $0 < cells.count ? SanitizedText.safe(cells[$0]) : "" })
    }

    /// Returns the lines of the table, with two spaces between columns and no spaces at the ends.
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

    /// Formats names and values, one pair per line.
    package static func pairs(_ pairs: [(name: String, value: String)], _ style: Style) -> [String] {
        let width = pairs.reduce(0) { max($0, SanitizedText.width($1.name)) }
        return pairs.map { name, value in
            let gap = String(repeating: " ", count: width - SanitizedText.width(name) + 2)
            return style.faint(SanitizedText.safe(name)) + gap + SanitizedText.safe(value)
        }
    }
}
