/// A service's way of signing what it posts.
///
/// A scheme decides over raw bytes, before anything is parsed. Adding one is a file here and a row in ``SignatureSchemes``.
public protocol SignatureScheme: Sendable {
    /// Returns how the sender names this delivery if the message is authentic.
    ///
    /// - Parameter now: unix seconds, for schemes that sign a timestamp.
    func verify(_ message: SignedMessage, at now: Int64) throws(SignatureRejection) -> DeliveryIdentity
}

/// Where a sender's own id of a delivery is found, by which a repeated delivery is recognised.
public enum DeliveryIdentity: Sendable, Equatable {
    /// The scheme has none, or the sender left it out.
    case none
    /// The id itself.
    case value(String)
    /// The id is in the body, at this JSON Pointer (RFC 6901). The body is authentic but not parsed yet.
    case bodyPointer(String)
}

/// A received message as a scheme sees it.
public struct SignedMessage {
    public typealias Field = (name: String, value: String)

    /// The body as received, after transfer coding and before everything else.
    public let body: [UInt8]
    /// The URL the sender was given, from configuration; never put together from what a request says about itself.
    public let url: String?
    /// As it stands in the request: names of methods have a case.
    public let method: String
    private let lookUp: (String) -> String?
    private let readForm: () -> [Field]?

    /// - Parameters:
    ///   - header: the value of the field with this name, compared case-insensitively.
    ///   - form: the body as decoded fields; nil when it is no form. Asked only by schemes that sign fields.
    public init(
        body: [UInt8], url: String? = nil, method: String = "POST", header: @escaping (String) -> String?,
        form: @escaping () -> [Field]? = { nil }
    ) {
        self.body = body
        self.url = url
        self.method = method
        lookUp = header
        readForm = form
    }

    /// A message with these header fields; a repeated name counts as one list (RFC 9110, 5.3).
    public init(
        body: [UInt8], url: String? = nil, method: String = "POST", headers: [Field],
        form: @escaping () -> [Field]? = { nil }
    ) {
        let lookUp = { (name: String) -> String? in
            let values = headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
        self.init(body: body, url: url, method: method, header: lookUp, form: form)
    }

    /// The body as decoded fields; nil when it is no form.
    var form: [Field]? { readForm() }

    /// The value of a header field, without white space around it; `nil` if absent or empty.
    public func header(_ name: String) -> String? {
        guard let value = lookUp(name) else { return nil }
        let trimmed = value[...].trimmingBlanks()
        return trimmed.isEmpty ? nil : String(trimmed)
    }

    /// The value of a header field the scheme cannot do without.
    func required(_ name: String) throws(SignatureRejection) -> String {
        guard let value = header(name) else { throw .headerMissing(name) }
        return value
    }

    /// The URL, for schemes that sign it.
    func requiredURL() throws(SignatureRejection) -> String {
        guard let url else { throw .urlUnknown }
        return url
    }
}

extension Substring {
    /// Without spaces and tabs at either end (RFC 9110, 5.6.3).
    func trimmingBlanks() -> Substring {
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard let first = utf8.firstIndex(where: { !isBlank($0) }), let last = utf8.lastIndex(where: { !isBlank($0) })
        else { return self[endIndex...] }
        return self[first..<utf8.index(after: last)]
    }
}

/// Stripe: `Stripe-Signature: t=<seconds>,v1=<hex>[,v1=…]` over `<t>.<body>`, the key being the whole secret string.
///
/// Several `v1` are alternatives, which is how Stripe rotates; other versions are ignored.
struct StripeScheme: SignatureScheme {
    private static let header = "Stripe-Signature"
    private let secrets: [Secret]
    private let window: ReplayWindow

    init(_ secrets: [Secret], window: ReplayWindow) {
        self.secrets = secrets
        self.window = window
    }

    func verify(_ message: SignedMessage, at now: Int64) throws(SignatureRejection) -> DeliveryIdentity {
        let header = try message.required(Self.header)
        var timestamp: String?
        var signatures: [[UInt8]] = []
        for part in header.split(separator: ",") {
            let item = part.trimmingBlanks()
            if item.hasPrefix("t=") {
                // A second one would leave open which is signed.
                guard timestamp == nil else { throw .headerMalformed(Self.header) }
                timestamp = String(item.dropFirst(2))
            } else if item.hasPrefix("v1="), let signature = Hex.decode(item.dropFirst(3)) {
                signatures.append(signature)
            }
        }
        guard let timestamp, !signatures.isEmpty else { throw .headerMalformed(Self.header) }
        try window.check(timestamp, of: Self.header, at: now)
        for secret in secrets {
            var code = MessageAuthentication(.sha256, key: secret)
            code.update("\(timestamp).")
            code.update(message.body)
            let expected = code.finish()
            if signatures.contains(where: { constantTimeEqual($0, expected) }) { return .bodyPointer("/id") }
        }
        throw .mismatch
    }
}
