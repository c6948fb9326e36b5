internal import CMicrohttpd
import Glibc

/// Replaces the error pages that libmicrohttpd generates with problem responses.
///
/// Requests that the library cannot parse never reach a handler: it answers them with small HTML pages of its own (a
/// header line without a colon, an unknown version, a line or header beyond its memory, broken chunks). There is no
/// callback for that. However, it creates those responses with its own public function, called through the dynamic
/// linker, and the ELF rules let a program supply a function of that name. The function below turns the known pages
/// into problems and creates all other responses as the library would. Where the linker binds the library to itself
/// (`-Bsymbolic`, a static build), the pages stay as they are.
enum MHDErrorPages {
    /// Returns the status of an error page that the library announces in the log. The library logs the announcement
    /// first, and only there states the status.
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

    /// The ``ServerCore`` whose daemon is running on this thread.
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

    /// True when the library has rejected a Content-Length. It would then send its response header twice (0.9.75
    /// continues in the state it was in), so it must not respond at all.
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

/// Replaces the library's function of this name; see ``MHDErrorPages``.
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

/// The same for version 1.0, which creates its error pages with this function.
@c(MHD_create_response_from_buffer_static)
public func makeResponseFromStaticBuffer(_ size: Int, _ buffer: UnsafeRawPointer?) -> OpaquePointer? {
    makeResponseFromBuffer(size, UnsafeMutableRawPointer(mutating: buffer), 0)
}
