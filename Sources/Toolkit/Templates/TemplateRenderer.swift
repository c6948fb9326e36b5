public import JSON

/// Renders templates with the values of one context. All templates share the number of remaining steps.
public struct TemplateRenderer {
    private var context: any TemplateContext
    private var steps: Int
    /// The current elements in the enclosing repetitions, the outermost first.
    private var elements: [JSONText] = []
    private var gaps: [MissingValue] = []

    /// Creates a renderer for one context. Rendering may take `limits.steps` steps in total.
    public init(_ context: any TemplateContext, limits: TemplateLimits = TemplateLimits()) {
        self.context = context
        steps = limits.steps
    }

    /// Replaces the context, and adds `moreSteps` to the remaining steps.
    public mutating func turn(to context: any TemplateContext, moreSteps: Int) {
        self.context = context
        steps += moreSteps
    }

    /// Renders the template as JSON.
    ///
    /// - Throws: ``TemplateError`` when a value is missing, the result is too large, or no steps remain.
    public mutating func value(of template: Template, limitBytes: Int) throws(TemplateError) -> JSONText {
        gaps = []
        // If the template is a single reference, the value is returned without copying its bytes.
        if case .reference(let reference, let fallback, let conversion, let pointer) = template.node {
            let value = try value(of: reference, fallback, conversion, at: pointer)
            guard let value else { throw .missing(gaps) }
            guard value.count <= limitBytes else { throw .tooLarge(limitBytes: limitBytes) }
            return value
        }
        var writer = JSONWriter()
        try print(template.node, to: &writer, limitBytes)
        guard gaps.isEmpty else { throw .missing(gaps) }
        guard writer.bytes.count <= limitBytes else { throw .tooLarge(limitBytes: limitBytes) }
        return writer.text
    }

    /// Renders the template and returns its result as a text. The result must be a string, a number or a Boolean.
    ///
    /// - Parameter pointer: the position of the template, for the error when the result has another type.
    /// - Throws: ``TemplateError`` in the same cases as ``value(of:limitBytes:)``, and when the result has another
    ///   type.
    public mutating func text(
        of template: Template, at pointer: @autoclosure () -> String, limitBytes: Int
    ) throws(TemplateError) -> String {
        if case .constant(let value) = template.node, let text = template.constantText, value.count <= limitBytes {
            try spend(1)
            return text
        }
        let value = try value(of: template, limitBytes: limitBytes)
        guard let text = value.scalarText else {
            throw .missing([
                MissingValue(
                    pointer: pointer(), detail: "the result of the template must be a string, a number or a Boolean")
            ])
        }
        return text
    }

    /// Returns true if the condition is true for the context.
    ///
    /// - Throws: ``TemplateError/tooMuchWork`` when no steps remain. A missing value is not an error: the condition
    ///   tests `nil` instead of the value.
    public mutating func holds(_ condition: TemplateCondition) throws(TemplateError) -> Bool {
        for alternative in condition.alternatives {
            var holds = true
            for (reference, test) in alternative where holds {
                let value = try find(reference)
                holds = test.holds(value?.scalarText, exists: value.map { !$0.isNull } ?? false)
            }
            if holds { return true }
        }
        return false
    }

    /// Returns the branch that the context selects.
    ///
    /// - Throws: ``TemplateError/missing(_:)`` when the context selects no branch; ``TemplateError/tooMuchWork`` when
    ///   no steps remain.
    public mutating func branch<Branch>(of choice: TemplateChoice<Branch>) throws(TemplateError) -> Branch {
        gaps = []
        guard let branch = try pick(choice) else { throw .missing(gaps) }
        return branch
    }

    /// Calls `body` once for each element that passes the repetition's condition.
    ///
    /// - Throws: ``TemplateError/missing(_:)`` when the context contains no array for the repetition;
    ///   ``TemplateError/tooMuchWork`` when no steps remain; the error that `body` throws.
    public mutating func forEach(
        _ repetition: TemplateRepetition, _ body: (inout TemplateRenderer) throws(TemplateError) -> Void
    ) throws(TemplateError) {
        guard let values = try find(repetition.array)?.rawElements() else {
            throw .missing([Self.noArray(repetition)])
        }
        try visit(values, repetition, body)
    }

    // MARK: Printing

