import Text

/// A scheme that sends one header with an HMAC over the body and some text around it, which is the kind that most
/// services use.
public struct HMACScheme: SignatureScheme {
    /// The encoding of the digest in the header.
    public enum Encoding: String, Sendable, CaseIterable {
        case hex
        case base64

        /// Decodes the digest; `nil` when the text does not have this encoding.
        func decode(_ digits: Substring) -> [UInt8]? {
            switch self {
            case .hex: Hex.decode(digits)
            case .base64: Base64.decode(digits)
            }
        }
    }

    /// The header that contains the signature; several values separated by commas are alternatives.
    var signatureHeader: String
    /// The text before the digest, such as `sha256=`. A value without it is not a signature of this scheme.
    public var prefix: String
    /// The encoding of the digest.
    public var encoding: Encoding
    /// The hash function of the HMAC.
    public var algorithm: HashAlgorithm
    /// The bytes that are signed.
    var template: SignedTemplate
    /// The header with the Unix seconds of the signature, for schemes that have one.
    var timestampHeader: String?
    /// The header with the sender's id of the delivery.
    var idHeader: String?
    /// The place of the id in the body, for services that send it there.
    var idPointer: String?
    /// The allowed age of the timestamp.
    var window: ReplayWindow
    private let secrets: [Secret]

    /// - Parameter secrets: the secrets, any of which may have signed.
    public init(
        _ secrets: [Secret], signatureHeader: String, prefix: String = "", encoding: Encoding = .hex,
        algorithm: HashAlgorithm = .sha256, template: SignedTemplate = .body, timestampHeader: String? = nil,
        idHeader: String? = nil, idPointer: String? = nil, window: ReplayWindow = .standard
    ) {
        self.secrets = secrets
        self.signatureHeader = signatureHeader
        self.prefix = prefix
        self.encoding = encoding
        self.algorithm = algorithm
        self.template = template
        self.timestampHeader = timestampHeader
        self.idHeader = idHeader
        self.idPointer = idPointer
        self.window = window
    }

    /// Creates the scheme that a source's owner has configured.
    ///
    /// - Throws: `.settingMissing` without a signature header, and for a header whose value the template signs;
    ///   `.templateInvalid` for a template that omits the body, or the time that is checked: an attacker who can
    ///   change what is not signed could send an old message again.
    init(_ secrets: [Secret], _ settings: SchemeSettings) throws(SignatureSchemeError) {
        guard let header = settings.header else { throw .settingMissing(.header) }
        var template = settings.timestampHeader == nil ? SignedTemplate.body : .timestampDotBody
        if let text = settings.template { template = try SignedTemplate(text) }
        if template.signsTimestamp, settings.timestampHeader == nil { throw .settingMissing(.timestampHeader) }
        if template.signsID, settings.idHeader == nil { throw .settingMissing(.idHeader) }
        guard settings.timestampHeader == nil || template.signsTimestamp else { throw .templateInvalid }
        self.init(
            secrets, signatureHeader: header, prefix: settings.prefix ?? "", encoding: settings.encoding,
            algorithm: settings.algorithm, template: template, timestampHeader: settings.timestampHeader,
            idHeader: settings.idHeader, idPointer: settings.idPointer, window: settings.window)
    }

    /// Verifies a message and returns the sender's id of the delivery.
    ///
    /// - Throws: ``SignatureRejection`` when a header is missing or malformed, the time is outside the window, or no
    ///   secret matches.
    public func verify(_ message: SignedMessage, at now: Int64) throws(SignatureRejection) -> DeliveryIdentity {
        let header = try message.required(signatureHeader)
        var timestamp: String?
        if let timestampHeader {
            let value = try message.required(timestampHeader)
            try window.check(value, of: timestampHeader, at: now)
            timestamp = value
        }
        let id = idHeader.flatMap(message.header)
        let signatures = candidates(in: header)
        guard !signatures.isEmpty else { throw .headerMalformed(signatureHeader) }
        for secret in secrets {
            var code = MessageAuthentication(algorithm, key: secret)
            try template.feed(&code, message, id: id, timestamp: timestamp)
            let expected = code.finish()
            if signatures.contains(where: { constantTimeEqual($0, expected) }) { return identity(id) }
        }
        throw .mismatch
    }

    private func candidates(in header: String) -> [[UInt8]] {
        header.split(separator: ",").compactMap { part in
            let value = part.trimmingBlanks()
            guard value.hasPrefix(prefix) else { return nil }
            return encoding.decode(value.dropFirst(prefix.count))
        }
    }

    private func identity(_ id: String?) -> DeliveryIdentity {
        if let id { return .value(id) }
        return idPointer.map { .bodyPointer($0) } ?? .none
    }
}

// Services whose scheme is a set of parameters. Source: each service's own documentation.

extension HMACScheme {
    /// GitHub: `X-Hub-Signature-256: sha256=<hex>` over the body. There is no timestamp: only the delivery id reveals
    /// a replay, and it is not signed.
    static func github(_ secrets: [Secret]) -> HMACScheme {
        HMACScheme(secrets, signatureHeader: "X-Hub-Signature-256", prefix: "sha256=", idHeader: "X-GitHub-Delivery")
    }

    /// Slack: `X-Slack-Signature: v0=<hex>` over `v0:<timestamp>:<body>`.
    static func slack(_ secrets: [Secret], window: ReplayWindow) -> HMACScheme {
        HMACScheme(
            secrets, signatureHeader: "X-Slack-Signature", prefix: "v0=", template: .slack,
            timestampHeader: "X-Slack-Request-Timestamp", idPointer: "/event_id", window: window)
    }

    /// Shopify: `X-Shopify-Hmac-Sha256: <base64>` over the body.
    static func shopify(_ secrets: [Secret]) -> HMACScheme {
        HMACScheme(
            secrets, signatureHeader: "X-Shopify-Hmac-Sha256", encoding: .base64, idHeader: "X-Shopify-Webhook-Id")
    }

    /// Sendbird: `x-sendbird-signature: <hex>` over the body; the key is the API token.
    static func sendbird(_ secrets: [Secret]) -> HMACScheme {
        HMACScheme(secrets, signatureHeader: "x-sendbird-signature")
    }

    /// Stream: `X-Signature: <hex>` over the body.
    static func stream(_ secrets: [Secret]) -> HMACScheme {
        HMACScheme(secrets, signatureHeader: "X-Signature", idHeader: "X-Webhook-Id")
    }
}
