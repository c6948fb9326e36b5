import Glibc
import Logging

/// Distinguishes libmicrohttpd's messages about one client from those about this machine.
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

    /// True for the message that the library logs when a callback returns `MHD_NO`, which is how a socket is taken
    /// over.
    static func isTakeover(_ message: UnsafePointer<CChar>) -> Bool {
        begins(message, with: "Application reported internal error")
    }

    private static func begins(_ message: UnsafePointer<CChar>, with text: StaticString) -> Bool {
        text.withUTF8Buffer {
            strncmp(message, UnsafeRawPointer($0.baseAddress!).assumingMemoryBound(to: CChar.self), $0.count) == 0
        }
    }
}

extension ServerCore {
    /// Handles a log message of libmicrohttpd. Messages about invalid input of one client are not logged; messages
    /// about this machine are.
    func log(_ message: UnsafePointer<CChar>) {
        // The library logs this each time a socket is taken over, which is how every stream begins.
        guard !MHDLogMessages.isTakeover(message) else { return }
        if let status = MHDErrorPages.status(in: message) { refusal = status }
        if MHDErrorPages.isAboutLength(message) { isRefusalDropped = true }
        let isRoutine = MHDLogMessages.isRoutine(message)
        guard daemon == nil || logger.logLevel <= (isRoutine ? .debug : .warning) else { return }
        let text = String(cString: message).split(separator: "\n").first.map(String.init) ?? ""
        if daemon == nil { lastWords = text }
        logger.log(level: isRoutine ? .debug : .warning, "libmicrohttpd", metadata: ["message": "\(text)"])
    }
}