    private mutating func print(
        _ node: TemplateNode, to writer: inout JSONWriter, _ limitBytes: Int
    ) throws(TemplateError) {
        try spend(1)
        switch node {
        case .constant(let value): writer.raw(value)
        case .text(let template, let pointer): writer.string(try text(template, at: pointer, limitBytes))
        case .reference(let reference, let fallback, let conversion, let pointer):
            writer.raw(try value(of: reference, fallback, conversion, at: pointer) ?? .null)
        case .object(let members):
            writer.beginObject()
            for member in members {
                writer.key(text: member.name)
                try print(member.value, to: &writer, limitBytes)
            }
            writer.endObject()
        case .array(let nodes):
            writer.beginArray()
            for node in nodes { try print(node, to: &writer, limitBytes) }
            writer.endArray()
        case .choice(let choice):
            if let node = try pick(choice) { try print(node, to: &writer, limitBytes) } else { writer.null() }
        case .each(let repetition, let node, let fallback):
            try printEach(repetition, node, fallback, to: &writer, limitBytes)
        case .join(let node, let separator, let pointer):
            writer.string(try joined(node, separator, at: pointer, limitBytes))
        }
        guard writer.bytes.count <= limitBytes else { throw .tooLarge(limitBytes: limitBytes) }
    }

    private mutating func printEach(
        _ repetition: TemplateRepetition, _ node: TemplateNode, _ fallback: JSONText?, to writer: inout JSONWriter,
        _ limitBytes: Int
    ) throws(TemplateError) {
        guard let values = try find(repetition.array)?.rawElements() else {
            if fallback == nil { gaps.append(Self.noArray(repetition)) }
            return writer.raw(fallback ?? .null)
        }
        writer.beginArray()
        // The loop does not use `forEach`, because a closure cannot capture the writer.
        for value in values {
            try spend(1)
            elements.append(value)
            defer { elements.removeLast() }
            if let condition = repetition.condition {
                guard try holds(condition) else { continue }
            }
            try print(node, to: &writer, limitBytes)
        }
        writer.endArray()
    }

    private mutating func visit(
        _ values: [JSONText], _ repetition: TemplateRepetition,
        _ body: (inout TemplateRenderer) throws(TemplateError) -> Void
    ) throws(TemplateError) {
        for value in values {
            try spend(1)
            elements.append(value)
            defer { elements.removeLast() }
            if let condition = repetition.condition {
                guard try holds(condition) else { continue }
            }
            try body(&self)
        }
    }

    private mutating func joined(
        _ node: TemplateNode, _ separator: String, at pointer: String, _ limitBytes: Int
    ) throws(TemplateError) -> String {
        var writer = JSONWriter()
        try print(node, to: &writer, limitBytes)
        var texts: [String] = []
        for element in writer.text.rawElements() ?? [] {
            // A missing value, or a default of null, is skipped.
            guard !element.isNull else { continue }
            guard let text = element.scalarText else {
                gaps.append(MissingValue(pointer: pointer, detail: "'$join' can join only texts and numbers"))
                return ""
            }
            texts.append(text)
        }
        let text = texts.joined(separator: separator)
        guard text.utf8.count <= limitBytes else { throw .tooLarge(limitBytes: limitBytes) }
        return text
    }

    private mutating func text(
        _ template: TextTemplate, at pointer: String, _ limitBytes: Int
    ) throws(TemplateError) -> String {
        var text = ""
        for part in template.parts {
            switch part {
            case .text(let piece): text += piece
            case .reference(let reference, let fallback):
                if let value = try find(reference)?.scalarText ?? fallback {
                    text += value
                } else {
                    gaps.append(Self.noValue(reference, at: pointer))
                }
            }
            guard text.utf8.count <= limitBytes else { throw .tooLarge(limitBytes: limitBytes) }
        }
        return text
    }

    // MARK: Values

    private mutating func value(
        of reference: TemplateReference, _ fallback: JSONText?, _ conversion: TemplateConversion?, at pointer: String
    ) throws(TemplateError) -> JSONText? {
        guard let found = try find(reference) else {
            if fallback == nil { gaps.append(Self.noValue(reference, at: pointer)) }
            return fallback
        }
        guard let conversion else { return found }
        guard let value = conversion.apply(found) ?? fallback else {
            gaps.append(
                MissingValue(pointer: pointer, detail: "{\(reference)} cannot be converted to \(conversion.rawValue)"))
            return nil
        }
        return value
    }

