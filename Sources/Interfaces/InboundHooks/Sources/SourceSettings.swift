public import ChatModel
public import JSON
public import Signing

/// The scheme by which a source's posts are verified.
public enum SourceScheme: Sendable, Hashable {
    /// A signature scheme.
    case signed(SignatureSchemes)
    /// No verification: anyone who knows the URL may post. Used only when requested explicitly.
    case none

    /// The scheme with a name; nil for an unknown name.
    init?(name: String) {
        if name == "none" {
            self = .none
        } else if let scheme = SignatureSchemes(rawValue: name) {
            self = .signed(scheme)
        } else {
            return nil
        }
    }

    /// The name: `github`, `standard`, …, or `none`.
    public var name: String {
        switch self {
        case .signed(let scheme): scheme.rawValue
        case .none: "none"
        }
    }

    static let all: [SourceScheme] = SignatureSchemes.allCases.map { .signed($0) } + [.none]

    /// True when the signature covers the body. The scheme `token` sends a token next to the body and signs nothing.
    var signsBody: Bool { self != .none && self != .signed(.token) }

    /// Returns true when the signature covers only the body, as in X's scheme.
    func signsBodyAlone(_ options: SchemeSettings) -> Bool {
        self == .signed(.generic) && options.timestampHeader == nil && [nil, "{body}"].contains(options.template)
    }
}

/// The handshake: the request with which a provider verifies a URL before it posts to the URL.
public enum SourceHandshake: String, Sendable, CaseIterable {
    case none
    /// The post `{"type":"url_verification","challenge":…}`, which is signed like every other post.
    case slack
    /// `GET ?hub.mode=subscribe&hub.verify_token=…&hub.challenge=…`. The token is a setting of the source.
    case meta
    /// `GET ?crc_token=…`. The response contains the signature of the token. Anyone can send this request.
    case x
    /// `OPTIONS` with `WebHook-Request-Origin` (CloudEvents webhooks, 4).
    case cloudevents

    /// The handshake of a source whose settings do not contain `handshake`: `slack` for the scheme `slack`, otherwise
    /// `none`.
    static func standard(for scheme: SourceScheme) -> SourceHandshake { scheme == .signed(.slack) ? .slack : .none }
}

/// The settings of a source that its owner chooses.
public struct SourceSettings: Sendable {
    /// The scheme by which posts are verified.
    public var scheme: SourceScheme
    /// The options of the scheme, including the time window.
    public var options: SchemeSettings
    /// The accepted secrets: the current secret, and the previous secrets during a rotation. The API never returns
    /// them.
    var secrets: [String]
    var secretCount: Int { secrets.count }
    /// The handshake of the provider.
    public var handshake: SourceHandshake
    /// The token of Meta's handshake; nil for other handshakes. The API never returns the token.
    var verifyToken: String?
    /// The rules by which posts become events.
    public var mapping: Mapping
    /// A description for human readers, at most 1000 bytes.
    public var description: String

    /// The member names of a settings document.
    public static let members = [
        "scheme", "scheme_options", "secrets", "window_seconds", "handshake", "verify_token", "mapping", "description",
    ]

