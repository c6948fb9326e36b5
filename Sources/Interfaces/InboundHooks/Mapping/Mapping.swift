import ChatCore
public import ChatModel
public import JSON
import Signing
import Templates

/// How a post becomes events, as its owner wrote it (`product.md` 7; the language: `docs/sources.md`).
///
/// An object with `channel`, `type`, `data` and optionally `user`, `meta`, `store`, `when`, `each` with `as`; a list of
/// such objects; or a choice between such, `{"$switch":"header/X-Event","cases":{…},"default":null}`, where `null` gives
/// no event. The members are templates. Compiled once.
public struct Mapping: Sendable {
    /// The mapping as it was given.
    public let text: JSONText
    /// What is taken from the post: what nobody asks for need not be there, or be readable.
    let needs: Set<PostRoot>
    let node: MappingNode

    /// What a body of a post comes to.
    struct Rendering {
        /// In the order of the mapping.
        var events: [Result<Emission, ChatError>] = []
        /// Places where the mapping's own conditions said that there is to be no event.
        var dropped = 0
    }

    /// What becomes of CloudEvents where nothing else was said: their type, their data, their subject as the channel.
    public static let cloudEvents: Mapping = {
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
    /// - Parameter pointer: where the mapping stands in what was sent.
    /// - Throws: `.malformed` with a fault for each mistake, pointers into the mapping; constants are checked against the
    ///   rules for names here and now.
    public init(_ mapping: JSONText, at pointer: String = "#") throws(ChatError) {
        var compiler = MappingCompiler()
        let node = compiler.mapping(mapping)
        guard let node, compiler.faults.isEmpty else {
            var error = ChatError(
                .malformed, "the mapping is not acceptable: \(compiler.faults.first?.detail ?? "it is empty")",
                slug: "bad_member")
            error.faults = compiler.faults.map { fault in
                var fault = fault
                fault.pointer = pointer + fault.pointer.dropFirst()
                return fault
            }
            throw error
        }
        text = mapping
        needs = Set(compiler.rootsUsed.compactMap(PostRoot.init(rawValue:)))
        self.node = node
    }

    /// What each event of the mapping comes to, for each body of one post.
    func render(_ bodies: [MappedPost], limits: Limits) -> [Rendering] {
        guard let first = bodies.first else { return [] }
        var renderer = MappingRenderer(first, limits)
        return bodies.indices.map { index in
            if index > 0 { renderer.turn(to: bodies[index]) }
            renderer.visit(node)
            return renderer.rendering
        }
    }
}

/// The first words of references into a post.
enum PostRoot: String, Sendable, CaseIterable {
    /// The body as JSON; see `PostBody`.
    case body
    /// The fields of a form.
    case form
    /// The CloudEvent that the post is, or one of its batch: attributes and `data`, whatever way it came.
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

/// A verified post as a mapping sees it.
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
