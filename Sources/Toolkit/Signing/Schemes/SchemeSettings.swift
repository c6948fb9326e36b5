/// The settings that the owner of a source may choose for its scheme. `SignatureSchemes.members` lists those that a
/// scheme uses.
public struct SchemeSettings: Sendable, Equatable {
    /// The settings, by their names in documents.
    public enum Member: String, Sendable, CaseIterable {
        case header
        case prefix
        case encoding
        case algorithm
        case template
        case timestampHeader = "timestamp_header"
        case idHeader = "id_header"
        case idPointer = "id_pointer"
        case window = "window_seconds"
    }

    /// The header with the signature or the token; `nil` uses the scheme's own.
    public var header: String?
    /// The text before the digest or the token, such as `sha256=` or `Bearer `.
    public var prefix: String?
    /// The encoding of the digest.
    public var encoding = HMACScheme.Encoding.hex
    /// The hash function of the signature.
    public var algorithm = HashAlgorithm.sha256
    /// A template of the signed text with `{id}`, `{ts}`, `{body}`, `{url}` and `{header:Name}`; `nil` signs the body
    /// alone, or uses the scheme's own.
    public var template: String?
    /// The header with the Unix seconds of the signature.
    public var timestampHeader: String?
    /// The header with the sender's id of the delivery.
    public var idHeader: String?
    /// The place of that id in the body (JSON Pointer), for senders that put it there.
    public var idPointer: String?
    /// The allowed age of a signed timestamp.
    public var window = ReplayWindow.standard

    /// Settings that leave every default of a scheme unchanged.
    public init() {}

    /// - Throws: `.settingInvalid` for a header whose name is not valid.
    func check() throws(SignatureSchemeError) {
        let names: [(Member, String?)] = [
            (.header, header), (.timestampHeader, timestampHeader), (.idHeader, idHeader),
        ]
        for (member, name) in names {
            if let name, !HeaderName.isValid(name) { throw .settingInvalid(member) }
        }
    }
}

enum HeaderName {
    /// True for a token (RFC 9110, 5.6.2).
    static func isValid(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}

/// The place of the sender's id of a delivery: in a header, otherwise in the body.
struct IdentityPlace: Sendable {
    var header: String?
    var pointer: String?

    func header(of message: SignedMessage) -> String? { header.flatMap(message.header) }

    func of(_ message: SignedMessage) -> DeliveryIdentity {
        if let id = header(of: message) { return .value(id) }
        return pointer.map { .bodyPointer($0) } ?? .none
    }
}

/// A secret that is sent unchanged in a header, without a signature.
///
/// Many senders offer nothing better. The token proves that the sender knows the secret, but protects neither the body
/// nor the time: an attacker who once sees a request can forge any other. Use it only over TLS, and only where the
/// sender offers no signature.
struct TokenScheme: SignatureScheme {
    private let header: String
    private let prefix: String
    private let identity: IdentityPlace
    /// Digests of the tokens. They have the same length, so the comparison does not reveal the length of a token.
    private let digests: [[UInt8]]

    init(_ secrets: [Secret], _ settings: SchemeSettings) throws(SignatureSchemeError) {
        guard let header = settings.header else { throw .settingMissing(.header) }
        self.header = header
        prefix = settings.prefix ?? ""
        identity = IdentityPlace(header: settings.idHeader, pointer: settings.idPointer)
        digests = secrets.map { sha256($0.bytes) }
    }

    func verify(_ message: SignedMessage, at now: Int64) throws(SignatureRejection) -> DeliveryIdentity {
        let value = try message.required(header)
        guard value.hasPrefix(prefix) else { throw .headerMalformed(header) }
        let digest = sha256(Array(value.dropFirst(prefix.count).utf8))
        guard digests.contains(where: { constantTimeEqual($0, digest) }) else { throw .mismatch }
        return identity.of(message)
    }
}