    /// Parses the body of `PUT` or `PATCH` of `/v1/sources/{id}`. Its members are `scheme`, `mapping`, `secrets`,
    /// `scheme_options`, `window_seconds`, `handshake`, `verify_token` and `description`. A PUT requires `scheme` and
    /// `mapping`; with a scheme that may deliver CloudEvents, `mapping` has a default.
    ///
    /// - Parameters:
    ///   - former: the current settings. If the body leaves out `secrets` or `verify_token`, which the API never
    ///     returns, the current value is kept. The secrets are kept only if the scheme stays the same, because another
    ///     scheme has another sender.
    ///   - isPatch: true to keep all other absent members of `former` as well; null then restores a default.
    /// - Throws: `.malformed` with one fault for each error.
    public init(_ body: JSONDocument, over former: SourceSettings? = nil, isPatch: Bool = false) throws(ChatError) {
        let reader = try SourceReader(body)
        let previous = isPatch ? former : nil
        var faults = ValidationErrors()
        faults.reading { () throws(ChatError) in try reader.refuseUnknown() }
        let scheme = faults.reading { () throws(ChatError) in try reader.scheme(previous: previous?.scheme) }
        let given = faults.reading { () throws(ChatError) in try reader.secrets() } ?? nil
        let mapping = faults.reading { () throws(ChatError) in
            try reader.mapping(for: scheme, previous: previous?.mapping)
        }
        let description = faults.reading { () throws(ChatError) in
            try reader.description(previous: previous?.description)
        }
        let secrets = given ?? (former?.scheme == scheme ? former?.secrets : nil) ?? []
        var options = SchemeSettings()
        var handshake = SourceHandshake.none
        var verifyToken: String?
        faults.reading { () throws(ChatError) in
            guard let scheme else { return }
            options = try reader.options(for: scheme, previous: previous)
            handshake = try reader.handshake(for: scheme, options, previous: previous)
            verifyToken = try reader.verifyToken(for: handshake, previous: former?.verifyToken)
            try reader.checkScheme(scheme, secrets, options)
        }
        try faults.check()
        // If there are no faults, each of these values is present.
        guard let scheme, let mapping, let description else {
            throw ChatError(.malformed, "the source's stored record cannot be read")
        }
        self.init(
            scheme: scheme, options: options, secrets: secrets, handshake: handshake, verifyToken: verifyToken,
            mapping: mapping, description: description)
    }

    init(
        scheme: SourceScheme, options: SchemeSettings, secrets: [String], handshake: SourceHandshake,
        verifyToken: String?, mapping: Mapping, description: String
    ) {
        self.scheme = scheme
        self.options = options
        self.secrets = secrets
        self.handshake = handshake
        self.verifyToken = verifyToken
        self.mapping = mapping
        self.description = description
    }

    /// The verifiers of a post, one for each secret, so that the result identifies the secret that signed. Empty when
    /// the source verifies nothing.
    func verifiers() throws(SignatureSchemeError) -> [any SignatureScheme] {
        guard case .signed(let scheme) = self.scheme else { return [] }
        guard !secrets.isEmpty else { throw .noSecret }
        return try secrets.map { secret throws(SignatureSchemeError) in
            let verifier = try scheme.scheme(secrets: [secret], settings: options)
            return handshake == .x ? TokenlessScheme(scheme: verifier) : verifier
        }
    }
}

/// Rejects posts whose body could be a token of X's handshake, because anyone can request the signature of such a
/// token.
private struct TokenlessScheme: SignatureScheme {
    let scheme: any SignatureScheme

    func verify(_ message: SignedMessage, at now: Int64) throws(SignatureRejection) -> DeliveryIdentity {
        guard !Handshakes.isToken(message.body) else { throw .mismatch }
        return try scheme.verify(message, at: now)
    }
}

extension SchemeSettings {
    /// Prints the options in the form of a settings document. The time window is left out, because it is a separate
    /// member.
    func print(to writer: inout JSONWriter, of scheme: SourceScheme) {
        guard case .signed(let scheme) = scheme else { return }
        let texts: [(Member, String?)] = [
            (.header, header), (.prefix, prefix), (.encoding, encoding.rawValue), (.algorithm, algorithm.rawValue),
            (.template, template), (.timestampHeader, timestampHeader), (.idHeader, idHeader), (.idPointer, idPointer),
        ]
        guard !scheme.members.isDisjoint(with: texts.map(\.0)) else { return }
        writer.key("scheme_options")
        writer.beginObject()
        for (member, text) in texts where scheme.members.contains(member) {
            guard let text else { continue }
            writer.key(text: member.rawValue)
            writer.string(text)
        }
        writer.endObject()
    }
}