    private mutating func pick<Branch>(
        _ choice: TemplateChoice<Branch>
    ) throws(TemplateError) -> Branch? {
        let key = try find(choice.reference)?.scalarText
        if let branch = key.flatMap({ choice.cases[$0] }) ?? choice.fallback { return branch }
        guard let key else {
            gaps.append(Self.noValue(choice.reference, at: choice.pointer))
            return nil
        }
        gaps.append(
            MissingValue(
                pointer: choice.pointer,
                detail:
                    "'$switch' has no default and no case for '\(key.prefix(64))', the value of {\(choice.reference)}")
        )
        return nil
    }

    private mutating func find(_ reference: TemplateReference) throws(TemplateError) -> JSONText? {
        switch reference.target {
        case .document(let root, let pointer): try read(context.document(root), pointer)
        case .element(let depth, let pointer): try read(elements[depth], pointer)
        case .text(let root, let name):
            try read(context.text(root, name).map { JSONText(string: $0) }, JSONPointer(tokens: []))
        }
    }

    private mutating func read(_ document: JSONText?, _ pointer: JSONPointer) throws(TemplateError) -> JSONText? {
        guard let document else { return nil }
        try spend(1 + document.count / 1024)
        return document.at(pointer)
    }

    private mutating func spend(_ count: Int) throws(TemplateError) {
        steps -= count
        guard steps >= 0 else { throw .tooMuchWork }
    }

    private static func noValue(_ reference: TemplateReference, at pointer: String) -> MissingValue {
        MissingValue(pointer: pointer, detail: "{\(reference)} has no value")
    }

    private static func noArray(_ repetition: TemplateRepetition) -> MissingValue {
        MissingValue(pointer: repetition.pointer, detail: "{\(repetition.array)} is not an array")
    }
}

/// A context: the source of the values with which a template is rendered.
public protocol TemplateContext {
    /// Returns the whole document of a root with the form ``ReferenceRoot/Form/document``, as valid JSON; `nil` when
    /// the context contains no such document.
    func document(_ root: String) -> JSONText?

    /// Returns the text with this name in a root with the form ``ReferenceRoot/Form/table``. For a root with the form
    /// ``ReferenceRoot/Form/text``, the name is empty, and the result is the only text of the root. Returns `nil` when
    /// the context contains no such text.
    func text(_ root: String, _ name: String) -> String?
}

/// A root: the first word of a reference. It selects a source of values in the context.
public struct ReferenceRoot: Sendable, Hashable {
    /// The form of the part of a reference that follows the first word.
    public enum Form: Sendable {
        /// A JSON document: `body`, or `body/json/pointer` (RFC 6901) for a part.
        case document
        /// A table of texts: `header/Name`. The whole text after the slash is one name.
        case table
        /// A single text: `source`, without a second part.
        case text
    }

    /// The first word of references with this root.
    public let name: String
    /// The form of the part of a reference that follows the first word.
    public let form: Form

    /// Creates a root.
    public init(_ name: String, _ form: Form) {
        self.name = name
        self.form = form
    }

    /// The form of references with this root, for messages.
    var spelling: String {
        switch form {
        case .document: "\(name)/json/pointer"
        case .table: "\(name)/Name"
        case .text: name
        }
    }
}

/// An error in a template, with a message for the template's author.
public struct TemplateFault: Sendable, Equatable {
    /// The position of the error: a JSON Pointer into the template, empty for the whole template.
    public var pointer: String
    /// The violated rule in one word, for instance `type`, `required` or `reference`.
    public var keyword: String
    /// One sentence about the error.
    public var detail: String

    /// Creates a fault.
    init(pointer: String, keyword: String, detail: String) {
        self.pointer = pointer
        self.keyword = keyword
        self.detail = detail
    }
}

/// All errors of a template.
public struct TemplateFaults: Error, Sendable, Equatable {
    /// The errors, in the order in which they were found.
    public var faults: [TemplateFault]
}

/// A value that was missing when a template was rendered.
public struct MissingValue: Sendable, Equatable {
    /// The part of the template that requires the value, as a JSON Pointer.
    public var pointer: String
    /// A message that contains the reference, for instance `{body/ref} has no value`.
    public var detail: String
}

/// The reason why a template could not be rendered.
public enum TemplateError: Error, Sendable, Equatable {
    case missing([MissingValue])
    /// The result is longer than the limit.
    case tooLarge(limitBytes: Int)
    /// Rendering needs more steps than ``TemplateLimits/steps``.
    case tooMuchWork
}
