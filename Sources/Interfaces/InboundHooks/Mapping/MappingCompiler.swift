import ChatModel
import JSON

/// Compiles a mapping and gathers every mistake in it.
struct MappingCompiler {
    /// Each reference may read through the whole body once.
    static let mostReferences = 64
    static let mostEvents = 16
    static let limitBytes = 32 * 1024
    private static let members = ["channel", "type", "user", "data", "meta", "store"]

    private(set) var faults: [ChatError.Fault] = []
    private(set) var references = 0
    private(set) var needsBody = false

    /// One event's mapping; nil after a fault that leaves nothing to go on with.
    mutating func event(_ value: JSONValue, _ text: JSONText, at pointer: String) -> Mapping.EventTemplate? {
        guard let members = value.members else {
            fault(pointer, "type", "the mapping must be an object with channel, type and data")
            return nil
        }
        for member in members where !Self.members.contains(member.name) {
            fault("\(pointer)/\(member.name)", "additionalProperties", "unknown member \(member.name.prefix(64))")
        }
        let channel = self.text(value["channel"], "channel", pointer, isRequired: true)
        let type = self.text(value["type"], "type", pointer, isRequired: true)
        checkConstant(channel, "\(pointer)/channel") { name throws(ChatError) in try Names.check(channel: name) }
        checkConstant(type, "\(pointer)/type") { name throws(ChatError) in try Names.check(customType: name) }
        let user = self.text(value["user"], "user", pointer, isRequired: false)
        let data = text.rawMember("data").flatMap { self.value(value["data"], $0, "\(pointer)/data") }
        if value["data"] == nil { fault(pointer, "required", "missing member data") }
        let meta = text.rawMember("meta").flatMap { self.value(value["meta"], $0, "\(pointer)/meta") }
        var isStored = true
        if let store = value["store"] {
            if let flag = store.boolean {
                isStored = flag
            } else {
                fault("\(pointer)/store", "type", "store must be true or false")
            }
        }
        guard let channel, let type, let data else { return nil }
        return Mapping.EventTemplate(
            channel: channel, type: type, user: user, data: data, meta: meta, isStored: isStored)
    }

    private mutating func text(
        _ value: JSONValue?, _ name: String, _ pointer: String, isRequired: Bool
    ) -> TextTemplate? {
        guard let value else {
            if isRequired { fault(pointer, "required", "missing member \(name)") }
            return nil
        }
        guard let text = value.string, !text.isEmpty else {
            fault("\(pointer)/\(name)", "type", "\(name) must be a text")
            return nil
        }
        return template(text, "\(pointer)/\(name)")
    }

    private mutating func template(_ text: String, _ pointer: String) -> TextTemplate? {
        do throws(TextTemplate.Fault) {
            let template = try TextTemplate(text)
            for reference in template.references { count(reference, pointer) }
            return template
        } catch {
            fault(pointer, "template", error.detail)
            return nil
        }
    }

    private mutating func value(_ value: JSONValue?, _ text: JSONText, _ pointer: String) -> ValueTemplate? {
        guard let value else { return nil }
        switch value.kind {
        case .string: return value.string.flatMap { template($0, pointer) }.map { .text($0) }
        case .array:
            var elements: [ValueTemplate] = []
            for (index, element) in (text.rawElements() ?? []).enumerated() {
                if let item = self.value(value[index], element, "\(pointer)/\(index)") { elements.append(item) }
            }
            return .array(elements)
        case .object where value["$"] != nil: return reference(value, text, pointer)
        case .object:
            var members: [(name: String, value: ValueTemplate)] = []
            for member in text.rawMembers() ?? [] {
                guard let item = self.value(value[member.name], member.value, "\(pointer)/\(member.name)") else {
                    continue
                }
                members.append((member.name, item))
            }
            return .object(members)
        case .integer, .real, .boolean, .null: return .constant(text)
        }
    }

    private mutating func reference(_ value: JSONValue, _ text: JSONText, _ pointer: String) -> ValueTemplate? {
        guard let reference = value["$"]?.string.flatMap({ Reference($0) }) else {
            fault("\(pointer)/$", "reference", "'$' refers to nothing; there are body, \(Reference.forms)")
            return nil
        }
        for member in value.members ?? [] where member.name != "$" && member.name != "default" {
            fault("\(pointer)/\(member.name)", "additionalProperties", "beside '$' there may be only 'default'")
        }
        count(reference, pointer)
        return .reference(reference, fallback: text.rawMember("default"))
    }

    private mutating func count(_ reference: Reference, _ pointer: String) {
        references += 1
        if reference.needsBody { needsBody = true }
        if references == Self.mostReferences + 1 {
            fault(pointer, "maxItems", "a mapping may have at most \(Self.mostReferences) references")
        }
    }

    /// What has no references is known now, so it is checked now.
    private mutating func checkConstant(
        _ template: TextTemplate?, _ pointer: String, _ check: (String) throws(ChatError) -> Void
    ) {
        guard let constant = template?.constant else { return }
        do throws(ChatError) {
            try check(constant)
        } catch {
            fault(pointer, "pattern", error.message)
        }
    }

    mutating func fault(_ pointer: String, _ keyword: String, _ detail: String) {
        faults.append(ChatError.Fault(pointer: "#" + pointer, keyword: keyword, detail: detail))
    }
}
