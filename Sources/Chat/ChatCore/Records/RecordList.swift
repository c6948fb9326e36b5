public import ChatModel
import JSON

/// The options of a request for one page of a list of records.
public struct RecordList: Sendable {
    /// The maximum number of records in the page: 1 to `Limits.pageMost`.
    public var limit: Int
    /// The `Page.cursor` of the previous page; nil for the first page.
    public var cursor: String?
    /// The sort direction; nil for the default direction of the list.
    public var order: ListOrder?
    /// The exclusive lower bound for the creation time; nil for no bound.
    public var after: Timetoken?
    /// The exclusive upper bound for the creation time; nil for no bound.
    public var before: Timetoken?
    /// A condition on the members of the records, in the language of ``Filter``, such as `name LIKE 'An*' &&
    /// custom.floor > 3`; nil for all records.
    public var filter: String?
    /// The members to sort by, the most significant first. A member may end with `:asc` or `:desc` to override `order`.
    /// An empty list sorts by id.
    public var sort: [String] = []
    /// True to return the total number of selected records. With a filter or a time bound, the total is nil when it
    /// would require examining more than ``RecordList/examinedMost`` records.
    public var wantsTotal = false
    /// The field names of the PubNub-compatible API. When they are set, the filter is in PubNub's filter language. Nil
    /// for the field names and the filter language of the native API.
    public var fields: RecordFields?
    /// The number of records to skip, for clients that number their pages; nil for none. Do not combine it with a
    /// cursor.
    public var offset: Int?

    /// Creates a request with the default order and without conditions.
    public init(limit: Int, cursor: String? = nil) {
        self.limit = limit
        self.cursor = cursor
    }
}

/// The names that filters and sort orders of one record kind may use.
public struct RecordFields: Sendable {
    /// The names of one field: for clients (`word`) and in the store (`stored`).
    struct Field: Sendable {
        let word: String
        /// The field's name in `RecordFilter`.
        let stored: String
    }

    /// A field for which filters see a fixed text instead of the stored value, in records that meet a condition.
    public struct Override: Sendable {
        let stored: String
        let condition: RecordFilter
        let text: String

        /// Creates a replacement of a field's stored value by a fixed text. Only filters use the fixed text.
        ///
        /// - Parameters:
        ///   - stored: the field's name in `RecordFilter`.
        ///   - condition: the records for which the text replaces the stored value.
        ///   - text: the fixed text.
        public init(_ stored: String, while condition: RecordFilter, is text: String) {
            self.stored = stored
            self.condition = condition
            self.text = text
        }
    }

    let names: [Field]
    /// The fields that are objects. Filters compare their members, such as `custom.floor`.
    let objects: [Field]
    /// The name that clients use for the record's id, which is stored outside the body of the record.
    let id: String
    /// The name that clients use for the time of the record's last change, which is stored outside the body of the
    /// record.
    let updated: String
    /// The members that readers see but that cannot be used to sort.
    let others: [String]
    /// The fields of a membership's user or channel, such as `user.name`. These fields can only be used to sort.
    let ends: [Field]
    /// The override of a field; nil for none. The override applies to filters; sorting uses the stored value.
    var override: Override?

    /// Creates the fields of a list.
    ///
    /// - Parameters:
    ///   - names: the fields that are not objects: the name that clients use, and the field's name in `RecordFilter`.
    ///   - objects: the fields that are objects: the name that clients use, and the field's name in `RecordFilter`.
    ///   - id: the name by which clients sort by the record's id.
    ///   - override: replaces the stored value of one field by a fixed text in filters, for the records that meet a
    ///     condition; nil for no replacement.
    public init(
        names: KeyValuePairs<String, String>, objects: KeyValuePairs<String, String>, id: String,
        override: Override? = nil
    ) {
        self.override = override
        self.names = names.map { Field(word: $0.key, stored: $0.value) }
        self.objects = objects.map { Field(word: $0.key, stored: $0.value) }
        self.id = id
        updated = "updated"
        others = []
        ends = []
    }

    /// Creates a copy with only the fields for which `isVisible` returns true.
    init(_ all: RecordFields, where isVisible: (Field) -> Bool) {
        names = all.names.filter(isVisible)
        objects = all.objects.filter(isVisible)
        id = all.id
        updated = all.updated
        others = all.others
        ends = all.ends.filter(isVisible)
    }

