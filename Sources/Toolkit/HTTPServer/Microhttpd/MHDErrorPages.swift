internal import CMicrohttpd
import Glibc

/// Replaces the HTML error pages that libmicrohttpd generates by problem responses.
///
/// When the library cannot parse a request, it sends an HTML page of its own and calls no handler. Examples are a
/// header line without a colon, an unknown HTTP version, a header that exceeds its memory, and invalid chunks. The
/// library has no callback for these responses. However, it creates them with its own public function, which it calls
/// through the dynamic linker, so a program can supply a function with the same name. The function below creates
/// problem responses instead of the known pages, and creates all other responses as the library would. If the library
/// is linked to its own function (`-Bsymbolic`, static linking), the pages are not replaced.
enum MHDErrorPages {
    /// Returns the status of the error page that a log message of the library announces; `nil` for any other message.
    /// The library logs this message before it creates the page, and only the message states the status.
    static func status(in message: UnsafePointer<CChar>) -> Int? {
        let announcement: StaticString = "Error processing request (HTTP response code is "
        let length = announcement.utf8CodeUnitCount
        guard
            strncmp(message, UnsafeRawPointer(announcement.utf8Start).assumingMemoryBound(to: CChar.self), length) == 0
        else { return nil }
        let status = atoi(message + length)
        return 400...599 ~= status ? Int(status) : nil
    }

    static func problem(_ status: Int, limits: ServerOptions.Limits) -> Problem {
        switch status {
        case 413: Problem.contentTooLarge(limit: Int(Int32.max))
        case 414: .targetTooLong(limit: limits.requestLineBytes)
        case 431: .headersTooLarge(limit: limits.headerBytes)
        case 505: Problem(status: 505, code: "http_version_not_supported", title: "Use HTTP/1.1")
        default: .malformedRequest("The request is not valid HTTP/1.1")
        }
    }

    /// The key under which each thread stores the ``ServerCore`` whose daemon it is running.
    private static let running: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    static func withRunning<Result>(_ core: ServerCore, _ body: () -> Result) -> Result {
        pthread_setspecific(running, Unmanaged.passUnretained(core).toOpaque())
        defer { pthread_setspecific(running, nil) }
        return body()
    }

    /// The replacement for a response that the library is about to generate.
    enum ReplacementPage {
        /// The response is not one of the library's error pages.
        case none
        /// Send this response instead.
        case response(Response)
        /// The library gets no response and drops the connection; ``ServerCore`` sends a response itself.
        case nothing
    }

    /// The ``ServerCore`` whose daemon is running on this thread; nil on all other threads and at all other times.
    static var runningCore: ServerCore? {
        pthread_getspecific(running).map { Unmanaged<ServerCore>.fromOpaque($0).takeUnretainedValue() }
    }

    fileprivate static func substitute() -> ReplacementPage { runningCore?.removeRefusal() ?? .none }

    /// Returns true for the message about a rejected Content-Length. After this message, the library must send no
    /// response at all, because libmicrohttpd 0.9.75 would send the response header twice.
    static func isAboutLength(_ message: UnsafePointer<CChar>) -> Bool {
        strstr(message, "`Content-Length'") != nil || strstr(message, "'Content-Length'") != nil
    }

    fileprivate static func make(_ response: Response) -> OpaquePointer? {
        guard case .bytes(let body) = response.body else { return nil }
        let made = body.withUnsafeBytes { shim_make_response($0.count, $0.baseAddress, 1) }
        guard let made else { return nil }
        for header in response.headers { MHD_add_response_header(made, header.name, header.value) }
        return made
    }
}

/// Replaces libmicrohttpd's `MHD_create_response_from_buffer`; see ``MHDErrorPages``.
@c(MHD_create_response_from_buffer)
public func makeResponseFromBuffer(
    _ size: Int, _ buffer: UnsafeMutableRawPointer?, _ mode: UInt32
) -> OpaquePointer? {
    if mode == 0 {
        switch MHDErrorPages.substitute() {
        case .none: break
        case .response(let response): if let made = MHDErrorPages.make(response) { return made }
        case .nothing: return nil
        }
    }
    return mode == 1 ? shim_adopt_response(size, buffer) : shim_make_response(size, buffer, mode == 2 ? 1 : 0)
}

/// Replaces `MHD_create_response_from_buffer_static`, with which libmicrohttpd 1.0 creates its error pages; see
/// ``MHDErrorPages``.
@c(MHD_create_response_from_buffer_static)
public func makeResponseFromStaticBuffer(_ size: Int, _ buffer: UnsafeRawPointer?) -> OpaquePointer? {
    makeResponseFromBuffer(size, UnsafeMutableRawPointer(mutating: buffer), 0)
}
