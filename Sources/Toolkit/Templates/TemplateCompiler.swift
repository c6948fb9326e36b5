public import JSON

/// Compiles templates that belong together (the members of one mapping) and collects all errors in them.
///
/// When there are faults, none of the compiled parts may be used.
public struct TemplateCompiler {
    /// All errors found so far, in the order in which they were found.
    public private(set) var faults: [TemplateFault] = []
    /// The roots that some reference uses. The context need not provide the others.
    public private(set) var rootsUsed: Set<String> = []
    private let roots: [ReferenceRoot]
    private let limits: TemplateLimits
    private var references = 0
    /// The names of the elements of the enclosing repetitions, the outermost first.
    private var variables: [String] = []

    /// Creates a compiler for references that begin with one of `roots`.
    public init(roots: [ReferenceRoot], limits: TemplateLimits = TemplateLimits()) {
        self.roots = roots
        self.limits = limits
    }

    /// Checks the length, the JSON syntax and the depth of the whole text, before its parts are compiled. Returns
    /// false after adding a fault.
    public mutating func isReadable(_ text: JSONText) -> Bool {
        guard text.count <= limits.bytes else {
            fault("", "maxLength", "longer than \(limits.bytes) bytes")
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

    /// Compiles a whole template; `nil` after a fault.
    public mutating func template(_ text: JSONText) -> Template? {
        isReadable(text) ? template(text, at: "") : nil
    }

    /// Compiles a part of a text that has passed ``isReadable(_:)``; `nil` after a fault.
    public mutating func template(_ text: JSONText, at pointer: String) -> Template? {
        node(text, at: pointer).map { Template(node: $0) }
    }

    /// Compiles a condition; `nil` after a fault.
    public mutating func condition(_ text: JSONText, at pointer: String) -> TemplateCondition? {
        let objects = text.rawElements() ?? [text]
        var alternatives: [[(reference: TemplateReference, test: TemplateCondition.Test)]] = []
        for (index, object) in objects.enumerated() {
            let place = objects.count == 1 && text.bytes.first == UInt8(ascii: "{") ? pointer : "\(pointer)/\(index)"
            guard let members = object.rawMembers(), !members.isEmpty else {
                fault(place, "type", "a condition is an object of references and what they must be, or a list of such")
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
        if objects.isEmpty { fault(pointer, "minItems", "a condition without alternatives never holds") }
        return TemplateCondition(alternatives: alternatives)
    }

    /// Compiles a choice. The caller's closure compiles the branches.
    public mutating func choice<Branch>(
        _ members: [(name: String, value: JSONText)], at pointer: String,
        _ branch: (inout TemplateCompiler, JSONText, String) -> Branch?
    ) -> TemplateChoice<Branch>? {
        refuseOthers(members, ["$switch", "cases", "default"], at: pointer)
        let reference = reference(members.value("$switch")?.string, at: "\(pointer)/$switch")
        guard let listed = members.value("cases")?.rawMembers(), !listed.isEmpty else {
            fault("\(pointer)/cases", "type", "'$switch' needs 'cases': an object with a value for each text")
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

    /// Compiles a repetition. `body` compiles the part inside, in which references to the element's name are valid.
    public mutating func repetition<Body>(
        over array: JSONText?, as name: JSONText?, when condition: JSONText?, at pointer: String, member: String,
        _ body: (inout TemplateCompiler) -> Body?
    ) -> (TemplateRepetition, Body)? {
        let array = reference(array?.string, at: "\(pointer)/\(member)")
        let name = name?.string ?? ""
        if name.isEmpty || name.contains("/") || name.contains("|") || isTaken(name) {
            fault("\(pointer)/as", "pattern", "'as' must name the element by a word that means nothing else here")
        }
        variables.append(name)
        defer { variables.removeLast() }
        let compiled = condition.flatMap { self.condition($0, at: "\(pointer)/when") }
        guard let body = body(&self), let array else { return nil }
        return (TemplateRepetition(array: array, condition: compiled, pointer: "\(pointer)/\(member)"), body)
    }

    /// Adds a fault.
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
            fault(pointer, "required", "'$each' needs 'value': what each element becomes")
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
            fault(pointer, "enum", #"a test is a value, a list of values, {"exists":true|false} or {"not": …}"#)
            return nil
        }
        var values: [String?] = []
        for value in text.rawElements() ?? [text] {
            guard value.isNull || value.scalarText != nil else {
                fault(pointer, "type", "values are compared with texts, numbers, booleans and null")
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
            fault(pointer, "maxItems", "there may be at most \(limits.references) references")
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
                "beside '\(known[0])' there may be only \(others)")
        }
    }
}

extension [(name: String, value: JSONText)] {
    func value(_ name: String) -> JSONText? { first { $0.name == name }?.value }
}

/// A JSON value with references in it, compiled once. Templates are declarative and bounded, and evaluate nothing
/// except the following.
///
/// Texts are templates (`repos.{body/repository/name}`, with a fallback `{query/topic|general}`). An object with one
/// of these members is an instruction; everything else is copied unchanged.
///
/// - `{"$":"body/commits","default":[],"to":"text"}`: a part of the context, byte for byte.
/// - `{"$switch":"header/X-Event","cases":{"push":…},"default":…}`: one of several values.
/// - `{"$each":"body/commits","as":"commit","when":{…},"value":…,"default":…}`: an array with one value for each
///   element.
/// - `{"$join":[…],"separator":", "}`: a text joined from several values.
public struct Template: Sendable {
    let node: TemplateNode

    /// Compiles a template that stands alone.
    ///
    /// - Parameter roots: the names of the documents that references may begin with.
    /// - Throws: `TemplateFaults` with all errors, each with a pointer into the template.
    public init(_ text: JSONText, roots: [String], limits: TemplateLimits = TemplateLimits()) throws(TemplateFaults) {
        var compiler = TemplateCompiler(roots: roots.map { ReferenceRoot($0, .document) }, limits: limits)
        let template = compiler.template(text)
        guard let template, compiler.faults.isEmpty else { throw TemplateFaults(faults: compiler.faults) }
        self = template
    }

    init(node: TemplateNode) { self.node = node }

    /// The text that the template always produces; `nil` when its result depends on the context or is not a text.
    public var constantText: String? {
        guard case .constant(let value) = node else { return nil }
        return value.string
    }

    /// Renders the template.
    ///
    /// - Parameter limitBytes: the most bytes of the result; a few references to a large document could otherwise make
    ///   it many times as large.
    /// - Throws: ``TemplateError`` when a value is missing, the result is too large, or the run takes more than
    ///   `limits.steps`.
    public func render(
        _ context: some TemplateContext, limitBytes: Int, limits: TemplateLimits = TemplateLimits()
    ) throws(TemplateError) -> JSONText {
        var run = TemplateRenderer(context, limits: limits)
        return try run.value(of: self, limitBytes: limitBytes)
    }
}

/// A condition on the context: `{"body/action":"opened","header/X-Event":["push","tag"]}`.
///
/// Every reference must pass its test. Of a list of such objects, one must hold.
public struct TemplateCondition: Sendable {
    indirect enum Test: Sendable {
        /// The text is one of these; `nil` stands for `null` and for a missing value.
        case isOneOf([String?])
        case exists(Bool)
        case not(Test)
    }

    let alternatives: [[(reference: TemplateReference, test: Test)]]
}

extension TemplateCondition.Test {
    /// True when the value passes the test.
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

/// Limits on the cost of a template. They stop an author's mistakes and a sender's hostile arrays.
public struct TemplateLimits: Sendable {
    /// The maximum number of bytes of the template itself.
    public var bytes = 32 * 1024
    /// The deepest nesting of the template itself, which bounds the recursion of compiling and rendering.
    public var depth = 64
    /// The maximum number of references in the whole template. Each may read through a whole document once.
    public var references = 256
    /// The maximum number of steps of one run: one step for each value printed or compared and for each KiB read
    /// through. This bounds nested repetitions. The worst case found for 1 MiB of hostile arrays costs 0.2 s of CPU
    /// time; 90 references that each read through 1 MiB are within the limit.
    public var steps = 100_000

    /// The default limits.
    public init() {}
}

/// The place in the context from which a template takes a value: `body/user/id`, `header/X-Event`, `source`.
public struct TemplateReference: Sendable, CustomStringConvertible {
    enum Target: Sendable {
        case document(root: String, JSONPointer)
        case text(root: String, name: String)
        /// An element of the repetition at this depth.
        case element(depth: Int, JSONPointer)
    }

    let target: Target
    /// The reference as its author wrote it.
    public let description: String

    /// Parses a reference; `nil` when the text refers to nothing.
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
