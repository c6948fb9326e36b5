public import JSON

/// Compiles several templates, for instance the members of one mapping, and collects all errors in them.
///
/// If there are ``faults``, do not use any of the compiled templates.
public struct TemplateCompiler {
    /// All errors found so far, in the order in which they were found.
    public private(set) var faults: [TemplateFault] = []
    /// The names of the roots that the compiled references use. The context need not provide values for other roots.
    public private(set) var rootsUsed: Set<String> = []
    private let roots: [ReferenceRoot]
    private let limits: TemplateLimits
    private var references = 0
    /// The names of the elements in the enclosing repetitions, the outermost first.
    private var variables: [String] = []

    /// Creates a compiler. Each reference must begin with one of `roots` or with the name of an element in a
    /// repetition.
    public init(roots: [ReferenceRoot], limits: TemplateLimits = TemplateLimits()) {
        self.roots = roots
        self.limits = limits
    }

    /// Checks the length, the JSON syntax and the depth of a text before its parts are compiled. Returns false and adds
    /// a fault if the text is not valid.
    public mutating func isReadable(_ text: JSONText) -> Bool {
        guard text.count <= limits.bytes else {
            fault("", "maxLength", "the text must be at most \(limits.bytes) bytes long")
            return false
        }
        do throws(JSONError) {
            _ = try JSONDocument(text.bytes, limits: JSONLimits(depth: limits.depth), numbers: .lenient)
            return true
        } catch {
            fault("", "json", error.message)
            return false
        }
    }

    /// Checks and compiles a complete template. Returns `nil` and adds faults if the template is not valid.
    public mutating func template(_ text: JSONText) -> Template? {
        isReadable(text) ? template(text, at: "") : nil
    }

    /// Compiles a part of a text for which ``isReadable(_:)`` has returned true. Returns `nil` and adds faults if the
    /// part is not valid.
    public mutating func template(_ text: JSONText, at pointer: String) -> Template? {
        node(text, at: pointer).map { Template(node: $0) }
    }

    /// Compiles a condition. Returns `nil` and adds faults if the condition is not valid.
    public mutating func condition(_ text: JSONText, at pointer: String) -> TemplateCondition? {
        let objects = text.rawElements() ?? [text]
        var alternatives: [[(reference: TemplateReference, test: TemplateCondition.Test)]] = []
        for (index, object) in objects.enumerated() {
            let place = objects.count == 1 && text.bytes.first == UInt8(ascii: "{") ? pointer : "\(pointer)/\(index)"
            guard let members = object.rawMembers(), !members.isEmpty else {
                fault(
                    place, "type",
                    "a condition must be an object that maps references to required values, or a list of such objects")
                continue
            }
            alternatives.append(
                members.compactMap { member in
                    let place = "\(place)/\(JSONPointer.escaped(member.name))"
                    guard let reference = reference(member.name, at: place),
                        let test = test(member.value, at: place)
                    else { return nil }
                    return (reference, test)
                })
        }
        if objects.isEmpty { fault(pointer, "minItems", "a condition must not be an empty list") }
        return TemplateCondition(alternatives: alternatives)
    }

    /// Compiles a choice (`$switch`). The closure `branch` compiles the branches. If the choice is not valid, adds
    /// faults and may return `nil`.
    public mutating func choice<Branch>(
        _ members: [(name: String, value: JSONText)], at pointer: String,
        _ branch: (inout TemplateCompiler, JSONText, String) -> Branch?
    ) -> TemplateChoice<Branch>? {
        refuseOthers(members, ["$switch", "cases", "default"], at: pointer)
        let reference = reference(members.value("$switch")?.string, at: "\(pointer)/$switch")
        guard let listed = members.value("cases")?.rawMembers(), !listed.isEmpty else {
            fault("\(pointer)/cases", "type", "'$switch' needs 'cases', an object with a template for each value")
            return nil
        }
        var cases: [String: Branch] = [:]
        for item in listed {
            cases[item.name] = branch(&self, item.value, "\(pointer)/cases/\(JSONPointer.escaped(item.name))")
        }
        let fallback = members.value("default").flatMap { branch(&self, $0, "\(pointer)/default") }
        return reference.map {
            TemplateChoice(reference: $0, cases: cases, fallback: fallback, pointer: pointer + "/$switch")
        }
    }

