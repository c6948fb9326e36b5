import ChatCore
import ChatModel
import JSON
import Signing

/// The selection of one page from a list of objects, as a request contains it. A cursor is an offset: decimal text,
/// encoded as base64url.
struct ObjectPage: Sendable {
    private static let most = 100

    private let offset: Int
    private let limit: Int
    private let wantsTotal: Bool
    private let filter: String?
    private let sort: [String]

    /// Parses the parameters of a page.
    ///
    /// - Throws: `WireError.invalidInput` for a limit that is not a number of at least 0, or for an invalid cursor.
    init(_ request: WireRequest) throws(WireError) {
        guard let asked = Int(request["limit"] ?? "100"), asked >= 0 else {
            throw .invalidInput([.init(message: "Limit must be a number.", location: "limit", kind: "query")])
        }
        let start = try Self.place(request, "start")
        let end = try Self.place(request, "end")
        let limit = min(asked, Self.most)
        if start == nil, let end {
            offset = max(0, end - limit)
            self.limit = min(limit, end)
        } else {
            offset = start ?? 0
            self.limit = limit
        }
        wantsTotal = request.flag("count")
        filter = request["filter"]
        sort = request["sort"]?.split(separator: ",").map { $0.trimmed } ?? []
    }

    func list(_ fields: RecordFields) -> RecordList {
        var list = RecordList(limit: limit)
        list.offset = offset
        list.filter = filter.map(Self.readable)
        list.sort = sort
        list.wantsTotal = wantsTotal
        list.fields = fields
        return list
    }

    /// Prints the members `data`, `totalCount`, `next` and `prev`. Every page that is not empty has a `next` cursor.
    func print<Item>(_ page: Page<Item>, to writer: inout JSONWriter, _ print: (Item, inout JSONWriter) -> Void) {
        writer.key("data")
        writer.beginArray()
        for item in page.items { print(item, &writer) }
        writer.endArray()
        if wantsTotal { writer.member("totalCount", page.total ?? page.items.count) }
        if !page.items.isEmpty { writer.member("next", Self.cursor(offset + page.items.count)) }
        if offset > 0 { writer.member("prev", Self.cursor(offset)) }
    }

    private static func cursor(_ place: Int) -> String { Base64.encodeURL(Array(String(place).utf8)) }

    private static func place(_ request: WireRequest, _ name: String) throws(WireError) -> Int? {
        guard let text = request[name] else { return nil }
        guard let bytes = Base64.decodeURL(text.replacing("=", with: "")), (1...9).contains(bytes.count),
            let place = Int(String(decoding: bytes, as: UTF8.self)), place >= 0
        else {
            throw .invalidInput([.init(message: "Invalid cursor.", location: name, kind: "query")])
        }
        return place
    }

    /// Replaces the timestamps that a filter compares with `updated` by numbers, because the store represents times as
    /// numbers.
    private static func readable(_ filter: String) -> String {
        var output = filter
        for match in filter.matches(of: /(updated\s*(?:==|!=|<=|>=|<|>)\s*)['"]([^'"]+)['"]/).reversed() {
            guard let moment = Timestamp.read(String(match.output.2)) else { continue }
            output.replaceSubrange(match.range, with: "\(match.output.1)\(moment)")
        }
        return output
    }
}

extension Substring {
    fileprivate var trimmed: String { String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
}

extension RecordFields {
    /// The fields of users by their PubNub names.
    static let wireUsers = RecordFields(
        names: [
            "id": "@id", "name": "name", "externalId": "external_id", "profileUrl": "profile_url", "email": "email",
            "status": "status", "type": "type", "updated": "@updated",
        ], objects: ["custom": "custom"], id: "id")
    static let wireChannels = RecordFields(
        names: [
            "id": "@id", "name": "name", "description": "description", "status": "status", "type": "type",
            "updated": "@updated",
        ], objects: ["custom": "custom"], id: "id")
    /// The fields of memberships in the list of a user's channels, by their PubNub names.
    static let wireMemberships = RecordFields(
        names: [
            "channel.id": "channel", "channel.name": "channel:name", "channel.description": "channel:description",
            "channel.status": "channel:status", "channel.type": "channel:type", "channel.updated": "channel:@updated",
            "status": "status", "type": "type", "updated": "@updated",
            "custom.\(WireMembership.readMark)": "read_timetoken",
        ], objects: ["custom": "custom", "channel.custom": "channel:custom"], id: "channel.id", override: pending)
    /// The fields of memberships in the list of a channel's members, by their PubNub names.
    static let wireMembers = RecordFields(
        names: [
            "uuid.id": "user", "uuid.name": "user:name", "uuid.externalId": "user:external_id",
            "uuid.profileUrl": "user:profile_url", "uuid.email": "user:email", "uuid.status": "user:status",
            "uuid.type": "user:type", "uuid.updated": "user:@updated", "status": "status", "type": "type",
            "updated": "@updated", "custom.\(WireMembership.readMark)": "read_timetoken",
        ], objects: ["custom": "custom", "uuid.custom": "user:custom"], id: "uuid.id", override: pending)
    private static let pending = Override(
        "status", while: .compare(field: "state", .equal, .string(MemberState.invited.rawValue)),
        is: WireMembership.pending)
}
