import Glibc

extension ServerError {
    /// Returns the error of the system call that has just failed, with its `errno`.
    static func last(_ call: String) -> ServerError {
        .system(call: call, code: errno)
    }

    static func text(of code: Int32) -> String {
        strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }
}
