import Glibc
import Logging

/// Distinguishes libmicrohttpd's log messages about the input of one client from its messages about this machine.
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

    private static func begins(_ message: UnsafePointer<CChar>, with text: StaticString) -> Bool {
        text.withUTF8Buffer {
            strncmp(message, UnsafeRawPointer($0.baseAddress!).assumingMemoryBound(to: CChar.self), $0.count) == 0
        }
    }
}

extension ServerCore {
    /// Handles a log message of libmicrohttpd. Logs messages about this machine, but not messages about invalid input
    /// of one client.
    func log(_ message: UnsafePointer<CChar>) {
        if let status = MHDErrorPages.status(in: message) { refusal = status }
        if MHDErrorPages.isAboutLength(message) { isRefusalDropped = true }
        let isRoutine = MHDLogMessages.isRoutine(message)
        guard daemon == nil || logger.logLevel <= (isRoutine ? .debug : .warning) else { return }
        let text = String(cString: message).split(separator: "\n").first.map(String.init) ?? ""
        if daemon == nil { lastWords = text }
        logger.log(level: isRoutine ? .debug : .warning, "libmicrohttpd", metadata: ["message": "\(text)"])
    }
}
