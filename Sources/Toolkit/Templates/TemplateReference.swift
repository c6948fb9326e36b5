import JSON

/// A place of the context that a template takes a value from: `body/user/id`, `header/X-Event`, `source`.
public struct TemplateReference: Sendable, CustomStringConvertible {
    enum Target: Sendable {
        case document(root: String, JSONPointer)
        case text(root: String, name: String)
        /// An element of the repetition at this depth.
        case element(depth: Int, JSONPointer)
    }

    let target: Target
    /// As its author wrote it.
    public let description: String

    /// Nil for what refers to nothing.
    init?(_ text: some StringProtocol, roots: [ReferenceRoot], variables: [String]) {
        let slash = text.firstIndex(of: "/")
        let name = text[..<(slash ?? text.endIndex)]
        let rest = slash.map { text[$0...] } ?? text[text.endIndex...]
        if let depth = variables.lastIndex(where: { $0 == name }) {
            guard let pointer = JSONPointer(rest) else { return nil }
            target = .element(depth: depth, pointer)
        } else if let root = roots.first(where: { $0.name == name }) {
            switch root.form {
            case .document:
                guard let pointer = JSONPointer(rest) else { return nil }
                target = .document(root: root.name, pointer)
            case .table:
                guard rest.utf8.count > 1 else { return nil }
                target = .text(root: root.name, name: String(rest.dropFirst()))
            case .text:
                guard slash == nil else { return nil }
                target = .text(root: root.name, name: "")
            }
        } else {
            return nil
        }
        description = String(text)
    }

    /// The root it reads from; nil for an element of a repetition.
    var root: String? {
        switch target {
        case .document(let root, _), .text(let root, _): root
        case .element: nil
        }
    }
}
