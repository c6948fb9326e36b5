import CJansson

extension JSONDocument {
    /// The version of jansson on this machine, for instance `2.14`.
    public static var libraryVersion: String { jansson_version_str().map { String(cString: $0) } ?? "unknown" }
}
