/// The settings of a signature scheme that the owner of a source may choose. ``SignatureSchemes/members`` lists the
/// settings that a scheme uses.
public struct SchemeSettings: Sendable, Equatable {
    /// The settings. The raw values are their names in JSON.
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

    /// The header with the signature or the token; `nil` uses the default of the scheme.
    public var header: String?
    /// The text before the digest or the token, such as `sha256=` or `Bearer `; `nil` means that there is no such text.
    public var prefix: String?
    /// The encoding of the digest.
    public var encoding = HMACScheme.Encoding.hex
    /// The hash function of the signature.
    public var algorithm = HashAlgorithm.sha256
    /// A template of the signed text with `{id}`, `{ts}`, `{body}`, `{url}` and `{header:Name}`. `nil` uses the default
    /// of the scheme, or only the body if there is no default.
    public var template: String?
    /// The header with the time of the signature in Unix seconds; `nil` when there is none.
    public var timestampHeader: String?
    /// The header with the sender's id of the delivery; `nil` when there is none.
    public var idHeader: String?
    /// The JSON Pointer to the sender's id of the delivery in the body; `nil` when the id is not in the body.
    public var idPointer: String?
    /// The maximum difference between a signed timestamp and the current time.
    public var window = ReplayWindow.standard

    /// Creates settings that use all defaults of a scheme.
    public init() {}

    /// Checks the names of all headers in the settings.
    ///
    /// - Throws: `.settingInvalid` if the name of a header is not valid.
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
    /// Returns true for a token (RFC 9110, 5.6.2).
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

/// The location of the sender's id of a delivery: a header if it is set, otherwise a JSON Pointer into the body.
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
/// Many senders support only this method. The token proves that the sender knows the secret. It does not protect the
/// body or the time, so an attacker who has seen one request can forge other requests. Use it only over TLS, and only
/// if the sender supports no signature.
struct TokenScheme: SignatureScheme {
    private let header: String
    private let prefix: String
    private let identity: IdentityPlace
    /// The digests of the tokens. All digests have the same length, so a comparison does not reveal the length of a
    /// token.
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
