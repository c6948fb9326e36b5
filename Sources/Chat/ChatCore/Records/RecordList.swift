import ChatModel

/// Which records somebody wants listed, and how.
public struct RecordList: Sendable {
    public var limit: Int
    /// From `Page.cursor` of the page before.
    public var cursor: String?
    /// A condition over the records' fields: `name LIKE 'An*' && custom.floor > 3`.
    public var filter: String?
    /// Fields in the order they count, each with `:asc` or `:desc`; without any, by id.
    public var sort: [String] = []
    public var wantsTotal = false

    public init(limit: Int) { self.limit = limit }
}

/// What may stand in filters and sorts of one kind of record.
struct RecordFields: Sendable {
    /// Fields that are compared as they are.
    let names: [String]
    /// Fields whose members are: `custom.floor`.
    let objects: [String]
    /// What is called otherwise in the store, or kept beside the body there.
    let id: String

    static let users = RecordFields(
        names: [
            "name", "profile_url", "email", "external_id", "type", "status", "auto_accepts_invites",
            "created_timetoken",
        ], objects: ["custom", "metadata"], id: "id")
    static let channels = RecordFields(
        names: [
            "kind", "name", "description", "custom_type", "cover_url", "type", "status", "frozen", "created_by",
            "created_timetoken",
        ], objects: ["custom", "data"], id: "id")
    static let memberships = RecordFields(
        names: [
            "user", "channel", "state", "role", "inviter", "type", "status", "joined_timetoken", "invited_timetoken",
        ], objects: ["custom"], id: "id")
}

extension RecordQuery {
    /// - Throws: `.malformed`, slug `bad_filter` or `bad_sort`.
    init(
        _ kind: RecordKind, _ list: RecordList, _ fields: RecordFields, in space: SpaceID, limits: Limits
    ) throws(ChatError) {
        self.init(kind, in: space, limit: list.limit)
        cursor = list.cursor
        wantsTotal = list.wantsTotal
        if let text = list.filter { filter = try RecordFilter(text, fields, limits: limits) }
        if !list.sort.isEmpty {
            var sort: [(key: SortKey, ascending: Bool)] = []
            for text in list.sort { sort.append(try fields.sortKey(text)) }
            self.sort = sort
        }
    }

    /// Narrows it further.
    mutating func demand(_ condition: RecordFilter) {
        filter = filter.map { .and([$0, condition]) } ?? condition
    }
}

extension RecordFields {
    /// `name`, `name:asc` or `name:desc`; `updated` is the time of the last change.
    fileprivate func sortKey(_ text: String) throws(ChatError) -> (key: RecordQuery.SortKey, ascending: Bool) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let direction = parts.count == 2 ? parts[1] : "asc"
        guard parts.count <= 2, ["asc", "desc"].contains(direction) else {
            throw ChatError(
                .malformed, "sort '\(text.prefix(64))' is not understood; write 'name', 'name:asc' or 'name:desc'",
                slug: "bad_sort")
        }
        switch parts[0] {
        case id: return (.id, direction == "asc")
        case "updated": return (.updated, direction == "asc")
        case let name where names.contains(name): return (.field(name), direction == "asc")
        default:
            let known = ([id, "updated"] + names).joined(separator: ", ")
            throw ChatError(
                .malformed, "nothing is sorted by '\(parts[0].prefix(64))'; known: \(known)", slug: "bad_sort")
        }
    }
}

extension Page {
    /// The page with its items made into something else; those that cannot be are left out.
    func mapped<Other>(_ transform: (Item) -> Other?) -> Page<Other> {
        Page<Other>(
            items: items.compactMap(transform), hasMore: hasMore, position: position, cursor: cursor, total: total)
    }
}
