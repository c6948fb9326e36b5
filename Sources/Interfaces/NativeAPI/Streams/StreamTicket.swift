import ChatCore
import ChatModel
import JSON
import Signing

/// What a page in a browser may do in place of an `Authorization` header, which `EventSource` cannot send: open one
/// stream, once, within 60 s (`conventions.md` 9).
///
/// Everything is in the ticket's own text, sealed with the gateway's own key, so that nothing is stored to make one, one can
/// still be read after a restart, and nobody else can tell where its stream starts. What it allows is the least of what it says
/// and of what its key may now.
struct StreamTicket: Sendable, Equatable {
    /// Tells tickets apart; 128 random bits.
    struct Nonce: Hashable, Sendable {
        let high: UInt64
        let low: UInt64
    }

    static let lifetime: Duration = .seconds(60)
    /// For how long its stream can be resumed, from its making on.
    static let resumeLife: Duration = .seconds(3600)
    /// A ticket travels in a request line; a page that needs more channels asks for patterns.
    static let textBytes = 16 * 1024

    var app: AppID
    /// The id of the API key that asked for it.
    var key: String
    var channels: [NamePattern]
    var types: [NamePattern]
    var user: String?
    /// When what asked for it ends, if that was no key but a token.
    var until: Timetoken?
    /// Of what asked for it, if that was a token or a ticket.
    var proof: TokenProof?
    /// Where its stream starts, and before which nothing of it is ever shown.
    var position: Timetoken
    /// What the client is told in place of `position`: the same if that was asked for, else a moment before the ticket was made,
    /// by chance. Whoever comes back with it has had nothing.
    var start: Timetoken
    var nonce: Nonce
    var expires: Timetoken

    var issued: Timetoken { expires.adding(.zero - Self.lifetime) }

    /// What a stream of this ticket may see, given what its key may do now; nil when that is less than it says.
    func caller(of key: Caller) -> Caller? {
        let selection = Selection(channels: ChannelSet(app: app, patterns: channels), types: types)
        guard selection.isPermitted(to: key) else { return nil }
        let needsAdmin = channels.contains(.exact(ChannelID.systemName))
        var caller = Caller(
            app: app, credential: self.key, scopes: needsAdmin ? [.read, .admin] : [.read], channels: channels,
            types: types, user: user, expires: [until, key.expires].compactMap(\.self).min())
        // A ticket of an API key is taken back with its user's tokens of that time.
        caller.proof = proof ?? TokenProof(issued: issued)
        caller.meters = key.meters
        return caller.readingOwnChannel(within: key)
    }
}

// MARK: - Text

extension StreamTicket {
    static let sealPurpose = "stream ticket"

    func text(sealedBy seal: TextSealer) -> String { seal.seal(json.bytes) }

    /// Reads a ticket; nil for anything but one of ours. Says nothing about time and use.
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
        // What cannot be read is no ticket, whatever the reason.
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
