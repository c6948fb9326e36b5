internal import CMicrohttpd
import Glibc

/// The flags and options for starting a daemon. This object owns the memory to which the library keeps pointers.
final class DaemonOptions {
    /// The flags select an external epoll descriptor and connections that can be suspended. With TURBO, the library
    /// closes sockets without `shutdown`. A `shutdown` would also end a stream that continues on a duplicate of the
    /// socket. The library adds no `Date`, because it would format the date for each response (``HTTPDate``).
    private static let flags =
        MHD_USE_EPOLL.rawValue | MHD_USE_TURBO.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue
        | MHD_USE_ERROR_LOG.rawValue | MHD_USE_NO_LISTEN_SOCKET.rawValue | MHD_USE_SUPPRESS_DATE_NO_CLOCK.rawValue

    private let context: UnsafeMutableRawPointer
    private let limits: ServerOptions.Limits
    private let isSecure: Bool
    private let memory: Memory
    private let sink: UnsafeMutablePointer<shim_log_sink>

    init(
        context: UnsafeMutableRawPointer, isSecure: Bool, limits: ServerOptions.Limits, memory: Memory
    ) {
        self.memory = memory
        self.context = context
        self.limits = limits
        self.isSecure = isSecure
        sink = .allocate(capacity: 1)
        sink.initialize(to: shim_log_sink(context: context, write: Callbacks.log))
    }

    deinit {
        sink.deallocate()
    }

    /// The memory that one connection may use for the request line, the header fields and the response header.
    ///
    /// The library zeroes this memory between two requests, so a larger value slows down every request: with sixteen
    /// busy connections, 80 KiB take 2 to 9 µs more per request than 16 KiB. The library allocates up to 32 KiB with
    /// `malloc`, and maps more than that for each connection.
    enum Memory {
        /// Memory for short headers; see ``LongHeaders``.
        case short
        /// Memory for the longest accepted request line or the longest accepted fields, whichever is larger, and 16 KiB
        /// more. The memory is not enough for the longest line and the longest fields in one request.
        case full
    }

    private var connectionMemory: Int {
        switch memory {
        case .short: 16 * 1024
        case .full: max(limits.requestLineBytes, limits.headerBytes) + 16 * 1024
        }
    }

    func start() -> OpaquePointer? {
        var items = items
        let flags = Self.flags | (isSecure ? MHD_USE_TLS.rawValue : 0)
        return shim_start_daemon(flags, Callbacks.access, context, &items)
    }

    /// A GnuTLS priority string: TLS 1.2 and later (RFC 8996 deprecates older versions), with the default ciphers.
    private static let protocols: StaticString = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

    private var items: [MHD_OptionItem] {
        var items = [
            shim_logger_option(sink),
            item(.NOTIFY_COMPLETED, unsafeBitCast(Callbacks.completed, to: Int.self), context),
            item(.NOTIFY_CONNECTION, unsafeBitCast(Callbacks.connection, to: Int.self), context),
            item(.URI_LOG_CALLBACK, unsafeBitCast(Callbacks.requestLine, to: Int.self), context),
            // By default, the library decodes the path before routing, which would change %2F and %00 into other
            // characters.
            item(.UNESCAPE_CALLBACK, unsafeBitCast(Callbacks.unescape, to: Int.self), nil),
            // The listener enforces the limit on connections. The library's own limit is higher and serves only as a
            // safeguard.
            item(.CONNECTION_LIMIT, limits.connections + 1024, nil),
            item(.CONNECTION_MEMORY_LIMIT, connectionMemory, nil),
            // The server has its own deadlines. The library's timeout applies only to idle connections and would not
            // close the connection of a client that sends one byte per second.
            item(.CONNECTION_TIMEOUT, 0, nil),
        ]
        if isSecure {
            // The library calls this function at each handshake, so the certificate can be replaced while the daemon
            // runs.
            items.append(
                item(.HTTPS_CERT_CALLBACK, 0, unsafeBitCast(Callbacks.identity, to: UnsafeMutableRawPointer.self)))
            items.append(item(.HTTPS_PRIORITIES, 0, UnsafeMutableRawPointer(mutating: Self.protocols.utf8Start)))
        }
        items.append(item(.END, 0, nil))
        return items
    }

    private func item(_ option: MHD_OPTION, _ value: Int, _ pointer: UnsafeMutableRawPointer?) -> MHD_OptionItem {
        MHD_OptionItem(option: option, value: value, ptr_value: pointer)
    }
}