    /// Compiles a repetition (`$each`). `body` compiles the part that is repeated, which may contain references to the
    /// element's name. If the repetition is not valid, adds faults and may return `nil`.
    public mutating func repetition<Body>(
        over array: JSONText?, as name: JSONText?, when condition: JSONText?, at pointer: String, member: String,
        _ body: (inout TemplateCompiler) -> Body?
    ) -> (TemplateRepetition, Body)? {
        let array = reference(array?.string, at: "\(pointer)/\(member)")
        let name = name?.string ?? ""
        if name.isEmpty || name.contains("/") || name.contains("|") || isTaken(name) {
            fault(
                "\(pointer)/as", "pattern",
                "'as' must be a name that the template does not use yet, without '/' and '|'")
        }
        variables.append(name)
        defer { variables.removeLast() }
        let compiled = condition.flatMap { self.condition($0, at: "\(pointer)/when") }
        guard let body = body(&self), let array else { return nil }
        return (TemplateRepetition(array: array, condition: compiled, pointer: "\(pointer)/\(member)"), body)
    }

    /// Adds a fault at a JSON Pointer into the template.
    public mutating func fault(_ pointer: String, _ keyword: String, _ detail: String) {
        faults.append(TemplateFault(pointer: pointer, keyword: keyword, detail: detail))
    }
}

extension TemplateCompiler {
    private mutating func node(_ text: JSONText, at pointer: String) -> TemplateNode? {
        if let text = text.string { return self.text(text, at: pointer) }
        if let elements = text.rawElements() {
            return .array(elements.enumerated().compactMap { node($1, at: "\(pointer)/\($0)") })
        }
        guard let members = text.rawMembers() else { return .constant(text) }
        if members.value("$") != nil { return value(members, at: pointer) }
        if members.value("$switch") != nil {
            return choice(members, at: pointer) { $0.node($1, at: $2) }.map { .choice($0) }
        }
        if members.value("$each") != nil { return each(members, at: pointer) }
        if let parts = members.value("$join") { return join(parts, members, at: pointer) }
        return .object(
            members.compactMap { member in
                node(member.value, at: "\(pointer)/\(JSONPointer.escaped(member.name))").map { (member.name, $0) }
            })
    }

    private mutating func text(_ text: String, at pointer: String) -> TemplateNode? {
        do throws(TextTemplate.Fault) {
            let template = try TextTemplate(text) { name throws(TextTemplate.Fault) in
                guard let reference = refer(name, at: pointer) else {
                    throw TextTemplate.Fault(detail: "unknown reference '{\(name.prefix(64))}'; \(forms)")
                }
                return reference
            }
            return template.constant.map { .constant(JSONText(string: $0)) } ?? .text(template, at: pointer)
        } catch {
            fault(pointer, "template", error.detail)
            return nil
        }
    }

    private mutating func value(_ members: [(name: String, value: JSONText)], at pointer: String) -> TemplateNode? {
        refuseOthers(members, ["$", "default", "to"], at: pointer)
        var conversion: TemplateConversion?
        if let to = members.value("to") {
            conversion = to.string.flatMap(TemplateConversion.init(rawValue:))
            if conversion == nil {
                let known = TemplateConversion.allCases.map(\.rawValue).joined(separator: ", ")
                fault("\(pointer)/to", "enum", "'to' must be one of \(known)")
            }
        }
        guard let reference = reference(members.value("$")?.string, at: "\(pointer)/$") else { return nil }
        return .reference(reference, fallback: members.value("default"), conversion, at: pointer)
    }

    private mutating func each(_ members: [(name: String, value: JSONText)], at pointer: String) -> TemplateNode? {
        refuseOthers(members, ["$each", "as", "when", "value", "default"], at: pointer)
        guard let value = members.value("value") else {
            fault(pointer, "required", "'$each' needs 'value', a template for each element")
            return nil
        }
        let parts = repetition(
            over: members.value("$each"), as: members.value("as"), when: members.value("when"), at: pointer,
            member: "$each"
        ) { $0.node(value, at: "\(pointer)/value") }
        return parts.map { .each($0, $1, fallback: members.value("default")) }
    }

