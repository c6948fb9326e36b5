/// The reason why an operation on a ``Connection`` failed.
public struct NATSFailure: Error, Sendable, Equatable {
    /// The class of a failure.
    public enum Kind: Sendable, Equatable {
        /// The client library is not installed. The message names the Debian package.
        case libraryMissing
        /// A setting, or a parameter of the call, is wrong.
        case invalid
        /// No server could be reached.
        case unreachable
        /// The server refused the credentials.
        case unauthorized
        /// The TLS handshake failed, a certificate is not trusted, or only one side wants TLS.
        case tls
        /// The operation did not end before its deadline.
        case timeout
        /// There is no connection to a server at this moment.
        case notConnected
        /// The messages that wait to be sent fill ``ConnectionSettings/bufferedBytes``.
        case bufferFull
        /// The payload is larger than the server accepts.
        case payloadTooLarge
        /// The connection was closed.
        case closed
        /// The system or the client library failed in another way.
        case system
    }

    /// The class of the failure.
    public var kind: Kind
    /// The description of the failure, for the log. It contains no password and no token.
    public var message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    static let closed = NATSFailure(.closed, "the connection to NATS is closed")
    static let notConnected = NATSFailure(.notConnected, "there is no connection to a NATS server")
    static let noThread = NATSFailure(.system, "the system cannot start a thread")
}
