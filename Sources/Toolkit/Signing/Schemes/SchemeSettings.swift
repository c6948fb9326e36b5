/// What the owner of a source may decide about its scheme. Which members a scheme takes: `SignatureSchemes.members`.
public struct SchemeSettings: Sendable, Equatable {
    /// The members by the names they have in documents.
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

    /// The header with the signature or the token; nil is the scheme's own.
    public var header: String?
    /// What stands before the digest or the token, such as `sha256=` or `Bearer `.
    public var prefix: String?
    public var encoding = HMACScheme.Encoding.hex
    public var algorithm = HashAlgorithm.sha256
    /// What is signed, of `{id}`, `{ts}`, `{body}`, `{url}` and `{header:Name}`; nil is the body alone, or the scheme's own.
    public var template: String?
    /// The header with the unix seconds of the signature.
    public var timestampHeader: String?
    /// The header with the sender's id of the delivery.
    public var idHeader: String?
    /// Where that id is in the body (JSON Pointer), for senders that put it there.
    public var idPointer: String?
    public var window = ReplayWindow.standard

    public init() {}

    /// - Throws: `.settingInvalid` for a header that can be no header's name.
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
    /// A token (RFC 9110, 5.6.2).
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

/// Where a scheme finds the sender's id of a delivery: in a header, otherwise in the body.
struct IdentityPlace: Sendable {
    var header: String?
    var pointer: String?

    func header(of message: SignedMessage) -> String? { header.flatMap(message.header) }

    func of(_ message: SignedMessage) -> DeliveryIdentity {
        if let id = header(of: message) { return .value(id) }
        return pointer.map { .bodyPointer($0) } ?? .none
    }
}

/// A secret that is sent along as it is, in a header: no signature at all.
///
/// Many senders have nothing better. It shows that the sender knows the secret, and nothing of the body or the time:
/// whoever once sees a request can make any other. Only over TLS, and only where the sender offers no signature.
struct TokenScheme: SignatureScheme {
    private let header: String
    private let prefix: String
    private let identity: IdentityPlace
    /// Of the tokens: digests have one length, so that comparing does not tell that of the token.
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
