public import ChatModel
import JSON

/// Which records somebody wants listed, and how.
public struct RecordList: Sendable {
    /// 1 to `Limits.pageMost`.
    public var limit: Int
    /// From `Page.cursor` of the page before.
    public var cursor: String?
    /// Nil: the list's own.
    public var order: ListOrder?
    /// Only what was made after this moment; exclusive, as is `before`.
    public var after: Timetoken?
    public var before: Timetoken?
    /// A condition over the records' members in the language of ``Filter``: `name LIKE 'An*' && custom.floor > 3`.
    public var filter: String?
    /// Members in the order they count, each with `:asc` or `:desc` where it does not follow `order`; without any, by id.
    public var sort: [String] = []
    /// Whether all that match are counted. Among more than ``RecordList/examinedMost`` records those that a filter or a time
    /// leaves are not.
    public var wantsTotal = false
    /// What the fields are called in `filter` and `sort` by a client of PubNub's wire, which filters in that wire's language; nil
    /// for the native words.
    public var fields: RecordFields?
    /// How many are left out before the first, for clients that count their pages; without a cursor.
    public var offset: Int?

    public init(limit: Int, cursor: String? = nil) {
        self.limit = limit
        self.cursor = cursor
    }
}

/// What may stand in filters and sorts of one kind of record.
public struct RecordFields: Sendable {
    /// A field that is compared as it is.
    struct Field: Sendable {
        let word: String
        /// As `RecordFilter` spells it.
        let stored: String
    }

    /// A field that counts as a fixed text while a condition holds, whatever is stored.
    public struct Override: Sendable {
        let stored: String
        let condition: RecordFilter
        let text: String

        /// - Parameter stored: the field, as `RecordFilter` spells it.
        public init(_ stored: String, while condition: RecordFilter, is text: String) {
            self.stored = stored
            self.condition = condition
            self.text = text
        }
    }

    let names: [Field]
    /// Fields whose members are compared: `custom.floor`.
    let objects: [Field]
    /// What names the id, which the store keeps beside the body.
    let id: String
    /// What names the time of the last change, which is kept there too.
    let updated: String
    /// Members that are shown, and that nothing is sorted by.
    let others: [String]
    /// Applies to filters; orders use the stored value.
    var override: Override?

    /// - Parameters:
    ///   - names: a word for each field, and how `RecordFilter` spells it.
    ///   - objects: the same for fields whose members are compared.
    ///   - id: the word for the id in orders.
    ///   - override: a field whose stored value filters do not always use.
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

    /// The same fields, of those that `isVisible` says.
    init(_ all: RecordFields, where isVisible: (Field) -> Bool) {
        names = all.names.filter(isVisible)
        objects = all.objects.filter(isVisible)
        id = all.id
        updated = all.updated
        others = all.others
    }

    /// Words that are the store's own, and what the REST API shows beside.
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

    /// How the store spells a field, or a member of one that is an object; nil for a word nobody knows.
    func stored(_ word: String) -> String? {
        if let field = names.first(where: { $0.word == word }) { return field.stored }
        let object = objects.first { word.hasPrefix($0.word + ".") }
        return object.map { $0.stored + word.dropFirst($0.word.count) }
    }

    var words: [String] { names.map(\.word) }

    /// The condition that a field compares so, with the override applied.
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
    /// Whether the fixed text compares so with a value.
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
    /// Looks whether the filter and the order of a list in `fields` of its own can be read, for who writes something first.
    ///
    /// - Throws: `.malformed`, slug `bad_filter` or `bad_sort`.
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

    /// Narrows it further.
    mutating func demand(_ condition: RecordFilter) {
        filter = filter.map { .and([$0, condition]) } ?? condition
    }
}

extension RecordFields {
    /// `name`, `name:asc` or `name:desc`.
    fileprivate func sortKey(
        _ text: String, _ order: ListOrder
    ) throws(ChatError) -> (key: RecordQuery.SortKey, ascending: Bool) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2, let order = parts.count == 2 ? ListOrder(rawValue: parts[1]) : order else {
            throw ChatError(
                .malformed, "sort '\(text.prefix(64))' is not understood; write 'name', 'name:asc' or 'name:desc'",
                slug: "bad_sort")
        }
        switch parts[0] {
        case id: return (.id, order == .ascending)
        case updated: return (.updated, order == .ascending)
        case let name where names.contains { $0.word == name }:
            return (.field(stored(name) ?? name), order == .ascending)
        default:
            let known = ([id] + words + [updated]).joined(separator: ", ")
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

/// What differs between two printings of one record, field by field, as `changes` of an event shows it.
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

    /// Compares members by their names; a value of null is none.
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
