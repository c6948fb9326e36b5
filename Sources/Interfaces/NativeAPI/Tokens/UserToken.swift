import ChatModel
import JSON

/// The claims of a signed token: one user, and the user's rights until a given time.
///
/// Claims of RFC 7519: `sub` (the user), `exp`, `nbf`, `iat` and `aud`. Further claims: `scope` (words separated by
/// spaces, RFC 8693, 4.2), `channels` and `types` (patterns), `key` (the API key with which the gateway created the
/// token).
struct UserToken: Sendable, Equatable {
    var user: String
    /// The claim `key`: the id of the API key with which the gateway created the token. Nil for a token that the
    /// gateway did not create.
    var key: String?
    var scopes: Scopes
    /// The channels of the token; nil for all channels that its key covers.
    var channels: [NamePattern]?
    var types: [NamePattern]?
    var audience: [String] = []
    var notBefore: Timetoken?
    var issued: Timetoken?
    /// The time at which the token expires: the claim `exp`.
    var expires: Timetoken
    /// The time for which the token stays valid after `exp`, because the clocks of other machines may be wrong. Zero
    /// for a token that the gateway created.
    var leeway = skew

    /// The end of the token's validity: `exp` and the leeway.
    var end: Timetoken { expires.adding(leeway) }

    /// The scopes that a token may have. The other scopes permit changes of an app, which belong to no user and outlast
    /// the token. Such changes require an API key.
    static let possible: Scopes = [.read, .emit]

    /// The tolerated difference between this clock and the clocks of other machines.
    static let skew: Duration = .seconds(60)
    /// The maximum size in bytes. A token is sent in a header field of every request.
    static let textBytes = 16 * 1024

    /// The caller that the token identifies. It has the scopes that both the token and its key have, and the token's
    /// channels and types. Nil when no scope is left, or when the key does not cover all channels and types of the
    /// token.
    func caller(of key: Caller) -> Caller? {
        let words = Scopes.words.map(\.scope).filter { scopes.contains($0) && key.scopes.allow($0) }
        guard !words.isEmpty, key.channels.coversAll(channels ?? []), key.types.coversAll(types ?? []) else {
            return nil
        }
        let caller = Caller(
            app: key.app, credential: key.credential, scopes: Scopes(words), channels: channels ?? key.channels,
            types: types ?? key.types, user: user,
            expires: min(end, key.expires ?? .distantFuture), meters: key.meters)
        return caller.readingOwnChannel(within: key)
    }
}

// MARK: - Claims

extension UserToken {
    /// A missing or invalid claim, described for the author of the token.
    struct Fault: Error { let text: String }

    /// Parses the claims of a token whose signature is valid.
    init(claims: [UInt8]) throws(Fault) {
        // All parsing errors have the same text.
        guard let root = try? JSONDocument(claims).root, root.kind == .object else {
            throw Fault(text: "the token's payload must be a JSON object of claims")
        }
        guard let user = root["sub"]?.string, (try? Names.check(user: user)) != nil else {
            throw Fault(text: "'sub' must be a user's id, 1 to 92 bytes")
        }
        guard let expires = try Self.moment("exp", root) else { throw Fault(text: "'exp' is missing") }
        self.init(
            user: user, key: root["key"]?.string, scopes: try Self.scopes(root),
            channels: try Self.patterns("channels", root), types: try Self.patterns("types", root),
            audience: try Self.audience(root), notBefore: try Self.moment("nbf", root),
            issued: try Self.moment("iat", root), expires: expires)
    }

    /// Parses a time claim: seconds since 1970, with or without a fraction (RFC 7519, 2: NumericDate). Nil when the
    /// claim is absent.
    private static func moment(_ name: String, _ root: JSONValue) throws(Fault) -> Timetoken? {
        guard let value = root[name] else { return nil }
        guard let seconds = value.double, (0..<100_000_000_000).contains(seconds) else {
            throw Fault(text: "'\(name)' must be seconds since 1970")
        }
        return Timetoken(UInt64(seconds * Double(Timetoken.ticksPerSecond)))
    }

    private static func scopes(_ root: JSONValue) throws(Fault) -> Scopes {
        guard let value = root["scope"] else { return [.read] }
        guard let words = value.string, let scopes = Scopes(names: words.split(separator: " ").map(String.init)),
            scopes.isSubset(of: Self.possible)
        else { throw Fault(text: "'scope' must be 'read', 'emit', or both with a space between") }
        return scopes
    }

    private static func patterns(_ name: String, _ root: JSONValue) throws(Fault) -> [NamePattern]? {
        guard let value = root[name] else { return nil }
        let texts = value.strings ?? []
        let patterns = texts.compactMap { $0.utf8.count <= 255 ? NamePattern($0) : nil }
        guard !texts.isEmpty, patterns.count == texts.count else {
            throw Fault(text: "'\(name)' must be an array of names and patterns, 'a.b.*' or '*'")
        }
        return patterns
    }

    private static func audience(_ root: JSONValue) throws(Fault) -> [String] {
        guard let value = root["aud"] else { return [] }
        guard let names = value.string.map({ [$0] }) ?? value.strings else {
            throw Fault(text: "'aud' must be a string or an array of strings")
        }
        return names
    }

    /// The claims in the form that is signed.
    func claims(issuer: AppID, issued: Timetoken, id: String) -> JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("iss", issuer.name)
            writer.member("sub", user)
            if let audience = audience.first { writer.member("aud", audience) }
            writer.member("iat", Int(issued.seconds))
            writer.member("exp", Int(expires.seconds))
            writer.member("jti", id)
            writer.member("scope", scopes.names.joined(separator: " "))
            if let channels { writer.member("channels", channels.map(\.description)) }
            if let types { writer.member("types", types.map(\.description)) }
            if let key { writer.member("key", key) }
            writer.endObject()
        }
    }
}

extension Timetoken {
    fileprivate var seconds: UInt64 { rawValue / Self.ticksPerSecond }
}
