import JSON

/// A list of the native API, read page by page (`conventions.md` 9).
struct PagedList: Sendable {
    let access: GatewayAccess
    /// With its query; limit and cursor are added.
    let path: RequestPath

    /// The gateway's largest page (`product.md` 9).
    private static let pageMost = 250

    /// Visits up to `limit` elements in the list's order.
    ///
    /// - Returns: whether there are more.
    func each(limit: Int, _ visit: (JSONText, JSONValue) throws -> Void) async throws -> Bool {
        var left = limit
        var cursor: String?
        while true {
            let page = path.adding("limit", String(min(left, Self.pageMost))).adding("cursor", cursor)
            let answer = try await access.send(Call(path: page))
            let values = answer.document?.root["data"]?.elements ?? []
            let texts = answer.document?.text.rawMember("data")?.rawElements() ?? []
            for (text, value) in zip(texts, values).prefix(left) { try visit(text, value) }
            left -= min(left, values.count)
            let next = answer.document?.root["next_cursor"]?.string
            guard left > 0 else { return next != nil }
            // The same cursor again would go round for ever.
            guard let next, next != cursor else { return false }
            cursor = next
        }
    }
}
