import Text

/// The signature schemes that can be configured for a source. The raw values are their names.
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
    /// An HMAC scheme that the owner of the source defines with ``SchemeSettings``; see ``HMACScheme``.
    case generic
    /// A secret that is sent unchanged in a header, without a signature.
    case token

    /// The members of ``SchemeSettings`` that this scheme uses. The scheme ignores all other members.
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

    /// Creates the scheme with these secrets and settings.
    ///
    /// - Parameters:
    ///   - secrets: the secrets, each in the form that the provider shows. During a rotation, pass the current and the
    ///     previous secret. A signature with any of them is valid.
    ///   - settings: the settings. Only the settings in ``members`` are used.
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

    /// Creates the scheme with its default settings, except for the window.
    ///
    /// - Throws: ``SignatureSchemeError`` when a secret is not valid, or when the scheme requires a setting that has no
    ///   default.
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
    /// No secret was passed.
    case noSecret
    /// A secret is empty or does not have the format that the scheme requires.
    case secretInvalid
    /// The template has an unknown placeholder or an unclosed brace, omits the body, or omits a timestamp that is
    /// checked.
    case templateInvalid
    /// This setting is required, because the scheme has no default for it.
    case settingMissing(SchemeSettings.Member)
    case settingInvalid(SchemeSettings.Member)
}

/// An Ed25519 signature over a text that contains the body. The defaults are the settings of Discord:
/// `X-Signature-Ed25519: <hex>` over the timestamp and the body, with the timestamp in `X-Signature-Timestamp`.
struct Ed25519Scheme: SignatureScheme {
    private let keys: [Ed25519PublicKey]
    private let signatureHeader: String
    private let timestampHeader: String
    private let encoding: HMACScheme.Encoding
    private let template: SignedTemplate
    private let identity: IdentityPlace
    private let window: ReplayWindow

    /// Creates the scheme with these public keys.
    ///
    /// - Parameter keys: the public keys, each as 32 bytes in hex or base64, or as `whpk_…`.
    init(_ keys: [String], _ settings: SchemeSettings) throws(SignatureSchemeError) {
        self.keys = try keys.map { text throws(SignatureSchemeError) in try Self.key(text) }
        signatureHeader = settings.header ?? "X-Signature-Ed25519"
        timestampHeader = settings.timestampHeader ?? "X-Signature-Timestamp"
        encoding = settings.encoding
        template =
            try settings.template.map { text throws(SignatureSchemeError) in try SignedTemplate(text) }
            ?? .timestampAndBody
        // If the timestamp were not part of the signed text, an old message could be sent again with a new timestamp.
        guard template.signsTimestamp else { throw .templateInvalid }
        identity = IdentityPlace(header: settings.idHeader, pointer: settings.idPointer)
        window = settings.window
    }

    func verify(_ message: SignedMessage, at now: Int64) throws(SignatureRejection) -> DeliveryIdentity {
        let text = try message.required(signatureHeader)
        let timestamp = try message.required(timestampHeader)
        try window.check(timestamp, of: timestampHeader, at: now)
        guard let signature = encoding.decode(text), signature.count == 64 else {
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

/// Standard Webhooks as a scheme for received messages. Also accepts header names that begin with `svix-` instead of
/// `webhook-`.
struct StandardScheme: SignatureScheme {
    private let verifier: StandardVerifier

    /// Creates the scheme with these keys.
    ///
    /// - Parameter secrets: the keys, each as `whsec_…` or `whpk_…`.
    init(_ secrets: [String], window: ReplayWindow) throws(SignatureSchemeError) {
        var keys: [StandardVerificationKey] = []
        for secret in secrets {
            do { keys.append(try StandardVerificationKey(secret)) } catch { throw .secretInvalid }
        }
        verifier = StandardVerifier(keys, window: window)
    }

    func verify(_ message: SignedMessage, at now: Int64) throws(SignatureRejection) -> DeliveryIdentity {
        // All three headers must have the same prefix. Otherwise the id of one party could be combined with the
        // signature of another.
        let family =
            message.header("webhook-signature") == nil && message.header("svix-signature") != nil ? "svix" : "webhook"
        let id = try message.required("\(family)-id")
        try verifier.verify(
            id: id, timestamp: message.required("\(family)-timestamp"),
            signature: message.required("\(family)-signature"), body: message.body, at: now)
        return .value(id)
    }
}
