public import JSON

extension JSONWriter {
    /// Prints a record as the REST API and the record's events show it: its own members between its id and its times.
    ///
    /// - Parameters:
    ///   - id: nil for a record that its members identify.
    ///   - created: printed as `created_at`; nil prints none.
    ///   - updated: the timetoken of the last change, printed as `updated_at`.
    public mutating func record(
        id: String? = nil, created: Timetoken? = nil, etag: String, updated: Timetoken,
        _ print: (inout JSONWriter) -> Void
    ) {
        beginObject()
        if let id { member("id", id) }
        print(&self)
        if let created { member("created_at", created.timestamp) }
        member("etag", etag)
        member("updated_at", updated.timestamp)
        endObject()
    }
}
