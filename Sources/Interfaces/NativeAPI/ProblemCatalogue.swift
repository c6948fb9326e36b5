/// What the gateway's problems are called and mean, for the `title` of each and for the pages their `type` points at.
enum ProblemCatalogue {
    struct Entry: Sendable {
        let code: String
        let status: Int
        let title: String
        /// What happened and what helps, for a person.
        let meaning: String
    }

    /// The title of a code; nil for one that is not listed.
    static func title(of code: String) -> String? { byCode[code]?.title }

    /// The entry of a code as it stands in URLs, `-` for `_`.
    static func entry(path: String) -> Entry? { byCode[String(path.map { $0 == "-" ? "_" : $0 })] }

    private static let byCode = Dictionary(uniqueKeysWithValues: entries.map { ($0.code, $0) })

    static let entries: [Entry] = [
        Entry(
            code: "credential_missing", status: 401, title: "A credential is needed",
            meaning: "Send an API key as 'Authorization: Bearer <key>'."),
        Entry(
            code: "credential_invalid", status: 401, title: "The credential does not hold",
            meaning: "The API key is unknown, was removed, or has expired."),
        Entry(
            code: "credential_in_url", status: 400, title: "Credentials do not belong into URLs",
            meaning: "URLs end up in logs and histories. Send the Authorization header; a browser's EventSource uses a "
                + "ticket of POST /v1/stream-tickets."),
    ]
}
