internal import CCurl

extension Client {
    /// The version of libcurl on this machine, for instance `7.88.1`.
    public static var libraryVersion: String {
        curl_version_info(CURLVERSION_FIRST)?.pointee.version.map { String(cString: $0) } ?? "unknown"
    }
}
