import Glibc

/// Which of libmicrohttpd's messages are about one client rather than about this machine.
enum MHDLogMessages {
    private static let routine: [StaticString] = [
        "Error processing request", "Socket has been disconnected", "Connection was closed", "Connection socket is",
        "Failed to send", "Closing connection", "Too large value of", "Failed to parse", "Too late",
        "Received HTTP/1.1",
        "Not enough memory in pool", "Failed to receive", "Error: received handshake",
    ]

    static func isRoutine(_ message: UnsafePointer<CChar>) -> Bool {
        routine.contains { begins(message, with: $0) }
    }

    /// What it says when a callback returns no, which is how a socket is taken over.
    static func isTakeover(_ message: UnsafePointer<CChar>) -> Bool {
        begins(message, with: "Application reported internal error")
    }

    private static func begins(_ message: UnsafePointer<CChar>, with text: StaticString) -> Bool {
        text.withUTF8Buffer {
            strncmp(message, UnsafeRawPointer($0.baseAddress!).assumingMemoryBound(to: CChar.self), $0.count) == 0
        }
    }
}
