import JSON

/// A JSON value that can be taken apart and put together wrongly.
indirect enum Tree {
    /// A number or a word, as text.
    case plain(String)
    case string(String)
    case array([Tree])
    case object([Member])

    struct Member {
        var name: String
        var value: Tree
    }

    init(_ value: JSONValue) {
        if let members = value.members {
            self = .object(members.map { Member(name: $0.name, value: Tree($0.value)) })
        } else if let elements = value.elements {
            self = .array(elements.map(Tree.init))
        } else if let string = value.string {
            self = .string(string)
        } else if let integer = value.integer {
            self = .plain("\(integer)")
        } else if let double = value.double {
            self = .plain("\(double)")
        } else {
            self = .plain(value.boolean.map { $0 ? "true" : "false" } ?? "null")
        }
    }

    /// Nil when the bytes do not parse.
    init?(_ bytes: [UInt8]) {
        guard let document = try? JSONDocument(JSONText(trusted: bytes)) else { return nil }
        self.init(document.root)
    }

    var bytes: [UInt8] { JSONText { print(into: &$0) }.bytes }

    private func print(into writer: inout JSONWriter) {
        switch self {
        case .plain(let text): writer.raw(JSONText(trusted: Array(text.utf8)))
        case .string(let text): writer.string(text)
        case .array(let elements):
            writer.beginArray()
            for element in elements { element.print(into: &writer) }
            writer.endArray()
        case .object(let members):
            writer.beginObject()
            for member in members {
                writer.key(text: member.name)
                member.value.print(into: &writer)
            }
            writer.endObject()
        }
    }

    /// Values in this one, itself among them.
    var count: Int {
        switch self {
        case .plain, .string: 1
        case .array(let elements): elements.reduce(1) { $0 + $1.count }
        case .object(let members): members.reduce(1) { $0 + $1.value.count }
        }
    }

    /// The value with that number, counted from the root and depth first.
    func at(_ number: Int) -> Tree {
        var number = number
        var found = self
        visit(&number) { found = $0 }
        return found
    }

    mutating func change(_ number: Int, _ body: (inout Tree) -> Void) {
        var number = number
        visit(&number, body)
    }

    private func visit(_ number: inout Int, _ body: (Tree) -> Void) {
        var copy = self
        copy.visit(&number) { (tree: inout Tree) in body(tree) }
    }

    /// `number` is how many values still come before; below zero once the value has been met.
    private mutating func visit(_ number: inout Int, _ body: (inout Tree) -> Void) {
        number -= 1
        if number < 0 { return body(&self) }
        switch self {
        case .plain, .string: return
        case .array(var elements):
            for at in elements.indices where number >= 0 { elements[at].visit(&number, body) }
            self = .array(elements)
        case .object(var members):
            for at in members.indices where number >= 0 { members[at].value.visit(&number, body) }
            self = .object(members)
        }
    }
}
