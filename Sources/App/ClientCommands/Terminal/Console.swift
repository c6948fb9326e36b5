import FoundationEssentials
import Glibc

/// Where a command prints: results to `output`, everything about their making to `errors`.
package struct Console: Sendable {
    package let output: Sink
    package let errors: Sink

    package static let process = Console(output: .descriptor(STDOUT_FILENO), errors: .descriptor(STDERR_FILENO))
}

/// One of a program's two outputs.
package struct Sink: Sendable {
    package let isTerminal: Bool
    package let style: Style
    /// Columns of the terminal; a common width when there is none.
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

    /// A line that is bytes already.
    package func line(_ bytes: [UInt8]) { write(bytes + [0x0A]) }

    /// Text as it stands, without an end of line.
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

    /// Blocks until all is written, which is what slows a command down to the pace of its reader.
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

    /// The reader has gone (`parley history a | head -1`) or the disk is full. What is not read need not be made.
    private static func end(_ descriptor: Int32) {
        if errno == EPIPE {
            // As every filter ends there; signals are ignored until here because a cut connection raises the same one.
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
        }
        exit(1)
    }
}