    private mutating func join(
        _ parts: JSONText, _ members: [(name: String, value: JSONText)], at pointer: String
    ) -> TemplateNode? {
        refuseOthers(members, ["$join", "separator"], at: pointer)
        var separator = ""
        if let given = members.value("separator") {
            if let text = given.string {
                separator = text
            } else {
                fault("\(pointer)/separator", "type", "'separator' must be a string")
            }
        }
        guard let node = node(parts, at: "\(pointer)/$join") else { return nil }
        return .join(node, separator: separator, at: "\(pointer)/$join")
    }

    private mutating func test(_ text: JSONText, at pointer: String) -> TemplateCondition.Test? {
        if let members = text.rawMembers() {
            if members.count == 1, let expected = members.value("exists"), ["true", "false"].contains("\(expected)") {
                return .exists("\(expected)" == "true")
            }
            if members.count == 1, let inner = members.value("not") {
                return test(inner, at: "\(pointer)/not").map { .not($0) }
            }
            fault(
                pointer, "enum",
                #"the condition on a reference must be a value, a list of values, {"exists":true|false} or {"not": …}"#)
            return nil
        }
        var values: [String?] = []
        for value in text.rawElements() ?? [text] {
            guard value.isNull || value.scalarText != nil else {
                fault(
                    pointer, "type", "the condition on a reference may contain only texts, numbers, booleans and null")
                return nil
            }
            values.append(value.scalarText)
        }
        return .isOneOf(values)
    }

    private mutating func reference(_ text: String?, at pointer: String) -> TemplateReference? {
        if let reference = text.flatMap({ refer($0, at: pointer) }) { return reference }
        fault(pointer, "reference", "unknown reference '\((text ?? "").prefix(64))'; \(forms)")
        return nil
    }

    private mutating func refer(_ text: some StringProtocol, at pointer: String) -> TemplateReference? {
        guard let reference = TemplateReference(text, roots: roots, variables: variables) else { return nil }
        references += 1
        if let root = reference.root { rootsUsed.insert(root) }
        if references == limits.references + 1 {
            fault(pointer, "maxItems", "a template may have at most \(limits.references) references")
        }
        return reference
    }

    private func isTaken(_ name: String) -> Bool { variables.contains(name) || roots.contains { $0.name == name } }

    private var forms: String {
        "use one of: " + (roots.map(\.spelling) + variables.map { "\($0)/json/pointer" }).joined(separator: ", ")
    }

    private mutating func refuseOthers(
        _ members: [(name: String, value: JSONText)], _ known: [String], at pointer: String
    ) {
        for member in members where !known.contains(member.name) {
            let others = known.dropFirst().map { "'\($0)'" }.joined(separator: ", ")
            fault(
                "\(pointer)/\(JSONPointer.escaped(member.name))", "additionalProperties",
                "together with '\(known[0])', only \(others) are allowed")
        }
    }
}

extension [(name: String, value: JSONText)] {
    func value(_ name: String) -> JSONText? { first { $0.name == name }?.value }
}

/// A compiled template: a JSON value that may contain references to values of a context. Templates are declarative, and
/// their cost is limited. They contain no expressions other than the following.
///
/// A string may contain references in braces (`repos.{body/repository/name}`), also with a fallback
/// (`{query/topic|general}`). An object with one of the following members is an instruction. All other values are
/// copied unchanged.
///
/// - `{"$":"body/commits","default":[],"to":"text"}`: the exact bytes of a part of the context.
/// - `{"$switch":"header/X-Event","cases":{"push":…},"default":…}`: one of several values.
/// - `{"$each":"body/commits","as":"commit","when":{…},"value":…,"default":…}`: an array with one value for each
///   element.
/// - `{"$join":[…],"separator":", "}`: a text joined from several values.
public struct Template: Sendable {
    let node: TemplateNode
    /// The text that the template always produces; `nil` when the result depends on the context or is not a text.
    public let constantText: String?

