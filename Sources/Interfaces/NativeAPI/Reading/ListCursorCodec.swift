import ChatModel
import HTTPServer
import Signing

/// Ties a page cursor to the list it was given out for: in another one it would name some place, and show a page that
/// looks complete and is not.
struct ListCursorCodec: Equatable {
    /// 48 bits of a digest: against mistakes. Who forges a cursor sees no more than by leaving it out.
    let digest: String

    /// - Parameter list: what makes the list this one, whatever the page.
    init(_ list: [String]) {
        // The NUL stands in no name and in no query item: lists never run together.
        digest = Base64.encodeURL(Array(sha256(Array(list.joined(separator: "\0").utf8)).prefix(6)))
    }

    /// A list is its path and its filters.
    init(_ request: Request) {
        let filters = request.query.items.filter { !Listing.pageNames.contains($0.name) }
        self.init([request.path] + filters.map { $0.name + "=" + $0.value }.sorted())
    }

    func sealed(_ cursor: String) -> String { digest + "." + cursor }

    /// The cursor inside.
    ///
    /// - Throws: `.malformed`, slug `bad_cursor`, for a text that was not sealed here, or for another list.
    func opened(_ text: String) throws(ChatError) -> String {
        guard let dot = text.firstIndex(of: "."), text[..<dot].utf8.count == digest.utf8.count else {
            throw ChatError.foreignCursor
        }
        try check(text[..<dot])
        return String(text[text.index(after: dot)...])
    }

    func check(_ other: some StringProtocol) throws(ChatError) {
        guard other == digest else {
            throw ChatError(
                .malformed,
                "the page cursor belongs to another list; the path and the other parameters must be those of the first page",
                slug: "bad_cursor")
        }
    }
}

extension ChatError {
    static let foreignCursor = ChatError(
        .malformed, "the page cursor must be one this gateway gave out", slug: "bad_cursor")
}
