import ChatCore
import ChatModel
import JSON
import Templates

/// Renders a mapping for one post.
struct MappingRenderer {
    /// The maximum number of errors that are reported for one post. The sender receives only the first error.
    private static let mostFailures = 16
    /// The work limit for each further body of the post, in steps of the template renderer. Steps that earlier bodies
    /// did not use can be used in addition.
    private static let stepsPerBody = 1000

    private(set) var rendering = Mapping.Rendering()
    /// The number of events that were rendered from the earlier bodies of the post.
    private var eventsBefore = 0
    private let limits: Limits
    private var run: TemplateRenderer
    /// The bytes that further events may use. Each element of a post may become an event, so the total is limited to
    /// the size of a batch.
    private var bytesLeft: Int
    private var failures = 0

    init(_ post: MappedPost, _ limits: Limits, _ work: TemplateLimits) {
        self.limits = limits
        run = TemplateRenderer(post, limits: work)
        bytesLeft = limits.batchBodyBytes
    }

    /// Continues with the next body of the same post. All bodies share the limits of one post.
    mutating func turn(to body: MappedPost) {
        eventsBefore += rendering.events.count
        rendering = Mapping.Rendering()
        run.turn(to: body, moreSteps: Self.stepsPerBody)
    }

    mutating func visit(_ node: MappingNode) {
        guard failures < Self.mostFailures else { return }
        switch node {
        case .nothing: rendering.dropped += 1
        case .event(let template): visit(template)
        case .list(let nodes): for node in nodes { visit(node) }
        case .choice(let choice, let pointer):
            do throws(TemplateError) {
                visit(try run.branch(of: choice))
            } catch {
                fail(error, at: pointer)
            }
        }
    }

    private mutating func visit(_ template: EventTemplate) {
        do throws(TemplateError) {
            if let condition = template.condition, try !run.holds(condition) {
                rendering.dropped += 1
            } else if let repetition = template.repetition {
                var rounds = self
                let before = rendering.events.count
                try run.forEach(repetition) { run throws(TemplateError) in
                    rounds.run = run
                    rounds.add(template)
                    run = rounds.run
                }
                rounds.run = run
                self = rounds
                if rendering.events.count == before { rendering.dropped += 1 }
            } else {
                add(template)
            }
        } catch {
            fail(error, at: template.pointer)
        }
    }

    private mutating func add(_ template: EventTemplate) {
        guard failures < Self.mostFailures else { return }
        guard eventsBefore + rendering.events.count < limits.batchEvents else {
            return fail(
                ChatError(.tooLarge, "the mapping makes more than \(limits.batchEvents) events from one post"))
        }
        var filling = EventRenderer(run: run, limits: limits, bytesLeft: bytesLeft)
        do throws(ChatError) {
            rendering.events.append(.success(try filling.draft(template)))
        } catch {
            fail(error)
        }
        run = filling.run
        bytesLeft = filling.bytesLeft
    }

    private mutating func fail(_ obstacle: TemplateError, at pointer: String) {
        fail(ChatError(obstacle, in: "mapping"))
    }

    private mutating func fail(_ error: ChatError) {
        failures += 1
        rendering.events.append(.failure(error))
    }
}

/// Renders the members of one event. It collects the missing values of all members before it fails.
private struct EventRenderer {
    var run: TemplateRenderer
    let limits: Limits
    var bytesLeft: Int
    private var gaps: [MissingValue] = []

    init(run: TemplateRenderer, limits: Limits, bytesLeft: Int) {
        self.run = run
        self.limits = limits
        self.bytesLeft = bytesLeft
    }

    mutating func draft(_ template: EventTemplate) throws(ChatError) -> EventDraft {
        let channel = try text(template.channel, "channel", template.pointer)
        let type = try text(template.type, "type", template.pointer)
        let user = try template.user.map { part throws(ChatError) in
            try text(part, "user", template.pointer)
        }
        let data = try value(template.data, "data", limits.dataBytes)
        let meta = try template.meta.map { part throws(ChatError) in
            try value(part, "meta", limits.metaBytes)
        }
        guard gaps.isEmpty else { throw ChatError(.missing(gaps), in: "mapping") }
        return EventDraft.event(
            channel: channel, type: type, data: data,
            // An empty text means that the event has no user, for example `{body/sender/login|}` in a post without a
            // sender.
            user: user?.isEmpty == false ? user : nil, meta: meta, retention: template.isStored ? .kept : .passing)
    }

    private mutating func text(_ template: Template, _ member: String, _ pointer: String) throws(ChatError) -> String {
        try gather(member, otherwise: "") { filling throws(TemplateError) in
            try filling.run.text(
                of: template, at: "\(pointer)/\(member)", limitBytes: filling.limits.metaBytes)
        }
    }

    private mutating func value(_ template: Template, _ member: String, _ limit: Int) throws(ChatError) -> JSONText {
        guard bytesLeft >= 0 else {
            throw ChatError(
                .tooLarge,
                "the events of this post are together larger than \(limits.batchBodyBytes) bytes")
        }
        let value = try gather(member, otherwise: .null) { filling throws(TemplateError) in
            try filling.run.value(of: template, limitBytes: limit)
        }
        bytesLeft -= value.count
        return value
    }

    private mutating func gather<Value>(
        _ member: String, otherwise: Value, _ fill: (inout EventRenderer) throws(TemplateError) -> Value
    ) throws(ChatError) -> Value {
        do throws(TemplateError) {
            return try fill(&self)
        } catch {
            guard case .missing(let more) = error else { throw ChatError(error, in: member) }
            gaps += more
            return otherwise
        }
    }
}

extension ChatError {
    /// Creates the error for a mapping that cannot be rendered.
    ///
    /// - Parameter member: the member that was being rendered.
    fileprivate init(_ obstacle: TemplateError, in member: String) {
        switch obstacle {
        case .missing(let gaps):
            let first = gaps.first.map { "\($0.pointer.dropFirst()): \($0.detail)" } ?? ""
            self.init(.invalid, "the mapping cannot be applied to this post: \(first)", slug: "mapping_failed")
            faults = gaps.map {
                FieldError(pointer: "#" + $0.pointer, keyword: "reference", detail: "\($0.detail) in this post")
            }
        case .tooLarge(let limit):
            self.init(.tooLarge, "the mapping makes an event whose \(member) is larger than \(limit) bytes")
        case .tooMuchWork:
            self.init(
                .tooLarge,
                "applying the mapping to this post takes too much work: the post has too many elements, or its body is too large",
                slug: "mapping_too_costly")
        }
    }
}
