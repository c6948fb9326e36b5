import ChatKit
public import ChatModel
public import JSON

/// How a post becomes events, as its owner wrote it (`product.md` 7).
///
/// An object with `channel`, `type`, `data` and optionally `user`, `meta`, `store`, or a list of such objects: one event
/// each. Texts are templates (`repos.{body/repository/name}`, with a fallback `{query/topic|general}`); in `data` and
/// `meta`, `{"$":"body/commits"}` puts a part of the post in its place byte for byte, `"default"` beside `$` stands in
/// for a missing one, and everything else is taken as it stands. Compiled once.
public struct Mapping: Sendable {
    struct EventTemplate: Sendable {
        let channel: TextTemplate
        let type: TextTemplate
        let user: TextTemplate?
        let data: ValueTemplate
        let meta: ValueTemplate?
        let isStored: Bool
    }

    /// The mapping as it was given.
    public let text: JSONText
    /// Whether anything is taken from the body; otherwise it need not be JSON.
    let needsBody: Bool
    let events: [EventTemplate]

    /// Compiles a mapping.
    ///
    /// - Throws: `.malformed` with a fault for each mistake, pointers into the mapping; constants are checked against the
    ///   rules for names here and now.
    public init(_ mapping: JSONText) throws(ChatError) {
        guard mapping.count <= MappingCompiler.limitBytes else {
            throw ChatError(.malformed, "the mapping is longer than \(MappingCompiler.limitBytes) bytes")
        }
        let root: JSONValue
        do {
            root = try JSONDocument(mapping.bytes).root
        } catch {
            throw ChatError(error)
        }
        var compiler = MappingCompiler()
        var events: [EventTemplate?] = []
        if let elements = root.elements, let texts = mapping.rawElements() {
            if !(1...MappingCompiler.mostEvents).contains(elements.count) {
                compiler.fault("", "maxItems", "a mapping gives 1 to \(MappingCompiler.mostEvents) events")
            } else {
                for (index, element) in elements.enumerated() {
                    events.append(compiler.event(element, texts[index], at: "/\(index)"))
                }
            }
        } else {
            events = [compiler.event(root, mapping, at: "")]
        }
        if let first = compiler.faults.first {
            var error = ChatError(.malformed, "the mapping is not acceptable: \(first.detail)")
            error.faults = compiler.faults
            throw error
        }
        text = mapping
        needsBody = compiler.needsBody
        self.events = events.compactMap { $0 }
    }

    /// What each event of the mapping comes to for this post, in their order.
    func render(_ post: MappedPost, limits: Limits) -> [Result<Emission, ChatError>] {
        events.enumerated().map { index, event in
            let pointer = text.bytes.first == UInt8(ascii: "[") ? "/\(index)" : ""
            do throws(ChatError) {
                return .success(try event.render(post, at: pointer, limits))
            } catch {
                return .failure(error)
            }
        }
    }
}

extension Mapping.EventTemplate {
    fileprivate func render(
        _ post: MappedPost, at pointer: String, _ limits: Limits
    ) throws(ChatError) -> Emission {
        var faults: [ChatError.Fault] = []
        func note(_ references: [Reference], _ member: String) {
            for reference in references {
                faults.append(
                    ChatError.Fault(
                        pointer: "#\(pointer)/\(member)", keyword: "reference",
                        detail: "{\(reference)} has no value in this post"))
            }
        }
        func text(_ template: TextTemplate, _ member: String) -> String {
            do throws(MissingValues) {
                return try template.render(post)
            } catch {
                note(error.references, member)
                return ""
            }
        }
        func value(_ template: ValueTemplate, _ member: String, _ limitBytes: Int) throws(ChatError) -> JSONText {
            do throws(ValueTemplate.Obstacle) {
                return try template.render(post, limitBytes: limitBytes)
            } catch {
                switch error {
                case .missing(let references): note(references, member)
                case .tooLarge(let limit):
                    throw ChatError(.tooLarge, "the mapped \(member) is larger than the \(limit) bytes accepted")
                }
                return .null
            }
        }
        let channel = text(self.channel, "channel")
        let type = text(self.type, "type")
        let user = self.user.map { text($0, "user") }
        let data = try value(self.data, "data", limits.dataBytes)
        var meta: JSONText?
        if let template = self.meta { meta = try value(template, "meta", limits.metaBytes) }
        guard faults.isEmpty else {
            var error = ChatError(
                .invalid, "the mapping cannot be filled in: \(faults[0].detail)", slug: "mapping_failed")
            error.faults = faults
            throw error
        }
        return Emission(
            channel: channel, type: type, data: data,
            // An empty text is the way to say "nobody" for a post without its user: `{body/sender/login|}`.
            user: user?.isEmpty == false ? user : nil, meta: meta, retention: isStored ? .kept : .passing)
    }
}
