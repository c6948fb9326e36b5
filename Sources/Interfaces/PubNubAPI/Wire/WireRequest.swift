import ChatCore
import ChatModel
import HTTPServer
import Text

/// A request to the PubNub API. Its parameters are in path segments and in the query.
struct WireRequest: Sendable {
    let request: Request
    /// The token that authorized the request; nil if the app requires no tokens, and for a signed request, which has
    /// all permissions.
    var token: AccessToken?
    /// The app that was found when the request was authorized, and the index of the path segment with its subscribe key;
    /// nil for a call that needs no authorization.
    var app: (keyset: Keyset, keyAt: Int)?
    /// The path, percent-encoded. The path is split first, and each segment is decoded when it is read, so that a name
    /// may contain an encoded slash.
    private let path: [UInt8]
    /// The index in `path` of the slash before each segment and, at the end, the length of the path.
    private let slashes: [Int]

    init(_ request: Request) {
        self.request = request
        let path = request.pathBytes
        var slashes: [Int] = []
        slashes.reserveCapacity(8)
        for index in path.indices where path[index] == UInt8(ascii: "/") { slashes.append(index) }
        slashes.append(path.count)
        self.path = path
        self.slashes = slashes
    }

    var body: [UInt8] { request.body.bytes }

    /// Returns true when a list may include this name. In an app that requires tokens, the token must grant `read` for
    /// the name.
    func mayRead(_ kind: ResourceKind, _ name: String) -> Bool { token?.allows(.read, kind, name) ?? true }

    // MARK: The path

    /// A path segment, decoded; nil when it is absent or cannot be decoded.
    func segment(_ index: Int) -> String? { rawSegment(index).flatMap { PercentEncoding.decode($0) } }

    /// A path segment, still percent-encoded; nil when it is absent.
    func rawSegment(_ index: Int) -> ArraySlice<UInt8>? {
        index + 1 < slashes.count ? path[slashes[index] + 1..<slashes[index + 1]] : nil
    }

    /// The path from the segment `index` on, decoded; nil when it cannot be decoded. The result may contain slashes,
    /// because clients may send slashes unescaped. The bytes need not be UTF-8.
    func rest(from index: Int) -> [UInt8]? {
        guard index + 1 < slashes.count else { return [] }
        return PercentEncoding.decodeBytes(path[(slashes[index] + 1)...])
    }

    /// A list of names in a path segment, without duplicates. A single comma is an empty list.
    ///
    /// Names contain no comma, so an escaped comma also separates two names. JavaScript SDKs before 8.0 escape the
    /// whole list.
    ///
    /// - Throws: `WireError.unreadable` for a segment that cannot be decoded.
    func names(_ index: Int) throws(WireError) -> [String] {
        guard let segment = rawSegment(index) else { return [] }
        guard let list = PercentEncoding.decode(segment) else { throw .unreadable }
        return list.split(separator: ",").map(String.init).withoutRepeats
    }

    // MARK: The query

    /// The value of a query parameter, or its last value if the parameter repeats; nil when the value is absent or
    /// empty.
    subscript(name: String) -> String? {
        request.query.items.last { $0.name == name && !$0.value.isEmpty }?.value
    }

    func flag(_ name: String, default value: Bool = false) -> Bool {
        guard let text = request.query.items.last(where: { $0.name == name })?.value else { return value }
        return ["1", "true", "True", "TRUE"].contains(text)
    }

    /// The timetoken in a query parameter; nil when the parameter is absent or empty.
    ///
    /// - Throws: `WireError.unreadable` for a value that is not a timetoken.
    func timetoken(_ name: String) throws(WireError) -> Timetoken? {
        guard let text = self[name] else { return nil }
        guard let value = Timetoken(wire: text) else { throw .unreadable }
        return value
    }

    /// A list of names in a query parameter, without duplicates.
    func list(_ name: String) -> [String] {
        (self[name]?.split(separator: ",").map(String.init) ?? []).withoutRepeats
    }

    /// The acting user that the request names; nil when the request names none. The name is not verified, unless an
    /// access token is bound to the user.
    func user() throws(ChatError) -> String? {
        guard let user = self["uuid"], user.utf8.contains(where: { $0 != UInt8(ascii: " ") }) else { return nil }
        try Names.check(user: user)
        return user
    }
}

extension Timetoken {
    /// Parses up to 20 digits. A number above the largest timetoken becomes the largest timetoken.
    init?(wire text: String) {
        if let timetoken = Timetoken(text: text) {
            self = timetoken
        } else {
            guard (1...20).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                return nil
            }
            self = min(UInt64(text).map { Timetoken($0) } ?? .distantFuture, .distantFuture)
        }
    }

    /// The timetoken before this one. It converts an exclusive bound into an inclusive bound.
    var before: Timetoken { Timetoken(rawValue - min(rawValue, 1)) }
    /// The timetoken after this one; this timetoken if it is the largest.
    var after: Timetoken { min(Timetoken(rawValue &+ 1), .distantFuture) }
}

extension [String] {
    /// The distinct elements, in the order of their first occurrence.
    var withoutRepeats: [String] {
        guard count > 1 else { return self }
        var seen: Set<ExactText> = []
        return filter { seen.insert(ExactText($0)).inserted }
    }
}

extension Keyset {
    /// Requires that a request has the app's publish key.
    ///
    /// - Throws: `WireError.invalidKey` when `publishKey` is nil or is not the app's publish key.
    func require(publishKey: String?) throws(WireError) {
        guard let publishKey, ExactText(publishKey) == ExactText(record.publishKey) else { throw .invalidKey }
    }

    /// The caller for changes of a message. If the token does not permit managing the channel, the caller is a user,
    /// who may not change the messages of others. Any other caller may change all messages.
    func caller(of request: WireRequest, in channel: String) -> Caller {
        guard let token = request.token, !token.allows(.manage, .channel, channel) else { return caller }
        return Caller(app: app, credential: record.subscribeKey, scopes: [.emit, .read])
    }
}

extension PubNubAPI {
    /// The app of a request.
    ///
    /// - Parameter index: the index of the path segment with the subscribe key.
    /// - Throws: `WireError.invalidSubscribeKey` for an absent or unknown key.
    func keyset(of request: WireRequest, at index: Int) throws(WireError) -> Keyset {
        if let app = request.app, app.keyAt == index { return app.keyset }
        guard let keyset = request.segment(index).flatMap({ service.keyring.keyset(subscribeKey: $0) }) else {
            throw .invalidSubscribeKey
        }
        return keyset
    }

    func chat(_ keyset: Keyset, for request: WireRequest) -> ChatAccess {
        var chat = service.chat(for: keyset.caller, cause: request.request.id)
        // The action that deleted a message is shown with the message, because PubNub clients recognize a deleted
        // message by this action.
        chat.showsDeletedTexts = true
        return chat
    }
}
