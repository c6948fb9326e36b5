import ChatModel
import JSON
import JSONSchema
import Locking
import Signing

/// Permissions on a resource, with the bit values of PubNub tokens.
struct Permission: OptionSet, Sendable {
    let rawValue: UInt64

    static let read = Permission(rawValue: 1)
    static let write = Permission(rawValue: 2)
    static let manage = Permission(rawValue: 4)
    static let delete = Permission(rawValue: 8)
    static let create = Permission(rawValue: 16)
    static let get = Permission(rawValue: 32)
    static let update = Permission(rawValue: 64)
    static let join = Permission(rawValue: 128)
}

/// The kind of resource that a permission applies to.
enum ResourceKind: String, Sendable {
    case channel = "chan"
    case group = "grp"
    case user = "uuid"
}

/// An access token of the PubNub API. The token has PubNub's layout, because SDKs parse it. The signature algorithm is
/// Parley's own.
struct AccessToken: Sendable {
    private static let mark = Array("sig".utf8)
    private static let signatureLength = 32

    let value: CBOR
    let issued: Timetoken
    let expires: Timetoken
    /// The parsed patterns of the token; nil until they are needed. They are parsed at the first check of a name that
    /// no exact entry grants, because many tokens never need them.
    private let patterns = Lock<[Pattern]?>(nil)

    private struct Pattern: Sendable {
        let section: String
        let pattern: WholePattern
        let permission: Permission
    }

    /// The user that the token is bound to; nil for a token that any user may present.
    var user: String? { value["uuid"]?.string }

    /// Parses and verifies a token; nil for text that is not a token, or that `secret` has not signed.
    init?(_ text: String, secret: Secret) {
        let padded = text.replacing("-", with: "+").replacing("_", with: "/").replacing("=", with: "")
        let padding = String(repeating: "=", count: (4 - padded.utf8.count % 4) % 4)
        // The signature is checked first. A forged token of any content therefore costs only one digest.
        guard let bytes = Base64.decode(padded + padding), Self.isSigned(bytes, by: secret), let value = CBOR(bytes),
            let issued = value["t"]?.number, let minutes = value["ttl"]?.number, issued < 1 << 40, minutes < 1 << 20
        else { return nil }
        self.value = value
        self.issued = Timetoken(issued * Timetoken.ticksPerSecond)
        expires = Timetoken((issued + minutes * 60) * Timetoken.ticksPerSecond)
    }

    /// Returns true when the token grants all of these permissions on the named resource, by its name or by a pattern.
    /// A token bound to a user always grants `read` on the user's own channel, which has the same name as the user.
    func allows(_ permission: Permission, _ kind: ResourceKind, _ name: String) -> Bool {
        if kind == .channel, permission == .read, let user, ExactText(user) == ExactText(name) { return true }
        // Each kind of resource has one or two section names in a token: the current name and, for users and channels,
        // an older name.
        let sections = kind == .user ? ["uuid", "usr"] : kind == .channel ? ["chan", "spc"] : ["grp"]
        let isNamed = sections.contains { section in
            Permission(rawValue: value["res"]?[section]?[name]?.number ?? 0).isSuperset(of: permission)
        }
        return isNamed
            || ownPatterns().contains {
                sections.contains($0.section) && $0.permission.isSuperset(of: permission) && $0.pattern.matches(name)
            }
    }

    private func ownPatterns() -> [Pattern] {
        patterns.withLock { known in
            let patterns = known ?? Self.patterns(value)
            known = patterns
            return patterns
        }
    }

    /// The patterns of a token. Entries that cannot be parsed are left out, so they grant nothing.
    private static func patterns(_ value: CBOR) -> [Pattern] {
        (value["pat"]?.members ?? []).flatMap { section, members in
            members.members.compactMap { text, bits in
                guard let section = section.string, let pattern = text.string.flatMap({ WholePattern($0) }) else {
                    return nil
                }
                return Pattern(section: section, pattern: pattern, permission: Permission(rawValue: bits.number ?? 0))
            }
        }
    }

    // MARK: Signing

    /// Encodes and signs a token with the given members. The signature becomes the last member.
    static func text(_ members: [(key: CBOR, value: CBOR)], secret: Secret) -> String {
        let signature = MessageAuthentication.code(.sha256, of: CBOR.map(members).encoded, key: secret)
        let bytes = CBOR.map(members + [(.bytes(mark), .bytes(signature))]).encoded
        return Base64.encode(bytes).replacing("+", with: "-").replacing("/", with: "_")
    }

    /// Returns true when `secret` has signed the token. The signature is the last member of the token. The signed bytes
    /// are the token's bytes without this member, with a member count that is lower by one.
    private static func isSigned(_ bytes: [UInt8], by secret: Secret) -> Bool {
        let ending = CBOR.bytes(mark).encoded + [0x58, UInt8(signatureLength)]
        let length = ending.count + signatureLength
        guard let first = bytes.first, (0xA1...0xB7).contains(first), bytes.count > length + 1,
            Array(bytes[(bytes.count - length)...].prefix(ending.count)) == ending
        else { return false }
        let signed = [first - 1] + bytes[1..<bytes.count - length]
        let code = MessageAuthentication.code(.sha256, of: signed, key: secret)
        return constantTimeEqual(code, Array(bytes.suffix(signatureLength)))
    }
}
