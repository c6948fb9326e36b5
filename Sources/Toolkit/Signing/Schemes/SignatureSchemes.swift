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
    case generic
    case token

    /// The members of `SchemeSettings` that this scheme looks at; the others have no meaning for it.
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

    /// The scheme with these secrets, each as the provider shows it.
    ///
    /// - Parameters:
    ///   - secrets: any of them may have signed: the current one, and the previous one while a rotation lasts.
    ///   - settings: of which only `members` count.
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

    /// The scheme with its own settings, apart from the window.
    public func scheme(
        secrets: [String], window: ReplayWindow = .standard
    ) throws(SignatureSchemeError) -> any SignatureScheme {
        var settings = SchemeSettings()
        settings.window = window
        return try scheme(secrets: secrets, settings: settings)
    }
}

/// Why a scheme could not be set up.
public enum SignatureSchemeError: Error, Sendable, Equatable {
    /// Without a secret nothing can be verified.
    case noSecret
    /// A secret is empty or not of the form the scheme demands.
    case secretInvalid
    /// A template names a placeholder there is none of, has an unclosed brace, leaves out the body, or the time where a
    /// time is checked.
    case templateInvalid
    /// The scheme has no value of its own for this.
    case settingMissing(SchemeSettings.Member)
    case settingInvalid(SchemeSettings.Member)
}
