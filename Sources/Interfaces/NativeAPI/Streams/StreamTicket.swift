import ChatCore
import ChatModel
import JSON
import Signing
import Text

/// A ticket: lets a page in a browser open one stream within 60 seconds. A page sends the ticket instead of the
/// `Authorization` header, which `EventSource` cannot send.
///
/// The text of a ticket contains all of its data, sealed with the gateway's own key. Creating a ticket stores nothing,
/// and a ticket remains readable after a restart. Only the gateway can read the stream's start from the text. The
/// ticket's rights are limited by the current rights of its key.
struct StreamTicket: Sendable, Equatable {
    /// The identity of a ticket: 128 random bits.
    struct Nonce: Hashable, Sendable {
        let high: UInt64
        let low: UInt64
    }

    static let lifetime: Duration = .seconds(60)
    /// The time for which the ticket can resume its stream, counted from the ticket's creation.
    static let resumeLife: Duration = .seconds(3600)
    /// The maximum size of a ticket's text in bytes, because the text is part of a request line. A page that needs more
    /// channels should use patterns.
    static let textBytes = 16 * 1024

    var app: AppID
    /// The id of the API key with which the ticket was created.
    var key: String
    var channels: [NamePattern]
    var types: [NamePattern]
    var user: String?
    /// The expiry of the token with which the ticket was created; nil when it was created with a key.
    var until: Timetoken?
    /// The properties that show whether the token or ticket with which this ticket was created has been revoked. Nil
    /// when this ticket was created with a key.
    var proof: TokenProof?
    /// The start of the ticket's stream. Events before this position are never sent.
    var position: Timetoken
    /// The start that the client sees instead of `position`. A client that sends this start back as its last id has
    /// received no event. The start depends on the request for the ticket:
    ///
    /// - The request sets the earliest position: the start is a random time in about the year 2001.
    /// - The request sets another position: the start is that position.
    /// - The request sets no position: the start is a random time shortly before the ticket was created.
    var start: Timetoken
    var nonce: Nonce
    var expires: Timetoken

    var issued: Timetoken { expires.adding(.zero - Self.lifetime) }

    /// The rights of the stream that this ticket opens, given the current rights of the ticket's key; nil when the key
    /// no longer covers the ticket's channels and types.
    func caller(of key: Caller) -> Caller? {
        let selection = Selection(channels: ChannelSet(app: app, patterns: channels), types: types)
        guard selection.isPermitted(to: key) else { return nil }
        let needsAdmin = channels.contains(.exact(ChannelID.systemName))
        var caller = Caller(
            app: app, credential: self.key, scopes: needsAdmin ? [.read, .admin] : [.read], channels: channels,
            types: types, user: user, expires: [until, key.expires].compactMap(\.self).min())
        // A ticket that was created with an API key is revoked together with the user's tokens that were issued at the
        // same time.
        caller.proof = proof ?? TokenProof(issued: issued)
        caller.meters = key.meters
        return caller.readingOwnChannel(within: key)
    }
}

// MARK: - Text

extension StreamTicket {
    static let sealPurpose = "stream ticket"

    func text(sealedBy seal: TextSealer) -> String { seal.seal(json.bytes) }

    /// Parses a ticket; nil for a text that the gateway did not create. Checks neither the expiry nor the earlier uses.
    init?(text: String, sealedBy seal: TextSealer) {
        guard let json = seal.open(text, mostBytes: Self.textBytes) else { return nil }
        self.init(json: json)
    }

    private var json: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("app", app.name)
            writer.member("key", key)
            writer.member("channels", channels.map(\.description))
            writer.member("types", types.map(\.description))
            if let user { writer.member("user", user) }
            if let until { writer.member("until", until.description) }
            if let proof {
                if let issued = proof.issued { writer.member("token_issued", issued.description) }
                if let print = proof.secretPrint { writer.member("token_secret", print) }
                writer.member("by_token", true)
            }
            writer.member("position", position.description)
            writer.member("start", start.description)
            writer.member("nonce", Hex.encode(nonce.bytes))
            writer.member("exp", expires.description)
            writer.endObject()
        }
    }

    private init?(json: [UInt8]) {
        // A text that cannot be parsed is not a ticket.
        guard let root = try? JSONDocument(json).root, let app = root["app"]?.string, let key = root["key"]?.string,
            let channels = root["channels"]?.strings, let types = root["types"]?.strings,
            let nonce = root["nonce"]?.string.flatMap(Hex.decode).flatMap(Nonce.init),
            let position = root["position"]?.string.flatMap({ Timetoken(text: $0) }),
            let start = root["start"]?.string.flatMap({ Timetoken(text: $0) }),
            let expires = root["exp"]?.string.flatMap({ Timetoken(text: $0) })
        else { return nil }
        let proof =
            root["by_token"] == nil
            ? nil
            : TokenProof(
                issued: root["token_issued"]?.string.flatMap { Timetoken(text: $0) },
                secretPrint: root["token_secret"]?.string)
        self.init(
            app: AppID(app), key: key, channels: channels.compactMap { NamePattern($0) },
            types: types.compactMap { NamePattern($0) }, user: root["user"]?.string,
            until: root["until"]?.string.flatMap { Timetoken(text: $0) }, proof: proof, position: position,
            start: start,
            nonce: nonce,
            expires: expires)
    }
}

extension StreamTicket.Nonce {
    init(_ random: any RandomSource) {
        self.init(words: random.bytes(16))
    }

    init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.init(words: bytes)
    }

    private init(words bytes: [UInt8]) {
        high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    var bytes: [UInt8] {
        [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) } }
    }
}