    /// Creates the fields of the REST API. The fields in `names` and `objects` have the same names in the store.
    ///
    /// - Parameter end: `user` or `channel` to sort memberships also by fields of that user or channel; nil for records
    ///   without these fields.
    private init(
        names: [String], created: String? = nil, objects: [String] = [], others: [String] = [], end: String? = nil
    ) {
        self.names =
            names.map { Field(word: $0, stored: $0) }
            + (created.map { [Field(word: "created_at", stored: $0)] } ?? [])
        self.objects = objects.map { Field(word: $0, stored: $0) }
        self.others = others
        ends =
            end.map { end in
                [("name", "name"), ("type", "type"), ("status", "status"), ("updated_at", "@updated")].map {
                    Field(word: "\(end).\($0)", stored: "\(end):\($1)")
                }
            } ?? []
        id = "id"
        updated = "updated_at"
    }

    /// The members that a filter may use, in the form of the REST API.
    var members: RecordMembers {
        RecordMembers(names: [id] + words + others + [updated], objects: objects.map(\.word))
    }

    /// Returns the name in the store of a field, or of a member of an object field; nil for an unknown name.
    func stored(_ word: String) -> String? {
        if let field = names.first(where: { $0.word == word }) { return field.stored }
        let object = objects.first { word.hasPrefix($0.word + ".") }
        return object.map { $0.stored + word.dropFirst($0.word.count) }
    }

    var words: [String] { names.map(\.word) }

    /// Returns the condition that compares a field with a value, and takes the override of the field into account.
    func compare(_ stored: String, _ comparison: RecordFilter.Comparison, _ value: RecordFilter.Value) -> RecordFilter {
        let comparing = RecordFilter.compare(field: stored, comparison, value)
        guard let override, override.stored == stored else { return comparing }
        let rest = RecordFilter.and([.not(override.condition), comparing])
        return override.holds(comparison, value) ? .or([override.condition, rest]) : rest
    }

    static let users = RecordFields(
        names: [
            "name", "profile_url", "email", "external_id", "type", "status", "auto_accepts_invites",
            "created_timetoken",
        ], created: "created_timetoken", objects: ["custom", "metadata"])
    static let channels = RecordFields(
        names: [
            "kind", "name", "description", "custom_type", "cover_url", "type", "status", "frozen", "distinct",
            "created_by", "created_timetoken",
        ], created: "created_timetoken", objects: ["custom", "data"],
        others: ["operators", "pinned_timetoken", "member_count", "joined_member_count"])
    /// The fields of a user's memberships. The memberships can also be sorted by fields of their channels.
    static let memberships = memberships(end: "channel")
    /// The fields of a channel's members. The members can also be sorted by fields of their users.
    static let members = memberships(end: "user")

    private static func memberships(end: String) -> RecordFields {
        RecordFields(
            names: [
                "user", "channel", "state", "role", "inviter", "type", "status", "joined_timetoken",
                "invited_timetoken", "read_timetoken", "delivered_timetoken",
            ], objects: ["custom", "hidden"], others: ["created_at"], end: end)
    }

    static let restrictions = RecordFields(
        names: ["user", "channel", "ban", "mute", "reason", "moderator", "since_timetoken", "until_timetoken"],
        created: "since_timetoken", others: ["until"])
}

extension RecordFields.Override {
    /// Returns true when the fixed text of this override satisfies the comparison with a value.
    fileprivate func holds(_ comparison: RecordFilter.Comparison, _ value: RecordFilter.Value) -> Bool {
        guard case .string(let other) = value else { return comparison == .notEqual }
        return switch comparison {
        case .equal: ExactText(text) == ExactText(other)
        case .notEqual: ExactText(text) != ExactText(other)
        case .less: ExactText(text) < ExactText(other)
        case .lessOrEqual: ExactText(text) <= ExactText(other)
        case .greater: ExactText(text) > ExactText(other)
        case .greaterOrEqual: ExactText(text) >= ExactText(other)
        case .like: WildcardPattern(text: other).matches(text)
        }
    }
}

