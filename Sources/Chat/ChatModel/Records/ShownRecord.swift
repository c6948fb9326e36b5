public import JSON

extension JSONWriter {
    /// Prints a record as the REST API and the record's events show it: its own members between its id and its times.
    ///
    /// - Parameters:
    ///   - created: printed as `created_at`.
    ///   - updated: the timetoken of the last change, printed as `updated_at`.
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
