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

    static let all: [SourceScheme] = SignatureSchemes.allCases.map { .signed($0) } + [.none]

    /// Whether a signature is over the body, too. A token is told beside it.
    var signsBody: Bool { self != .none && self != .signed(.token) }

    /// Whether a post's signature is over its body and nothing else, as X's is.
    func signsBodyAlone(_ options: SchemeSettings) -> Bool {
        self == .signed(.generic) && options.timestampHeader == nil && [nil, "{body}"].contains(options.template)
    }
}

/// How a provider asks whether an address is the right one, before it posts there.
public enum SourceHandshake: String, Sendable, CaseIterable {
    case none
    /// `{"type":"url_verification","challenge":…}`, signed like every other post.
    case slack
    /// `GET ?hub.mode=subscribe&hub.verify_token=…&hub.challenge=…`: the token is a setting of the source.
    case meta
    /// `GET ?crc_token=…`: answered with its signature, to anybody.
    case x
    /// `OPTIONS` with `WebHook-Request-Origin` (CloudEvents webhooks, 4).
    case cloudevents

    /// What a source does that says nothing about it.
    static func standard(for scheme: SourceScheme) -> SourceHandshake { scheme == .signed(.slack) ? .slack : .none }
}

/// What the owner of a source decides.
public struct SourceSettings: Sendable {
    public var scheme: SourceScheme
    /// What the scheme leaves to its user; the window too.
    public var options: SchemeSettings
    /// Any of them may have signed: the current one, and the previous ones while a rotation lasts. Never shown again.
    var secrets: [String]
    var secretCount: Int { secrets.count }
    public var handshake: SourceHandshake
    /// What Meta asks for. Never shown again.
    var verifyToken: String?
    public var mapping: Mapping
    public var description: String

    /// The members of a document that sets them.
    public static let members = [
        "scheme", "scheme_options", "secrets", "window_seconds", "handshake", "verify_token", "mapping", "description",
    ]

    /// Reads the body of `PUT` or `PATCH` of `/v1/sources/{id}`: `scheme` and `mapping` (both required in a PUT, but for the mapping
    /// of CloudEvents), `secrets`, `scheme_options`, `window_seconds`, `handshake`, `verify_token`, `description`.
    ///
    /// - Parameters:
    ///   - former: the settings there are. `secrets` and `verify_token`, which are never shown, are taken from it where they are
    ///     left out; secrets only for the same scheme, as those of another are another sender's.
    ///   - isPatch: takes all else that is left out from `former` as well; null puts a default back.
    /// - Throws: `.malformed` with a fault for each mistake.
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
        // Each is there where there was no fault.
        guard let scheme, let mapping, let description else { throw ChatError(.malformed, "the source cannot be read") }
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

    /// What checks a post, one for each secret, so that it is known which was used; empty when nothing is checked.
    func verifiers() throws(SignatureSchemeError) -> [any SignatureScheme] {
        guard case .signed(let scheme) = self.scheme else { return [] }
        guard !secrets.isEmpty else { throw .noSecret }
        return try secrets.map { secret throws(SignatureSchemeError) in
            let verifier = try scheme.scheme(secrets: [secret], settings: options)
            return handshake == .x ? TokenlessScheme(scheme: verifier) : verifier
        }
    }
}

/// Takes no post that could be X's token: the signature of those is told to whoever asks.
private struct TokenlessScheme: SignatureScheme {
    let scheme: any SignatureScheme

    func verify(_ message: SignedMessage, at now: Int64) throws(SignatureRejection) -> DeliveryIdentity {
        guard !Handshakes.isToken(message.body) else { throw .mismatch }
        return try scheme.verify(message, at: now)
    }
}

extension SchemeSettings {
    /// The members as documents have them, but for the window, which stands beside them.
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