extension ChatAccess {
    /// Checks the filter and the sort order of a list against the `fields` of the list. Does nothing when `fields` is
    /// nil. Used by operations that write before they list.
    ///
    /// - Throws: `.malformed` with the slug `bad_filter` or `bad_sort` for an invalid filter or sort order.
    public func check(_ list: RecordList) throws(ChatError) {
        guard let fields = list.fields else { return }
        if let text = list.filter { _ = try RecordFilter(text, fields, limits: limits) }
        for text in list.sort { _ = try fields.sortKey(text, .ascending) }
    }
}

extension RecordQuery {
    /// Creates the query of a list.
    ///
    /// - Throws: `.malformed` with the slug `bad_filter` or `bad_sort` for an invalid filter or sort order.
    init(
        _ kind: RecordKind, _ list: RecordList, _ fields: RecordFields, in app: AppID, limits: Limits
    ) throws(ChatError) {
        self.init(kind, in: app, limit: list.limit)
        offset = list.offset
        if let fields = list.fields, let text = list.filter {
            filter = try RecordFilter(text, fields, limits: limits)
        }
        guard !list.sort.isEmpty else { return }
        let fields = list.fields ?? fields
        var sort: [(key: SortKey, ascending: Bool)] = []
        for text in list.sort { sort.append(try fields.sortKey(text, list.order ?? .ascending)) }
        self.sort = sort
    }

    /// Adds a condition that the selected records must also meet.
    mutating func add(_ condition: RecordFilter) {
        filter = filter.map { .and([$0, condition]) } ?? condition
    }
}

extension RecordFields {
    /// Parses a sort key: `name`, `name:asc` or `name:desc`.
    fileprivate func sortKey(
        _ text: String, _ order: ListOrder
    ) throws(ChatError) -> (key: RecordQuery.SortKey, ascending: Bool) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2, let order = parts.count == 2 ? ListOrder(rawValue: parts[1]) : order else {
            throw ChatError(
                .malformed,
                "'\(text.prefix(64))' is not a sort order; send a member, optionally with a direction: 'name', 'name:asc' or 'name:desc'",
                slug: "bad_sort", field: "sort")
        }
        switch parts[0] {
        case id: return (.id, order == .ascending)
        case updated: return (.updated, order == .ascending)
        case let name:
            if let field = (names + ends).first(where: { $0.word == name }) {
                return (.field(field.stored), order == .ascending)
            }
            let known = ([id] + words + [updated] + ends.map(\.word)).joined(separator: ", ")
            throw ChatError(
                .malformed, "the list cannot be sorted by '\(parts[0].prefix(64))'; sort by one of \(known)",
                slug: "bad_sort",
                field: "sort")
        }
    }
}

extension Page {
    /// Returns the page with transformed items. An item for which `transform` returns nil is left out.
    func mapped<Other>(_ transform: (Item) -> Other?) -> Page<Other> {
        Page<Other>(
            items: items.compactMap(transform), hasMore: hasMore, position: position, cursor: cursor, total: total)
    }
}

/// The differences between two forms of a record, by member. Printed as the member `changes` of an event.
struct RecordDifference {
    private struct Field {
        let name: String
        let old: JSONText?
        let new: JSONText?
    }

    private let fields: [Field]

    var isEmpty: Bool { fields.isEmpty }

    init(from old: JSONText, to new: JSONText) {
        self.init(from: old.rawMembers() ?? [], to: new.rawMembers() ?? [])
    }

    /// Compares the members with the same name. A null value counts as absent.
    init(from old: [(name: String, value: JSONText)], to new: [(name: String, value: JSONText)]) {
        let (before, after) = (old.filter { $0.value != .null }, new.filter { $0.value != .null })
        let names = before.map(\.name) + after.map(\.name).filter { name in !before.contains { $0.name == name } }
        fields = names.compactMap { name in
            let old = before.first { $0.name == name }?.value
            let new = after.first { $0.name == name }?.value
            return old == new ? nil : Field(name: name, old: old, new: new)
        }
    }

    /// Prints the member `changes`. The old or new value of a member is left out when it is absent.
    func print(to writer: inout JSONWriter) {
        writer.key("changes")
        writer.beginArray()
        for field in fields {
            writer.beginObject()
            writer.member("key", field.name)
            if let old = field.old { writer.member("old", old) }
            if let new = field.new { writer.member("new", new) }
            writer.endObject()
        }
        writer.endArray()
    }
}
