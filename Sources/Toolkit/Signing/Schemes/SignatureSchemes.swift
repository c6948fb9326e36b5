/// The schemes that a source can be configured with by name.
public enum SignatureSchemes: String, Sendable, CaseIterable {
    case github
    case standard
    case stripe
    case slack
    case shopify
    case sendbird
    case stream

    /// The scheme with these secrets, each as the provider shows it.
    ///
    /// - Parameters:
    ///   - secrets: any of them may have signed: the current one, and the previous one while a rotation lasts.
    ///   - window: for the schemes that sign a timestamp; the others have none.
    public func scheme(
        secrets: [String], window: ReplayWindow = .standard
    ) throws(SignatureSchemeError) -> any SignatureScheme {
        guard !secrets.isEmpty else { throw .noSecret }
        guard !secrets.contains("") else { throw .secretInvalid }
        let keys = secrets.map { Secret(text: $0) }
        switch self {
        case .github: return HMACScheme.github(keys)
        case .standard: return try StandardScheme(secrets, window: window)
        case .stripe: return StripeScheme(keys, window: window)
        case .slack: return HMACScheme.slack(keys, window: window)
        case .shopify: return HMACScheme.shopify(keys)
        case .sendbird: return HMACScheme.sendbird(keys)
        case .stream: return HMACScheme.stream(keys)
        }
    }
}

/// Why a scheme could not be set up.
public enum SignatureSchemeError: Error, Sendable, Equatable {
    /// Without a secret nothing can be verified.
    case noSecret
    /// A secret is empty or not of the form the scheme demands.
    case secretInvalid
    /// A template names a placeholder there is none of, has an unclosed brace, or leaves out the body.
    case templateInvalid
}
