import ChatCore
public import ChatModel
public import JSON
import Signing
import Templates

/// The rules by which a source converts a post to events. The owner of the source writes them as JSON;
/// `docs/sources.md` describes the language.
///
/// A mapping has one of three forms. An object describes one event; it has the members `channel`, `type`, `data` and
/// optionally `user`, `meta`, `store`, `when`, and `each` with `as`. A list contains 1 to 16 mappings. A choice selects
/// a mapping by a value, `{"$switch":"header/X-Event","cases":{…},"default":null}`, where `null` stands for no event.
/// The members of an object are templates. They are compiled once.
public struct Mapping: Sendable {
    /// The original text of the mapping.
    let text: JSONText
    /// True when the mapping refers to the body. Otherwise the body may be invalid.
    let needsBody: Bool
    /// True when the mapping refers to the CloudEvents of the body.
    let needsCloudEvents: Bool
    let node: MappingNode

    /// The result of rendering the mapping for one body of a post.
    struct Rendering {
        /// The events or their errors, in the order of the mapping.
        var events: [Result<EventDraft, ChatError>] = []
        /// The number of events that the mapping excluded, by a condition (`when`) or by a `$switch` that selected
        /// `null`.
        var dropped = 0
    }

    /// The default mapping for CloudEvents. It copies the type and the data, and uses the subject as the channel.
    static let cloudEvents: Mapping = {
        let text =
            #"{"channel":"{cloudevent/subject}","type":"{cloudevent/type}","data":{"$":"cloudevent/data","default":null},"#
            + #""meta":{"cloudevent":{"id":"{cloudevent/id}","source":"{cloudevent/source}","#
            + #""time":{"$":"cloudevent/time","default":null}}}}"#
        do throws(ChatError) {
            return try Mapping(JSONText(trusted: Array(text.utf8)))
        } catch {
            preconditionFailure("the gateway's own mapping: \(error.message)")
        }
    }()

    /// Compiles a mapping.
    ///
    /// - Parameter pointer: the JSON Pointer of the mapping in the request body, for the errors.
    /// - Throws: `.malformed` with the pointer of each error. A channel or type that contains no reference is also
    ///   checked against the rules for names.
    public init(_ mapping: JSONText, at pointer: String = "#") throws(ChatError) {
        var compiler = MappingCompiler()
        let node = compiler.mapping(mapping)
        guard let node, compiler.faults.isEmpty else {
            var error = ChatError(
                .malformed, "the mapping is not valid: \(compiler.faults.first?.detail ?? "it is empty")",
                slug: "bad_member")
            error.faults = compiler.faults.map { $0.below(pointer) }
            throw error
        }
        text = mapping
        let roots = compiler.rootsUsed.compactMap(PostRoot.init(rawValue:))
        needsBody = roots.contains { [.body, .form, .cloudevent].contains($0) }
        needsCloudEvents = roots.contains(.cloudevent)
        self.node = node
    }

    /// Renders the mapping for each body of one post. The bodies share the limits of one post.
    ///
    /// - Parameter work: the limits of the templates.
    func render(
        _ bodies: [MappedPost], limits: Limits, _ work: TemplateLimits = TemplateLimits()
    ) -> [Rendering] {
        guard let first = bodies.first else { return [] }
        var renderer = MappingRenderer(first, limits, work)
        return bodies.indices.map { index in
            if index > 0 { renderer.turn(to: bodies[index]) }
            renderer.visit(node)
            return renderer.rendering
        }
    }
}

/// The first segment of a reference, which names a part of the post.
enum PostRoot: String, Sendable, CaseIterable {
    /// The body as JSON; see `PostBody`.
    case body
    /// The fields of an HTML form.
    case form
    /// A CloudEvent of the post in any content mode: its attributes and `data`. A batch contains several CloudEvents.
    case cloudevent
    case header
    case query
    /// The source's id.
    case source

    var root: ReferenceRoot {
        switch self {
        case .body, .cloudevent: ReferenceRoot(rawValue, .document)
        case .form, .header, .query: ReferenceRoot(rawValue, .table)
        case .source: ReferenceRoot(rawValue, .text)
        }
    }
}

/// The parts of a post to which the references of a mapping refer.
struct MappedPost: TemplateContext {
    let source: String
    let message: SignedMessage
    let query: [InboundPost.Field]
    let body: PostBody

    func document(_ root: String) -> JSONText? {
        switch PostRoot(rawValue: root) {
        case .body: body.json
        case .cloudevent: body.cloudEvent?.text
        default: nil
        }
    }

    func text(_ root: String, _ name: String) -> String? {
        switch PostRoot(rawValue: root) {
        case .header: message.header(name)
        case .query: query.first { $0.name == name }?.value
        case .form: body.form?.first { $0.name == name }?.value
        case .source: source
        default: nil
        }
    }
}
