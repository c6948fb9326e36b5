import ChatCore
import ChatModel
import HTTPServer
import Signing

/// A request as this wire writes them: what matters stands in segments of the path and in the query.
struct WireRequest: Sendable {
    let request: Request
    /// What let it in, where its app demands tokens: nil for a signed one, which may do everything.
    var token: AccessToken?
    /// Raw: split first, decoded by who reads one, so that a slash or a comma inside a name survives.
    private let segments: [Substring.UTF8View.SubSequence]

    init(_ request: Request) throws(WireError) {
        self.request = request
        segments = request.path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    }

    var body: [UInt8] { request.body.bytes }

    /// Whether a list may show it this name: where tokens are demanded, it must be granted.
    func mayRead(_ kind: ResourceKind, _ name: String) -> Bool { token?.allows(.read, kind, name) ?? true }

    // MARK: The path

    /// A decoded segment; nil for one that cannot be decoded, or is not there.
    func segment(_ index: Int) -> String? {
        index < segments.count ? PercentText.decode(Array(segments[index])) : nil
    }

    /// All that follows, slashes included: a client may send them as they are.
    func rest(from index: Int) -> String? {
        guard index < segments.count else { return "" }
        return PercentText.decode(Array(segments[index...].joined(separator: [UInt8(ascii: "/")])))
    }

    /// A list of names: split at its commas before its items are decoded. A lone comma is an empty list.
    ///
    /// A comma that was escaped stays in its item, where no name may have one.
    func names(_ index: Int) throws(WireError) -> [String] {
        guard index < segments.count else { return [] }
        var names: [String] = []
        for item in segments[index].split(separator: UInt8(ascii: ",")) {
            guard let name = PercentText.decode(Array(item)) else { throw .unreadable }
            names.append(name)
        }
        return names.withoutRepeats
    }

    // MARK: The query

    /// A parameter; the last one where it is there twice. Nil when it is empty.
    subscript(name: String) -> String? {
        request.query.items.last { $0.name == name && !$0.value.isEmpty }?.value
    }

    func flag(_ name: String, default value: Bool = false) -> Bool {
        guard let text = request.query.items.last(where: { $0.name == name })?.value else { return value }
        return ["1", "true", "True", "TRUE"].contains(text)
    }

    /// - Throws: `unreadable` for what is no timetoken.
    func timetoken(_ name: String) throws(WireError) -> Timetoken? {
        guard let text = self[name] else { return nil }
        guard let value = Timetoken(wire: text) else { throw .unreadable }
        return value
    }

    /// A list of names in the query, where it was decoded already.
    func list(_ name: String) -> [String] {
        (self[name]?.split(separator: ",").map(String.init) ?? []).withoutRepeats
    }

    /// Who acts: a claim, as far as no access token says more.
    func user() throws(ChatError) -> String? {
        guard let user = self["uuid"], user.contains(where: { $0 != " " }) else { return nil }
        try Names.check(user: user)
        return user
    }
}

extension Timetoken {
    /// Up to 20 digits; what is beyond every position is the last one.
    init?(wire text: String) {
        guard (1...20).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        self = min(UInt64(text).map { Timetoken($0) } ?? .distantFuture, .distantFuture)
    }

    /// The position right before, for bounds that include theirs.
    var before: Timetoken { Timetoken(rawValue - min(rawValue, 1)) }
    /// The position right behind.
    var after: Timetoken { min(Timetoken(rawValue &+ 1), .distantFuture) }
}

extension [String] {
    /// Each once, in the order of their first occurrence.
    var withoutRepeats: [String] {
        var seen: Set<ExactText> = []
        return filter { seen.insert(ExactText($0)).inserted }
    }
}

/// An app as its keys name it: the subscribe key stands in every path (`pubnub-wire.md` 2.1).
struct Keyset: Sendable {
    let record: AppRecord

    var app: AppID { record.id }

    /// Who comes with the keys: they read, write and delete, as long as no access tokens narrow that. They name no user;
    /// whom a request names is a claim.
    var caller: Caller {
        var caller = Caller(app: app, credential: record.subscribeKey, scopes: [.emit, .read, .manage])
        caller.meters = record.meters
        return caller
    }

    /// - Throws: `invalidSubscribeKey`.
    init(_ subscribeKey: String?, _ service: ChatService) throws(WireError) {
        guard let app = subscribeKey.flatMap({ service.keyring.app(subscribeKey: $0) }) else {
            throw .invalidSubscribeKey
        }
        record = app
    }

    /// - Throws: `invalidKey` for another app's publish key.
    func demand(publishKey: String?) throws(WireError) {
        guard let publishKey, ExactText(publishKey) == ExactText(record.publishKey) else { throw .invalidKey }
    }
}

extension Keyset {
    /// Who comes to do something to a message: a token lets its holder do it as a user, to whom others' messages are not
    /// their own. The keys alone, a signature and a token that lets its holder manage the channel stand above that.
    func caller(of request: WireRequest, in channel: String) -> Caller {
        guard let token = request.token, !token.allows(.manage, .channel, channel) else { return caller }
        return Caller(app: app, credential: record.subscribeKey, scopes: [.emit, .read])
    }
}

extension PubNubAPI {
    func chat(_ keyset: Keyset, for request: WireRequest) -> ChatAccess {
        var chat = service.chat(for: keyset.caller, cause: request.request.id)
        // Clients of this wire judge by the action that deleted it.
        chat.showsDeletedTexts = true
        return chat
    }
}
