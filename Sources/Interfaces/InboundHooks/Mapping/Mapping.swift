public import ChatModel
public import JSON

/// How a post becomes an event, as its owner wrote it: templates over body, headers and query (`product.md` 7).
public struct Mapping: Sendable {
    /// The mapping as it was given.
    public let text: JSONText

    /// Reads and compiles a mapping.
    /// - Throws: `.malformed`, with a fault for each mistake, pointers into the mapping.
    public init(_ mapping: JSONText, limits: Limits = Limits()) throws(ChatError) {
        throw ChatError(.unavailable, "not ready")
    }
}
