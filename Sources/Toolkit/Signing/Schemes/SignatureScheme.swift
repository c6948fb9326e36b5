import Text

/// A signature scheme: the method with which a service signs its posts.
///
/// A scheme verifies the raw bytes of a message before the body is parsed. To add a scheme, add a file to this
/// directory and a case to ``SignatureSchemes``.
public protocol SignatureScheme: Sendable {
    /// Verifies a message. Returns the sender's id of this delivery, or the location of the id in the body.
    ///
    /// - Parameter now: the current time in Unix seconds, for schemes that sign a timestamp.
    /// - Throws: ``SignatureRejection`` when the message is not authentic.
    func verify(_ message: SignedMessage, at now: Int64) throws(SignatureRejection) -> DeliveryIdentity
}

/// The sender's id of a delivery, or the location of the id in the body. A repeated delivery has the same id.
public enum DeliveryIdentity: Sendable, Equatable {
    /// The scheme has no id, or the sender omitted it.
    case none
    /// The id itself.
    case value(String)
    /// The id is in the body, at this JSON Pointer (RFC 6901). The scheme has verified the body but not parsed it.
    case bodyPointer(String)
}

/// A received message, which a scheme verifies.
public struct SignedMessage {
    /// A field with its name and value.
    public typealias Field = (name: String, value: String)

    /// The received body, after the transfer coding was removed and before any other processing.
    public let body: [UInt8]
    /// The URL that the sender uses, according to the gateway's configuration; `nil` when it is not configured. The URL
    /// is never taken from the request itself.
    public let url: String?
    /// The method of the request, unchanged, because methods are case-sensitive.
    public let method: String
    private let headers: [Field]
    private let readForm: (SignedMessage) -> [Field]?

    /// Creates a message with these header fields.
    ///
    /// - Parameter form: returns the decoded fields of the body of a message; `nil` when the body is not a form. Only
    ///   schemes that sign form fields call it.
    public init(
        body: [UInt8], url: String? = nil, method: String = "POST", headers: [Field],
        form: @escaping (SignedMessage) -> [Field]? = { _ in nil }
    ) {
        self.body = body
        self.url = url
        self.method = method
        self.headers = headers
        readForm = form
    }

    /// The decoded fields of the body; `nil` when the body is not a form.
    var form: [Field]? { readForm(self) }

    /// Returns the value of a header field, without surrounding white space; `nil` if the field is absent or empty.
    /// Names are compared case-insensitively. Fields with the same name are combined into one list (RFC 9110, 5.3).
    public func header(_ name: String) -> String? {
        var list: String?
        for field in headers where field.name.equalsIgnoringCase(name) {
            list = list.map { $0 + ", " + field.value } ?? field.value
        }
        guard let value = list?[...].trimmingBlanks(), !value.isEmpty else { return nil }
        return String(value)
    }

    /// Returns the value of a header field. Throws `.headerMissing` if the field is absent or empty.
    func required(_ name: String) throws(SignatureRejection) -> String {
        guard let value = header(name) else { throw .headerMissing(name) }
        return value
    }

    /// Returns the URL, for schemes that sign it. Throws `.urlUnknown` if the URL is not configured.
    func requiredURL() throws(SignatureRejection) -> String {
        guard let url else { throw .urlUnknown }
        return url
    }
}

extension String {
    /// True when both texts are equal if upper-case and lower-case letters of ASCII are treated as equal.
    fileprivate func equalsIgnoringCase(_ other: String) -> Bool {
        func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
        guard utf8.count == other.utf8.count else { return false }
        let (left, right) = (utf8.span, other.utf8.span)
        for index in left.indices where lower(left[index]) != lower(right[index]) { return false }
        return true
    }
}

extension Substring {
    /// Returns the text without spaces and tabs at either end (RFC 9110, 5.6.3).
    func trimmingBlanks() -> Substring { Substring(utf8.trimmingBlanks()) }
}

extension BidirectionalCollection<UInt8> {
    /// Returns the text without spaces and tabs at either end (RFC 9110, 5.6.3).
    func trimmingBlanks() -> SubSequence {
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) })
        else { return self[endIndex...] }
        return self[first...last]
    }
}

/// Stripe: `Stripe-Signature: t=<seconds>,v1=<hex>[,v1=…]` over `<t>.<body>`. The key is the text of the secret,
/// including its prefix.
///
/// Stripe sends several `v1` values while a secret is rotated. One of them must be valid. Values of other versions are
/// ignored.
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
                // With a second timestamp, it would be unclear which one is signed.
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
