import Text

/// A scheme in which one header contains an HMAC over the body, possibly with other text before and after the body.
/// Most services use a scheme of this kind.
public struct HMACScheme: SignatureScheme {
    /// The encoding of the digest in the header.
    public enum Encoding: String, Sendable, CaseIterable {
        case hex
        case base64

        /// Decodes the digest. Returns `nil` when the text does not have this encoding.
        func decode(_ digits: String) -> [UInt8]? {
            switch self {
            case .hex: Hex.decode(digits)
            case .base64: Base64.decode(digits)
            }
        }
    }

    /// The header that contains the signature. It may contain several values, separated by commas, of which one must be
    /// valid.
    private let signatureHeader: String
    /// The UTF-8 bytes before the digest, such as `sha256=`. Header values without this prefix are ignored.
    private let prefix: [UInt8]
    /// The encoding of the digest.
    private let encoding: Encoding
    /// The template of the bytes that are signed.
    private let template: SignedTemplate
    /// The header with the time of the signature in Unix seconds; `nil` for schemes without such a header.
    private let timestampHeader: String?
    /// The header with the sender's id of the delivery; `nil` when there is none.
    private let idHeader: String?
    /// The JSON Pointer to the sender's id of the delivery in the body; `nil` when the id is not in the body.
    private let idPointer: String?
    /// The maximum difference between the timestamp and the current time.
    private let window: ReplayWindow
    /// An authentication code without a message for each secret. The secret is already hashed.
    private let codes: [MessageAuthentication]

    /// Creates a scheme with these parameters.
    ///
    /// - Parameter secrets: the secrets. A signature with any of them is valid.
    public init(
        _ secrets: [Secret], signatureHeader: String, prefix: String = "", encoding: Encoding = .hex,
        algorithm: HashAlgorithm = .sha256, template: SignedTemplate = .body, timestampHeader: String? = nil,
        idHeader: String? = nil, idPointer: String? = nil, window: ReplayWindow = .standard
    ) {
        self.signatureHeader = signatureHeader
        self.prefix = Array(prefix.utf8)
        self.encoding = encoding
        self.template = template
        self.timestampHeader = timestampHeader
        self.idHeader = idHeader
        self.idPointer = idPointer
        self.window = window
        codes = secrets.map { MessageAuthentication(algorithm, key: $0) }
    }

    /// Creates the scheme that the owner of a source has configured.
    ///
    /// - Throws: `.settingMissing` if the signature header is not set, or if the template contains `{ts}` or `{id}` and
    ///   the header for it is not set; `.templateInvalid` if the template omits the body, or omits a timestamp that is
    ///   checked. An attacker could change an unsigned body or timestamp.
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

    /// Verifies a message and returns the sender's id of the delivery, or the location of the id in the body.
    ///
    /// - Throws: ``SignatureRejection`` when a header is missing or malformed, the timestamp is outside the window, or
    ///   no signature in the header was created with one of the secrets.
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
        for var code in codes {
            try template.feed(&code, message, id: id, timestamp: timestamp)
            let expected = code.finish()
            if signatures.contains(where: { constantTimeEqual($0, expected) }) { return identity(id) }
        }
        throw .mismatch
    }

    private func candidates(in header: String) -> [[UInt8]] {
        Array(header.utf8).split(separator: UInt8(ascii: ",")).compactMap { part in
            let value = part.trimmingBlanks()
            guard value.starts(with: prefix) else { return nil }
            return encoding.decode(String(decoding: value.dropFirst(prefix.count), as: UTF8.self))
        }
    }

    private func identity(_ id: String?) -> DeliveryIdentity {
        if let id { return .value(id) }
        return idPointer.map { .bodyPointer($0) } ?? .none
    }
}

// The parameters of services that use an HMAC scheme. Source: the documentation of each service.

extension HMACScheme {
    /// GitHub: `X-Hub-Signature-256: sha256=<hex>` over the body. There is no timestamp. A replay can be detected only
    /// by the delivery id, which is not signed.
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

    /// Sendbird: `x-sendbird-signature: <hex>` over the body. The key is the API token.
    static func sendbird(_ secrets: [Secret]) -> HMACScheme {
        HMACScheme(secrets, signatureHeader: "x-sendbird-signature")
    }

    /// Stream: `X-Signature: <hex>` over the body.
    static func stream(_ secrets: [Secret]) -> HMACScheme {
        HMACScheme(secrets, signatureHeader: "X-Signature", idHeader: "X-Webhook-Id")
    }
}
