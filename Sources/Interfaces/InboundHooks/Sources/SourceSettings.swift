public import ChatModel
public import JSON
public import Signing

/// How a source's posts are checked.
public enum SourceScheme: Sendable, Hashable {
    /// A service's way of signing.
    case signed(SignatureSchemes)
    /// Nothing is checked: anyone who knows the address may post. Only when asked for by name.
    case none

    /// Nil for a name there is none of.
    init?(name: String) {
        if name == "none" {
            self = .none
        } else if let scheme = SignatureSchemes(rawValue: name) {
            self = .signed(scheme)
        } else {
            return nil
        }
    }

    /// `github`, `standard`, …, `none`.
    public var name: String {
        switch self {
        case .signed(let scheme): scheme.rawValue
        case .none: "none"
        }
    }

    static let names = SignatureSchemes.allCases.map(\.rawValue) + ["none"]
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

    /// Reads the body of `PUT /v1/sources/{id}`: `scheme` and `mapping` (required), `secrets`, `window_seconds`,
    /// `description`. What the gateway itself decides is ignored, so that a document that was read can be sent back.
    ///
    /// - Parameter previous: the settings there are; secrets left out are taken from it, since they cannot be read back.
    /// - Throws: `.malformed` with a fault for each mistake.
    public init(_ body: JSONDocument, replacing previous: SourceSettings? = nil) throws(ChatError) {
        var reader = SourceReader(body)
        let scheme = reader.scheme()
        let secrets = reader.secrets() ?? previous?.secrets ?? []
        let window = reader.window()
        let mapping = reader.mapping()
        let description = reader.description()
        reader.checkMembers()
        if let scheme { reader.checkSecrets(secrets, for: scheme, window) }
        guard let scheme, let mapping, reader.faults.isEmpty else { throw reader.error }
        self.scheme = scheme
        self.secrets = secrets
        self.window = window
        self.mapping = mapping
        self.description = description
    }

    init(scheme: SourceScheme, secrets: [String], window: ReplayWindow, mapping: Mapping, description: String) {
        self.scheme = scheme
        self.secrets = secrets
        self.window = window
        self.mapping = mapping
        self.description = description
    }

    /// What checks a post; nil when nothing is checked.
    func verifier() throws(SignatureSchemeError) -> (any SignatureScheme)? {
        switch scheme {
        case .none: nil
        case .signed(let scheme): try scheme.scheme(secrets: secrets, window: window)
        }
    }
}
