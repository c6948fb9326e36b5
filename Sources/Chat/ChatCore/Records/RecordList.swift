public import ChatModel
import JSON

/// The options of a list of records.
public struct RecordList: Sendable {
    /// The page size, 1 to `Limits.pageMost`.
    public var limit: Int
    /// `Page.cursor` of the page before.
    public var cursor: String?
    /// The direction; nil for the list's default.
    public var order: ListOrder?
    /// The lower bound for the time of creation, exclusive; nil: no bound.
    public var after: Timetoken?
    /// The upper bound for the time of creation, exclusive; nil: no bound.
    public var before: Timetoken?
    /// A condition over the records' members in the language of ``Filter``: `name LIKE 'An*' && custom.floor > 3`.
    public var filter: String?
    /// The members to sort by, in order of precedence, each with `:asc` or `:desc` when it does not follow `order`;
    /// empty sorts by id.
    public var sort: [String] = []
    /// True when all matches are counted. With a filter or a time, matches among more than ``RecordList/examinedMost``
    /// records are not counted.
    public var wantsTotal = false
    /// The names of the fields in `filter` and `sort` for a client of PubNub's wire, which also uses that wire's filter
    /// language; nil for the native names.
    public var fields: RecordFields?
    /// The number of records to skip, for clients that number their pages; not with a cursor.
    public var offset: Int?

    /// A list with the default order, without conditions.
    public init(limit: Int, cursor: String? = nil) {
        self.limit = limit
        self.cursor = cursor
    }
}

/// The names that filters and sort orders of one record kind may use.
public struct RecordFields: Sendable {
    /// A field that is compared as a whole.
    struct Field: Sendable {
        let word: String
        /// The field's name in `RecordFilter`.
        let stored: String
    }

    /// A field that counts as a fixed text while a condition holds, regardless of the stored value.
    public struct Override: Sendable {
        let stored: String
        let condition: RecordFilter
        let text: String

        /// - Parameter stored: the field's name in `RecordFilter`.
        public init(_ stored: String, while condition: RecordFilter, is text: String) {
            self.stored = stored
            self.condition = condition
            self.text = text
        }
    }

    let names: [Field]
    /// Fields whose members are compared: `custom.floor`.
    let objects: [Field]
    /// The name for the id, which the store keeps beside the body.
    let id: String
    /// The name for the time of the last change, which the store also keeps beside the body.
    let updated: String
    /// Members that are shown but cannot be sorted by.
    let others: [String]
    /// The override of a field. It applies to filters; orders use the stored value.
    var override: Override?

    /// - Parameters:
    ///   - names: each field's name, and its name in `RecordFilter`.
    ///   - objects: the same for fields whose members are compared.
    ///   - id: the name for the id in orders.
    ///   - override: a field for which filters do not always use the stored value.
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
    }

    /// The fields for which `isVisible` is true.
    init(_ all: RecordFields, where isVisible: (Field) -> Bool) {
        names = all.names.filter(isVisible)
        objects = all.objects.filter(isVisible)
        id = all.id
        updated = all.updated
        others = all.others
    }

    /// Fields with the same names as in the store, and further members that the REST API shows.
    private init(names: [String], created: String? = nil, objects: [String] = [], others: [String] = []) {
        self.names =
            names.map { Field(word: $0, stored: $0) }
            + (created.map { [Field(word: "created_at", stored: $0)] } ?? [])
        self.objects = objects.map { Field(word: $0, stored: $0) }
        self.others = others
        id = "id"
        updated = "updated_at"
    }

    /// The members of a shown record that filters can name.
    var members: RecordMembers {
        RecordMembers(names: [id] + words + others + [updated], objects: objects.map(\.word))
    }

    /// The stored name of a field, or of a member of a field that is an object; nil for an unknown name.
    func stored(_ word: String) -> String? {
        if let field = names.first(where: { $0.word == word }) { return field.stored }
        let object = objects.first { word.hasPrefix($0.word + ".") }
        return object.map { $0.stored + word.dropFirst($0.word.count) }
    }

    var words: [String] { names.map(\.word) }

    /// The condition that compares a field, with the override applied.
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
    static let memberships = RecordFields(
        names: [
            "user", "channel", "state", "role", "inviter", "type", "status", "joined_timetoken", "invited_timetoken",
            "read_timetoken", "delivered_timetoken",
        ], objects: ["custom", "hidden"], others: ["created_at"])
    static let restrictions = RecordFields(
        names: ["user", "channel", "ban", "mute", "reason", "moderator", "since_timetoken", "until_timetoken"],
        created: "since_timetoken", others: ["until"])
}

extension RecordFields.Override {
    /// True when the comparison of the fixed text with a value holds.
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
    /// Checks the filter and the order of a list that has its own `fields`, before an operation that first writes.
    ///
    /// - Throws: `.malformed`, slug `bad_filter` or `bad_sort`, for a filter or an order that cannot be read.
    public func check(_ list: RecordList) throws(ChatError) {
        guard let fields = list.fields else { return }
        if let text = list.filter { _ = try RecordFilter(text, fields, limits: limits) }
        for text in list.sort { _ = try fields.sortKey(text, .ascending) }
    }
}

extension RecordQuery {
    /// - Throws: `.malformed`, slug `bad_filter` or `bad_sort`.
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

    /// Adds a condition to the filter.
    mutating func add(_ condition: RecordFilter) {
        filter = filter.map { .and([$0, condition]) } ?? condition
    }
}

extension RecordFields {
    /// A sort key from `name`, `name:asc` or `name:desc`.
    fileprivate func sortKey(
        _ text: String, _ order: ListOrder
    ) throws(ChatError) -> (key: RecordQuery.SortKey, ascending: Bool) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2, let order = parts.count == 2 ? ListOrder(rawValue: parts[1]) : order else {
            throw ChatError(
                .malformed, "sort '\(text.prefix(64))' is not understood; write 'name', 'name:asc' or 'name:desc'",
                slug: "bad_sort", field: "sort")
        }
        switch parts[0] {
        case id: return (.id, order == .ascending)
        case updated: return (.updated, order == .ascending)
        case let name where names.contains { $0.word == name }:
            return (.field(stored(name) ?? name), order == .ascending)
        default:
            let known = ([id] + words + [updated]).joined(separator: ", ")
            throw ChatError(
                .malformed, "the list cannot be sorted by '\(parts[0].prefix(64))'; known: \(known)", slug: "bad_sort",
                field: "sort")
        }
    }
}

extension Page {
    /// The page with transformed items; items that become nil are left out.
    func mapped<Other>(_ transform: (Item) -> Other?) -> Page<Other> {
        Page<Other>(
            items: items.compactMap(transform), hasMore: hasMore, position: position, cursor: cursor, total: total)
    }
}

/// The differences between two printed forms of a record, member by member, for `changes` of an event.
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

    /// Compares members by their names; a null value counts as absent.
    init(from old: [(name: String, value: JSONText)], to new: [(name: String, value: JSONText)]) {
        let (before, after) = (old.filter { $0.value != .null }, new.filter { $0.value != .null })
        let names = before.map(\.name) + after.map(\.name).filter { name in !before.contains { $0.name == name } }
        fields = names.compactMap { name in
            let old = before.first { $0.name == name }?.value
            let new = after.first { $0.name == name }?.value
            return old == new ? nil : Field(name: name, old: old, new: new)
        }
    }

    /// Prints the member `changes`; a side without a value is left out.
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
