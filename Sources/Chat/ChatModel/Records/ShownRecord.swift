public import JSON

extension JSONWriter {
    /// Prints a record as the REST API and events show it: the id, the members that `print` adds, and then the times
    /// and the etag.
    ///
    /// - Parameters:
    ///   - created: the time of creation, printed as `created_at`.
    ///   - updated: the time of the last change, printed as `updated_at`.
    public mutating func record(
        id: String, created: Timetoken, etag: String, updated: Timetoken,
        _ print: (inout JSONWriter) -> Void
    ) {
        beginObject()
        member("id", id)
        print(&self)
        member("created_at", created.timestamp)
        member("etag", etag)
        member("updated_at", updated.timestamp)
        endObject()
    }
}
