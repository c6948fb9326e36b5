internal import CMicrohttpd
import Glibc

/// What libmicrohttpd says by itself, said our way.
///
/// Requests it cannot parse never reach a handler: it answers them with small HTML pages of its own (a header line
/// without a colon, an unknown version, a line or header beyond its memory, broken chunks). There is no callback for
/// that. But it makes those answers with its own public function, called through the dynamic linker, and the ELF rules
/// let a program supply a function of that name: the one below, which turns the known pages into problems and makes
/// everything else as the library would. Where the linker binds the library to itself (`-Bsymbolic`, a static build) the
/// pages simply stay as they are.
enum MHDErrorPages {
    /// The library announces such an answer in the log first, and only there says the status.
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
        default: .malformedRequest("The request is not one of HTTP/1.1")
        }
    }

    /// The engine whose daemon is running on this thread.
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

    /// What becomes of an answer the library wants to give by itself.
    enum ReplacementPage {
        /// It is not one of those.
        case none
        /// This is said instead.
        case response(Response)
        /// The library gets no answer, drops the connection, and ``ServerCore`` says what there is to say.
        case nothing
    }

    fileprivate static func substitute() -> ReplacementPage {
        guard let raw = pthread_getspecific(running) else { return .none }
        return Unmanaged<ServerCore>.fromOpaque(raw).takeUnretainedValue().takeRefusal()
    }

    /// Whether the library has stumbled over a Content-Length. It would send the header of its answer twice (0.9.75 goes
    /// on in the state it was in), so it must not answer at all.
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

/// Takes the place of the library's function of this name; see ``MHDErrorPages``.
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

/// The same for 1.0, which makes its refusals with this one.
@c(MHD_create_response_from_buffer_static)
public func makeResponseFromStaticBuffer(_ size: Int, _ buffer: UnsafeRawPointer?) -> OpaquePointer? {
    makeResponseFromBuffer(size, UnsafeMutableRawPointer(mutating: buffer), 0)
}
