import Text

/// The schemes that a source can be configured with by name.
public enum SignatureSchemes: String, Sendable, CaseIterable {
    case github
    case standard
    case stripe
    case slack
    case shopify
    case twilio
    case pusher
    case sendbird
    case stream
    case ed25519
    case rfc9421
    /// An HMAC scheme that the source's owner describes with `SchemeSettings`; see ``HMACScheme``.
    case generic
    /// A secret sent unchanged in a header, without a signature.
    case token

    /// The members of `SchemeSettings` that this scheme uses; it ignores the others.
    public var members: Set<SchemeSettings.Member> {
        switch self {
        case .github, .shopify, .sendbird, .stream, .twilio: []
        case .standard, .stripe, .slack, .pusher: [.window]
        case .rfc9421: [.idHeader, .idPointer, .window]
        case .ed25519: [.header, .encoding, .template, .timestampHeader, .idHeader, .idPointer, .window]
        case .generic: Set(SchemeSettings.Member.allCases)
        case .token: [.header, .prefix, .idHeader, .idPointer]
        }
    }

    /// Creates the scheme with these secrets, each in the form that the provider shows.
    ///
    /// - Parameters:
    ///   - secrets: any of them may have signed: the current one, and during a rotation the previous one.
    ///   - settings: only those in `members` are used.
    /// - Throws: ``SignatureSchemeError`` when a secret or a setting is not valid.
    public func scheme(
        secrets: [String], settings: SchemeSettings
    ) throws(SignatureSchemeError) -> any SignatureScheme {
        guard !secrets.isEmpty else { throw .noSecret }
        guard !secrets.contains("") else { throw .secretInvalid }
        try settings.check()
        let keys = secrets.map { Secret(text: $0) }
        switch self {
        case .github: return HMACScheme.github(keys)
        case .standard: return try StandardScheme(secrets, window: settings.window)
        case .stripe: return StripeScheme(keys, window: settings.window)
        case .slack: return HMACScheme.slack(keys, window: settings.window)
        case .shopify: return HMACScheme.shopify(keys)
        case .twilio: return TwilioScheme(keys)
        case .pusher: return PusherScheme(keys, window: settings.window)
        case .sendbird: return HMACScheme.sendbird(keys)
        case .stream: return HMACScheme.stream(keys)
        case .ed25519: return try Ed25519Scheme(secrets, settings)
        case .rfc9421: return try MessageSignatureScheme(secrets, settings)
        case .generic: return try HMACScheme(keys, settings)
        case .token: return try TokenScheme(keys, settings)
        }
    }

    /// Creates the scheme with its own settings, except for the window.
    ///
    /// - Throws: ``SignatureSchemeError`` when a secret is not valid, or the scheme has a setting without a default.
    public func scheme(
        secrets: [String], window: ReplayWindow = .standard
    ) throws(SignatureSchemeError) -> any SignatureScheme {
        var settings = SchemeSettings()
        settings.window = window
        return try scheme(secrets: secrets, settings: settings)
    }
}

/// The reason why a scheme could not be created.
public enum SignatureSchemeError: Error, Sendable, Equatable {
    /// There is no secret, so nothing can be verified.
    case noSecret
    /// A secret is empty or does not have the form that the scheme requires.
    case secretInvalid
    /// A template has an unknown placeholder or an unclosed brace, or omits the body, or the time where a time is
    /// checked.
    case templateInvalid
    /// The scheme has no default for this setting.
    case settingMissing(SchemeSettings.Member)
    case settingInvalid(SchemeSettings.Member)
}

/// An Ed25519 signature over a text around the body, as Discord makes it: `X-Signature-Ed25519: <hex>` over timestamp
/// and body, with the timestamp in `X-Signature-Timestamp`.
struct Ed25519Scheme: SignatureScheme {
    private let keys: [Ed25519PublicKey]
    private let signatureHeader: String
    private let timestampHeader: String
    private let encoding: HMACScheme.Encoding
    private let template: SignedTemplate
    private let identity: IdentityPlace
    private let window: ReplayWindow

    /// - Parameter keys: each 32 bytes in hex or base64, or `whpk_…`.
    init(_ keys: [String], _ settings: SchemeSettings) throws(SignatureSchemeError) {
        self.keys = try keys.map { text throws(SignatureSchemeError) in try Self.key(text) }
        signatureHeader = settings.header ?? "X-Signature-Ed25519"
        timestampHeader = settings.timestampHeader ?? "X-Signature-Timestamp"
        encoding = settings.encoding
        template =
            try settings.template.map { text throws(SignatureSchemeError) in try SignedTemplate(text) }
            ?? .timestampAndBody
        // Without the time in the signed text, an old message could be sent again under a new time.
        guard template.signsTimestamp else { throw .templateInvalid }
        identity = IdentityPlace(header: settings.idHeader, pointer: settings.idPointer)
        window = settings.window
    }

    func verify(_ message: SignedMessage, at now: Int64) throws(SignatureRejection) -> DeliveryIdentity {
        let text = try message.required(signatureHeader)
        let timestamp = try message.required(timestampHeader)
        try window.check(timestamp, of: timestampHeader, at: now)
        guard let signature = encoding.decode(text[...]), signature.count == 64 else {
            throw .headerMalformed(signatureHeader)
        }
        let signed = try template.filled(message, id: identity.header(of: message), timestamp: timestamp)
        guard keys.contains(where: { $0.isValid(signature, for: signed) }) else { throw .mismatch }
        return identity.of(message)
    }

    private static func key(_ text: String) throws(SignatureSchemeError) -> Ed25519PublicKey {
        let digits = text.hasPrefix("whpk_") ? String(text.dropFirst("whpk_".count)) : text
        let bytes = text.utf8.count == 64 ? Hex.decode(text) : Base64.decode(digits)
        guard let key = bytes.flatMap(Ed25519PublicKey.init) else { throw .secretInvalid }
        return key
    }
}

/// Standard Webhooks as an inbound scheme. Also accepts the `svix-` header names, which carry the same values.
struct StandardScheme: SignatureScheme {
    private let verifier: StandardVerifier

    /// - Parameter secrets: `whsec_…` or `whpk_…`.
    init(_ secrets: [String], window: ReplayWindow) throws(SignatureSchemeError) {
        var keys: [StandardVerificationKey] = []
        for secret in secrets {
            do { keys.append(try StandardVerificationKey(secret)) } catch { throw .secretInvalid }
        }
        verifier = StandardVerifier(keys, window: window)
    }

    func verify(_ message: SignedMessage, at now: Int64) throws(SignatureRejection) -> DeliveryIdentity {
        // All three headers must come from one family: a mix would allow one party's id beside another's signature.
        let family =
            message.header("webhook-signature") == nil && message.header("svix-signature") != nil ? "svix" : "webhook"
        let id = try message.required("\(family)-id")
        try verifier.verify(
            id: id, timestamp: message.required("\(family)-timestamp"),
            signature: message.required("\(family)-signature"), body: message.body, at: now)
        return .value(id)
    }
}
