public import JSON

/// A JSON value with references in it, compiled once: declarative, bounded, never evaluating anything else.
///
/// Texts are templates (`repos.{body/repository/name}`, with a fallback `{query/topic|general}`). An object with one of
/// these members is an instruction; everything else is taken as it stands.
/// - `{"$":"body/commits","default":[],"to":"text"}`: a part of the context, byte for byte.
/// - `{"$switch":"header/X-Event","cases":{"push":…},"default":…}`: one of several values.
/// - `{"$each":"body/commits","as":"commit","when":{…},"value":…,"default":…}`: an array, one value for each element.
/// - `{"$join":[…],"separator":", "}`: a text of several.
public struct Template: Sendable {
    let node: TemplateNode

    /// Compiles a template that stands alone.
    /// - Parameter roots: the names of the documents that references may begin with.
    /// - Throws: every mistake, with pointers into the template.
    public init(_ text: JSONText, roots: [String], limits: TemplateLimits = TemplateLimits()) throws(TemplateFaults) {
        var compiler = TemplateCompiler(roots: roots.map { ReferenceRoot($0, .document) }, limits: limits)
        let template = compiler.template(text)
        guard let template, compiler.faults.isEmpty else { throw TemplateFaults(faults: compiler.faults) }
        self = template
    }

    init(node: TemplateNode) { self.node = node }

    /// The text it always gives; nil when it depends on something, or gives no text.
    public var constantText: String? {
        guard case .constant(let value) = node else { return nil }
        return value.string
    }

    /// Fills it in.
    /// - Parameter limitBytes: of the result; a few references to a large document could otherwise make it many times
    ///   its size.
    public func render(
        _ context: some TemplateContext, limitBytes: Int, limits: TemplateLimits = TemplateLimits()
    ) throws(TemplateError) -> JSONText {
        var run = TemplateRenderer(context, limits: limits)
        return try run.value(of: self, limitBytes: limitBytes)
    }
}
