internal import CMicrohttpd

extension Server {
    /// The version of libmicrohttpd on this machine, for instance `0.9.75`.
    public static var libraryVersion: String { MHD_get_version().map { String(cString: $0) } ?? "unknown" }
}