    /// Compiles a single template.
    ///
    /// - Parameter roots: the names of the context's documents. Each reference must begin with one of them.
    /// - Throws: ``TemplateFaults`` with all errors of the template.
    public init(_ text: JSONText, roots: [String], limits: TemplateLimits = TemplateLimits()) throws(TemplateFaults) {
        var compiler = TemplateCompiler(roots: roots.map { ReferenceRoot($0, .document) }, limits: limits)
        let template = compiler.template(text)
        guard let template, compiler.faults.isEmpty else { throw TemplateFaults(faults: compiler.faults) }
        self = template
    }

    init(node: TemplateNode) {
        self.node = node
        if case .constant(let value) = node { constantText = value.string } else { constantText = nil }
    }

    /// Renders the template.
    ///
    /// - Parameter limitBytes: the maximum length of the result in bytes. Without a limit, a few references to a large
    ///   document could create a much larger result.
    /// - Throws: ``TemplateError`` when a value is missing, the result is too large, or rendering needs more than
    ///   `limits.steps` steps.
    public func render(
        _ context: some TemplateContext, limitBytes: Int, limits: TemplateLimits = TemplateLimits()
    ) throws(TemplateError) -> JSONText {
        var run = TemplateRenderer(context, limits: limits)
        return try run.value(of: self, limitBytes: limitBytes)
    }
}

/// A condition on the context: `{"body/action":"opened","header/X-Event":["push","tag"]}`.
///
/// An object is true if all its references pass their tests. A list of such objects is true if one of them is true.
public struct TemplateCondition: Sendable {
    indirect enum Test: Sendable {
        /// Passes if the text is one of these texts; `nil` stands for `null` and for a missing value.
        case isOneOf([String?])
        case exists(Bool)
        case not(Test)
    }

    let alternatives: [[(reference: TemplateReference, test: Test)]]
}

extension TemplateCondition.Test {
    /// Returns true if a value passes the test.
    ///
    /// - Parameters:
    ///   - text: the value as text; `nil` for `null`, for arrays and objects, and for a missing value.
    ///   - exists: true when there is a value other than `null`.
    func holds(_ text: String?, exists: Bool) -> Bool {
        switch self {
        case .isOneOf(let values): values.contains { $0 == nil ? !exists : $0 == text }
        case .exists(let expected): exists == expected
        case .not(let test): !test.holds(text, exists: exists)
        }
    }
}

/// Limits on the cost of a template. They protect against mistakes of a template's author and against hostile input.
public struct TemplateLimits: Sendable {
    /// The maximum length of the template in bytes.
    public var bytes = 32 * 1024
    /// The maximum nesting depth of the template, which also limits the recursion of compiling and rendering.
    public var depth = 64
    /// The maximum number of references in the whole template. Each reference may scan a whole document once.
    public var references = 256
    /// The maximum number of steps for rendering a template. One step is a value that is printed or compared, or 1 KiB
    /// that is scanned. This limits the cost of nested repetitions. The worst known case, for 1 MiB of hostile arrays,
    /// takes 0.2 s of CPU time. A template with 90 references that each scan 1 MiB is within the limit.
    public var steps: Int

    /// Creates limits. All except the number of steps are the default.
    public init(steps: Int = 100_000) { self.steps = steps }
}

/// A reference to a value of the context, for instance `body/user/id`, `header/X-Event` or `source`.
public struct TemplateReference: Sendable, CustomStringConvertible {
    enum Target: Sendable {
        case document(root: String, JSONPointer)
        case text(root: String, name: String)
        /// The current element of the enclosing repetition at this depth, or a part of the element.
        case element(depth: Int, JSONPointer)
    }

    let target: Target
    /// The reference as its author wrote it.
    public let description: String

    /// Parses a reference. Returns `nil` when the text does not begin with a known root or variable, or is malformed.
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

    /// The root that the reference reads from; `nil` for an element of a repetition.
    var root: String? {
        switch target {
        case .document(let root, _), .text(let root, _): root
        case .element: nil
        }
    }
}
