import ChatCore
import ChatModel
import JSON
import Signing

/// What a page in a browser may do in place of an `Authorization` header, which `EventSource` cannot send: open one
/// stream, once, within 60 s (`conventions.md` 9).
///
/// Everything is in the ticket's own text, signed with the app's secret key, so that nothing is stored to make one, and
/// one can still be read after a restart. What it allows is the least of what it says and of what its key may now.
struct StreamTicket: Sendable, Equatable {
    /// Tells tickets apart; 128 random bits.
    struct Nonce: Hashable, Sendable {
        let high: UInt64
        let low: UInt64
    }

    static let lifetime: Duration = .seconds(60)
    /// A ticket travels in a request line; a page that needs more channels asks for patterns.
    static let textBytes = 16 * 1024

    var space: SpaceID
    /// The id of the API key that asked for it.
    var key: String
    var channels: [NamePattern]
    var types: [NamePattern]
    var user: String?
    /// When what asked for it ends, if that was no key but a token.
    var until: Timetoken?
    var nonce: Nonce
    var expires: Timetoken

    var issued: Timetoken { expires.adding(.zero - Self.lifetime) }

    /// What a stream of this ticket may see, given what its key may do now; nil when that is less than it says.
    func caller(of key: Caller) -> Caller? {
        let selection = Selection(channels: ChannelSet(space: space, patterns: channels), types: types)
        guard selection.isPermitted(to: key) else { return nil }
        let needsAdmin = channels.contains(.exact(ChannelID.systemName))
        var caller = Caller(
            space: space, credential: self.key, scopes: needsAdmin ? [.read, .admin] : [.read], channels: channels,
            types: types, user: user, expires: [until, key.expires].compactMap(\.self).min())
        caller.meters = key.meters
        return caller
    }
}

// MARK: - Text

extension StreamTicket {
    private static let text = SignedText(purpose: "parley stream ticket 1\n", bytesMost: textBytes)

    func text(secret: Secret) -> String { Self.text.seal(json.bytes, secret: secret) }

    /// Reads a ticket; nil for anything but one of ours. Says nothing about time and use.
    ///
    /// - Parameter secret: of the app the ticket names, if there is such an app.
    init?(text: String, secret: (SpaceID) -> Secret?) {
        guard let ticket = Self.text.open(text, read: { StreamTicket(json: $0) }, secret: { secret($0.space) })
        else { return nil }
        self = ticket
    }

    private var json: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("app", space.name)
            writer.member("key", key)
            writer.member("channels", channels.map(\.description))
            writer.member("types", types.map(\.description))
            if let user { writer.member("user", user) }
            if let until { writer.member("until", until.description) }
            writer.member("nonce", Hex.encode(nonce.bytes))
            writer.member("exp", expires.description)
            writer.endObject()
        }
    }

    private init?(json: [UInt8]) {
        // What cannot be read is no ticket, whatever the reason.
        guard let root = try? JSONDocument(json).root, let space = root["app"]?.string, let key = root["key"]?.string,
            let channels = root["channels"]?.strings, let types = root["types"]?.strings,
            let nonce = root["nonce"]?.string.flatMap(Hex.decode).flatMap(Nonce.init),
            let expires = root["exp"]?.string.flatMap({ Timetoken(text: $0) })
        else { return nil }
        self.init(
            space: SpaceID(space), key: key, channels: channels.compactMap { NamePattern($0) },
            types: types.compactMap { NamePattern($0) }, user: root["user"]?.string,
            until: root["until"]?.string.flatMap { Timetoken(text: $0) }, nonce: nonce, expires: expires)
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
