import Glibc

extension ServerError {
    /// The error for the system call that just failed, with its `errno`.
    static func last(_ call: String) -> ServerError {
        .system(call: call, code: errno)
    }

    static func text(of code: Int32) -> String {
        strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }
}
