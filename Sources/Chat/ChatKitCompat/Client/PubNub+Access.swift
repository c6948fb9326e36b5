import ChatKit
import ChatRemote

extension PubNub {
    /// Reads the gateway's time.
    public func time(
        custom requestConfig: RequestConfiguration = RequestConfiguration(),
        completion: ((Result<Timetoken, any Error>) -> Void)?
    ) {
        run(requestConfig, completion) { backend in try await backend.time().rawValue }
    }

    /// Reads the claims of a user's token, without checking the token's signature. Returns nil for a text that is not a
    /// user's token.
    public func parse(token: String) -> PAMToken? {
        GatewayBackend.claims(of: token).flatMap { PAMToken($0, rawValue: token) }
    }
}

/// The claims of a user's token, which are the statements in the token about its user, channels and lifetime.
public struct PAMToken: Hashable, Sendable {
    /// The time at which the token was issued, in seconds since 1970; 0 when the token does not contain this time.
    public let timestamp: Int
    /// The number of minutes from ``timestamp`` to the token's expiry.
    public let ttl: Int
    /// The id of the token's user.
    public let authorizedUUID: String?
    /// The permissions in the channels that the token lists by name.
    public let resources: PAMTokenResource
    /// The permissions in the channels that match a pattern. The pattern `*` stands for all channels.
    public let patterns: PAMTokenResource
    /// The token itself.
    public let rawValue: String

    fileprivate init?(_ claims: ChatKit.AnyJSON, rawValue: String) {
        guard let user = claims["sub"]?.string, case .integer(let end) = claims["exp"] else { return nil }
        var start: Int64 = 0
        if case .integer(let time) = claims["iat"], time >= 0, time <= end { start = time }
        var permission: PAMPermission = []
        for word in (claims["scope"]?.string ?? "read").split(separator: " ") {
            permission.formUnion(word == "emit" ? .write : word == "read" ? .read : [])
        }
        var names: [String] = ["*"]
        if case .array(let channels) = claims["channels"] { names = channels.compactMap(\.string) }
        let permissions = Dictionary(names.map { ($0, permission) }, uniquingKeysWith: { first, _ in first })
        timestamp = Int(start)
        ttl = Int((end - start) / 60)
        authorizedUUID = user
        resources = PAMTokenResource(channels: permissions.filter { !$0.key.contains("*") })
        patterns = PAMTokenResource(channels: permissions.filter { $0.key.contains("*") })
        self.rawValue = rawValue
    }
}

/// Channels, and the permissions of a token in them.
public struct PAMTokenResource: Hashable, Sendable {
    /// The permissions by channel name or pattern.
    public let channels: [String: PAMPermission]
}

/// The permissions of a token in a channel.
public struct PAMPermission: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The permission to receive and read events.
    public static let read = PAMPermission(rawValue: 1)
    /// The permission to send events.
    public static let write = PAMPermission(rawValue: 2)
}
