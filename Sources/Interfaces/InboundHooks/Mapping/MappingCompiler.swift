import ChatModel
import JSON
import Templates

/// Compiles a mapping and collects all its errors.
struct MappingCompiler {
    static let mostEvents = 16
    private static let members = ["channel", "type", "user", "data", "meta", "store", "when", "each", "as"]

    private var templates = TemplateCompiler(roots: PostRoot.allCases.map(\.root))

    var rootsUsed: Set<String> { templates.rootsUsed }

    var faults: [ChatError.FieldError] {
        templates.faults.map { ChatError.FieldError(pointer: "#" + $0.pointer, keyword: $0.keyword, detail: $0.detail) }
    }

    /// Compiles the whole mapping. Returns nil after an error that makes further compilation impossible.
    mutating func mapping(_ text: JSONText) -> MappingNode? {
        guard templates.isReadable(text) else { return nil }
        return Self.node(&templates, text, "")
    }

    private static func node(_ templates: inout TemplateCompiler, _ text: JSONText, _ pointer: String) -> MappingNode? {
        if let elements = text.rawElements() {
            guard (1...mostEvents).contains(elements.count) else {
                templates.fault(pointer, "maxItems", "a mapping must list 1 to \(mostEvents) events")
                return nil
            }
            return .list(
                elements.enumerated().compactMap { index, element in
                    node(&templates, element, "\(pointer)/\(index)")
                })
        }
        guard let members = text.rawMembers() else {
            templates.fault(pointer, "type", "the mapping must be an object with channel, type and data")
            return nil
        }
        guard members.contains(where: { $0.name == "$switch" }) else { return event(&templates, members, pointer) }
        let choice = templates.choice(members, at: pointer) { templates, text, pointer in
            text == .null ? .nothing : node(&templates, text, pointer)
        }
        return choice.map { .choice($0, at: pointer) }
    }

    private static func event(
        _ templates: inout TemplateCompiler, _ members: [(name: String, value: JSONText)], _ pointer: String
    ) -> MappingNode? {
        for member in members where !Self.members.contains(member.name) {
            templates.fault(
                "\(pointer)/\(JSONPointer.escaped(member.name))", "additionalProperties",
                "the member '\(member.name.prefix(64))' is not known in a mapping; leave it out")
        }
        func value(_ name: String) -> JSONText? { members.first { $0.name == name }?.value }
        guard value("each") != nil || value("as") != nil else {
            let condition = value("when").flatMap { templates.condition($0, at: "\(pointer)/when") }
            return fields(&templates, value, pointer).map { .event($0(nil, condition)) }
        }
        let parts = templates.repetition(
            over: value("each"), as: value("as"), when: value("when"), at: pointer, member: "each"
        ) { fields(&$0, value, pointer) }
        return parts.map { .event($1($0, nil)) }
    }

    /// Compiles the members of an event, except the repetition (`each`) and the condition (`when`). Returns a function
    /// that creates the event's template from these members, a repetition and a condition. Returns nil when `channel`,
    /// `type` or `data` is missing or invalid.
    private static func fields(
        _ templates: inout TemplateCompiler, _ value: (String) -> JSONText?, _ pointer: String
    ) -> ((TemplateRepetition?, TemplateCondition?) -> EventTemplate)? {
        let channel = text(&templates, value("channel"), "channel", pointer)
        let type = text(&templates, value("type"), "type", pointer)
        checkConstant(&templates, channel, "\(pointer)/channel") { name throws(ChatError) in
            try Names.check(channel: name)
        }
        checkConstant(&templates, type, "\(pointer)/type") { name throws(ChatError) in
            try Names.check(customType: name)
        }
        for (name, found) in [("channel", value("channel")), ("type", value("type")), ("data", value("data"))]
        where found == nil {
            templates.fault(pointer, "required", "the member '\(name)' is required")
        }
        let user = text(&templates, value("user"), "user", pointer)
        let data = value("data").flatMap { templates.template($0, at: "\(pointer)/data") }
        let meta = value("meta").flatMap { templates.template($0, at: "\(pointer)/meta") }
        let store = value("store")?.description
        if let store, store != "true", store != "false" {
            templates.fault("\(pointer)/store", "type", "store must be true or false")
        }
        guard let channel, let type, let data else { return nil }
        return { repetition, condition in
            EventTemplate(
                pointer: pointer, repetition: repetition, condition: condition, channel: channel, type: type,
                user: user, data: data, meta: meta, isStored: store != "false")
        }
    }

    /// Compiles a member whose value must be a string: a string, or an instruction that returns a string.
    private static func text(
        _ templates: inout TemplateCompiler, _ value: JSONText?, _ name: String, _ pointer: String
    ) -> Template? {
        guard let value else { return nil }
        let first = value.bytes.first
        guard value.count > 2, first == UInt8(ascii: "\"") || first == UInt8(ascii: "{") else {
            templates.fault("\(pointer)/\(name)", "type", "\(name) must be a string")
            return nil
        }
        return templates.template(value, at: "\(pointer)/\(name)")
    }

    /// Checks the text of a member if the text contains no references and is therefore the same for every post.
    private static func checkConstant(
        _ templates: inout TemplateCompiler, _ template: Template?, _ pointer: String,
        _ check: (String) throws(ChatError) -> Void
    ) {
        guard let constant = template?.constantText else { return }
        do throws(ChatError) {
            try check(constant)
        } catch {
            templates.fault(pointer, "pattern", error.message)
        }
    }
}

/// A compiled mapping.
indirect enum MappingNode: Sendable {
    /// A branch that produces no event.
    case nothing
    case event(EventTemplate)
    case list([MappingNode])
    case choice(TemplateChoice<MappingNode>, at: String)
}

/// The template of an event. With a repetition, it produces an event for each element of an array.
struct EventTemplate: Sendable {
    let pointer: String
    let repetition: TemplateRepetition?
    /// The condition of a single event; nil for an event without a condition. A repetition has its own condition.
    let condition: TemplateCondition?
    let channel: Template
    let type: Template
    let user: Template?
    let data: Template
    let meta: Template?
    let isStored: Bool
}
