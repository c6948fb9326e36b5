import ChatModel
import JSON
import JSONSchema
import Locking
import Signing

/// What may be done to a resource; the bits are the wire's.
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

/// What a permission is about.
enum ResourceKind: String, Sendable {
    case channel = "chan"
    case group = "grp"
    case user = "uuid"
}

/// A grant in a client's hands (`pubnub-wire.md` 17.2). SDKs read it, so its layout is the wire's; its signature is ours.
struct AccessToken: Sendable {
    private static let mark = Array("sig".utf8)
    private static let signatureLength = 32

    let value: CBOR
    let issued: Timetoken
    let expires: Timetoken
    /// Read when the first name comes that is not granted by itself: many tokens are never asked for theirs.
    private let patterns = Lock<[Pattern]?>(nil)

    private struct Pattern: Sendable {
        let section: String
        let pattern: WholePattern
        let permission: Permission
    }

    /// Whose token it is; nil for anybody's.
    var user: String? { value["uuid"]?.string }

    /// Nil for what is none, or was not signed with this secret.
    init?(_ text: String, secret: Secret) {
        let padded = text.replacing("-", with: "+").replacing("_", with: "/").replacing("=", with: "")
        let padding = String(repeating: "=", count: (4 - padded.utf8.count % 4) % 4)
        // The signature first: what anybody may have made up costs one digest, whatever it holds.
        guard let bytes = Base64.decode(padded + padding), Self.isSigned(bytes, by: secret), let value = CBOR(bytes),
            let issued = value["t"]?.number, let minutes = value["ttl"]?.number, issued < 1 << 40, minutes < 1 << 20
        else { return nil }
        self.value = value
        self.issued = Timetoken(issued * Timetoken.ticksPerSecond)
        expires = Timetoken((issued + minutes * 60) * Timetoken.ticksPerSecond)
    }

    /// Whether the named resource, or a pattern that matches it, has all of these permissions. A user's own channel, the one
    /// named like the user, can be read by every token of that user.
    func allows(_ permission: Permission, _ kind: ResourceKind, _ name: String) -> Bool {
        if kind == .channel, permission == .read, let user, ExactText(user) == ExactText(name) { return true }
        // Users and channels have older names beside their own.
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

    /// What cannot be read grants nothing.
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

    /// The text of a token with these members; the signature comes last.
    static func text(_ members: [(key: CBOR, value: CBOR)], secret: Secret) -> String {
        let signature = MessageAuthentication.code(.sha256, of: CBOR.map(members).encoded, key: secret)
        let bytes = CBOR.map(members + [(.bytes(mark), .bytes(signature))]).encoded
        return Base64.encode(bytes).replacing("+", with: "-").replacing("/", with: "_")
    }

    /// Takes the last member away and counts one less: what is left is what was signed.
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
