public import ChatModel
public import JSON
public import Signing

/// How a source's posts are checked.
public enum SourceScheme: Sendable, Hashable {
    /// A service's way of signing.
    case signed(SignatureSchemes)
    /// Nothing is checked: anyone who knows the address may post. Only when asked for by name.
    case none

    /// `github`, `standard`, …, `none`.
    public var name: String {
        switch self {
        case .signed(let scheme): scheme.rawValue
        case .none: "none"
        }
    }
}

/// What the owner of a source decides.
public struct SourceSettings: Sendable {
    public var scheme: SourceScheme
    /// Any of them may have signed: the current one, and the previous one while a rotation lasts. Never shown again.
    var secrets: [String]
    public var secretCount: Int { secrets.count }
    /// How far a signed timestamp may lie from now.
    public var window: ReplayWindow
    public var mapping: Mapping
    public var description: String

    /// Reads the body of `PUT /v1/sources/{id}`: `scheme`, `secrets`, `mapping` (required), `window_seconds`,
    /// `description`.
    ///
    /// - Parameter previous: the settings there are; secrets left out are taken from it, since they cannot be read back.
    /// - Throws: `.malformed` with a fault for each mistake.
    public init(
        _ body: JSONDocument, replacing previous: SourceSettings? = nil, limits: Limits = Limits()
    ) throws(ChatError) { throw ChatError(.unavailable, "not ready") }
}
